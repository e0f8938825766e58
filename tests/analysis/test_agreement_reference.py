"""Every agreement coefficient equals a reference implementation on random tables with missing labels."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.reference
TABLES = 150  # benchmarks/agreement_reference.py compares 1,000
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    if str(BENCHMARKS) not in sys.path:
        sys.path.insert(0, str(BENCHMARKS))
    return importlib.import_module("agreement_reference")


@pytest.mark.drill
def test_every_coefficient_equals_a_reference_on_many_tables(reference: ModuleType) -> None:
    if not reference.PYTHON.exists():
        pytest.skip("the reference packages are not at hand: make .venv-reference/ready")
    found = reference.run(TABLES, 0, reference.PYTHON)
    assert {name for name in found if found[name].faults} == set()
    assert len(found) == 15
    for name, outcome in found.items():
        share = 0.2 if name == "Fleiss' kappa (statsmodels)" else 0.7  # statsmodels takes complete tables only
        assert outcome.compared >= share * TABLES, name
        assert outcome.largest < 1e-9


def test_a_difference_is_found(reference: ModuleType) -> None:
    tables = [reference.random_table(at) for at in range(3)]
    right = [reference.ours(table) for table in tables]
    assert not any(outcome.faults for outcome in reference.compare(tables, right).values())
    name = "Krippendorff's alpha (ordinal)"
    for wrong in (right[0][name] + 1e-6, None):
        (fault,) = reference.compare(tables, [{**right[0], name: wrong}, *right[1:]])[name].faults
        assert fault.startswith("table 0: ")
