"""The server is killed while raters hand in: what it promises, and the drill with a promise broken."""

from __future__ import annotations

import pytest

from raters_drill import check, drill
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.tables import judgements


@pytest.mark.processes
@pytest.mark.drill
def test_no_judgement_is_lost_doubled_or_seen(where: str) -> None:
    found, stored = drill(where, raters=5, changes=14, lines=50, seconds=300, kills=2, think=0.02)
    assert found.broken == []
    assert found.counts["kills"] == 2
    assert len(stored) == len(found.answered) >= 3 * 14
    with Database.open(where) as database, database.writing() as connection:
        connection.execute(judgements.delete().where(judgements.c.id == stored[0].id))
    check(where, found)
    assert "is not stored" in found.broken[0]
