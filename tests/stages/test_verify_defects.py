"""Injected defects that tests show: real histories, real runs of pytest."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.api.build import build
from reviewgauge.core.building import Candidate
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.records import ARM, Arm, Case, Tier
from reviewgauge.core.reports.build_card import BuildCard
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.add_twins import AddTwins
from reviewgauge.stages.plant_defects import PlantDefects
from reviewgauge.stages.recent_changes import RecentChanges
from reviewgauge.stages.verify_defects import VerifyDefects

pytestmark = pytest.mark.processes

PYTEST = f"env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider"
SHIP = "def {0}(weight):\n    if weight {1} 10:\n        return 5\n    return 2\n\n\n"
MORE = "def cost_{0}(weight):\n    base = 3\n    rate = 2\n    return base + rate * weight\n\n\n"
TEST = "from shop import {0}\n\n\ndef test_it():\n    assert {0}.{0}({1}) == 5\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """A fault that can be put back, with its test; three conditions to turn: tested, tested elsewhere, not tested."""
    told = Told(tmp_path_factory.mktemp("shops") / "shop")
    told.commit("begin", {"README.md": "shop\n", "shop/__init__.py": ""})
    told.commit("Add ship", {"shop/ship.py": SHIP.format("ship", ">")})
    fixed = {"shop/ship.py": SHIP.format("ship", ">="), "tests/test_ship.py": TEST.format("ship", 10)}
    told.commit("Fix wrong price of ten kilos", fixed)
    told.commit("Add cost", {"shop/ship.py": MORE.format(1) + SHIP.format("ship", ">=")})
    told.commit("Add rail", {"shop/rail.py": SHIP.format("rail", ">="), "tests/test_rail.py": TEST.format("rail", 50)})
    told.commit("Add road", {"shop/road.py": SHIP.format("road", ">="), "tests/test_road.py": "def test_road(): ...\n"})
    told.commit("Add boat", {"shop/boat.py": SHIP.format("boat", ">=")})
    return told


def built(shop: Told, out: Path, test: str, *settings: tuple[str, str]) -> tuple[BuildCard, dict[str, Case]]:
    """The card, and the cases with a defect by their titles."""
    given = {"newest": "4", "operators": "('condition_negated',)", "safe": "0", **dict(settings)}
    card = build(shop.folder, out=out, recipe="injected", test=test, settings=given).card
    assert card is not None
    lines = (out / "cases.jsonl").read_bytes().splitlines()
    cases = [parse_record(Case, line, "cases.jsonl", number) for number, line in enumerate(lines, 1)]
    assert all(not one.references for one in cases if one.facts[ARM] != Arm.DEFECT)
    return card, {case.change.title: case for case in cases if case.facts[ARM] == Arm.DEFECT}


def outcomes(card: BuildCard) -> dict[str, object]:
    (section,) = [one for one in card.sections if one.by == "verify_defects"]
    return {str(row[0]): row[1] for row in section.rows}


@pytest.mark.drill
def test_defects_that_a_test_shows_are_verified(shop: Told, tmp_path: Path) -> None:
    card, cases = built(shop, tmp_path / "bench", f"{PYTEST} {{files}}")
    tiers = {title: case.references[0].tier for title, case in cases.items()}
    assert tiers == {"Add cost": Tier.VERIFIED, "Add rail": Tier.VERIFIED, "Add road": None, "Add boat": None}
    assert outcomes(card) == {
        "verified": 2,
        "the tests pass with the defect, too": 1,
        "no test file names the changed file": 1,
    }
    said = cases["Add cost"].references[0]
    assert said.extra["made"] == "reintroduced"
    assert str(said.extra["tests"]).startswith("pass without the defect and fail with it: tests/test_ship.py::test_it")
    ledger = [json.loads(line) for line in (tmp_path / "bench" / "tests.jsonl").read_text().splitlines()]
    assert [sorted(entry["runs"]) for entry in ledger if entry["outcome"] == "verified"] == [
        ["with the defect", "without the defect"]
    ] * 2
    again, _ = built(shop, tmp_path / "bench", f"{PYTEST} {{files}}")  # out of the memory
    assert outcomes(again) == outcomes(card)


@pytest.mark.drill
def test_a_command_without_files_runs_all_tests(shop: Told, tmp_path: Path) -> None:
    card, _ = built(shop, tmp_path / "bench", PYTEST)
    assert outcomes(card) == {"verified": 2, "the tests pass with the defect, too": 2}


@pytest.mark.parametrize(("script", "seconds", "outcome"), [
    ("import time\ntime.sleep(60)\n", 0.5, "could not be tested without the defect: the command took longer than"),
    ("import sys\nsys.exit(3)\n", 60, "could not be tested without the defect: the command ended with exit code 3"),
    ("import sys\nsys.exit(1)\n", 60, "the tests fail without the defect, too"),
    ("open('shop/rail.py', 'w').close()\n", 60, "the tests pass with the defect, too"),
])  # fmt: skip
def test_a_command_that_tells_nothing_leaves_the_tier_open(
    shop: Told, tmp_path: Path, script: str, seconds: float, outcome: str
) -> None:
    (tmp_path / "run.py").write_text(script)
    context = BuildFolder(tmp_path / "bench", (str(shop.folder),))
    hosts = [one for one in RecentChanges(newest=3).apply((), context) if isinstance(one, Candidate)]
    planted = [one for one in PlantDefects(safe=0).apply(hosts[:1], context) if isinstance(one, Candidate)]
    twins = [one for one in AddTwins().apply(planted, context) if isinstance(one, Candidate)]
    stage = VerifyDefects(test=f"{sys.executable} {tmp_path / 'run.py'}", seconds=seconds)
    made = [one for one in stage.apply(twins, context) if isinstance(one, Candidate)]
    context.close()
    assert [item.id for item in made] == [item.id for item in twins]
    (said,) = [reference for item in made for reference in item.case.references]
    assert said.tier is None and str(said.extra["tests"]).startswith(outcome)
    assert "weight" in (shop.folder / "shop" / "rail.py").read_text()
