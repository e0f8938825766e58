"""The server is killed while raters hand in: benchmarks/raters.py on a smaller scale, and with a promise broken."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.tables import judgements

DRILL = Path(__file__).parents[2] / "benchmarks" / "raters.py"


@pytest.fixture(scope="module")
def raters() -> ModuleType:
    spec = importlib.util.spec_from_file_location("raters_drill", DRILL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.processes
@pytest.mark.slow
def test_no_judgement_is_lost_doubled_or_seen(raters: ModuleType, where: str) -> None:
    found, stored = raters.drill(where, raters=6, changes=20, lines=50, seconds=300, kills=2, think=0.02)
    assert found.broken == []
    assert found.counts["kills"] == 2
    assert len(stored) == len(found.answered) >= 3 * 20
    with Database.open(where) as database, database.writing() as connection:
        connection.execute(judgements.delete().where(judgements.c.id == stored[0].id))
    raters.check(where, found)
    assert "is not stored" in found.broken[0]
