"""Twins of changes with defects: one each, in an order that tells nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.core.building import Candidate
from reviewgauge.core.records import ARM, PAIR, Arm
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.add_twins import AddTwins
from reviewgauge.stages.plant_defects import PlantDefects
from reviewgauge.stages.recent_changes import RecentChanges

pytestmark = pytest.mark.processes

LOOP = "def f(items, last):\n    if last < len(items):\n        items.pop()\n    return last\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Told:
    told = Told(tmp_path_factory.mktemp("shops") / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    for number in range(8):
        told.commit(f"Add {number}", {f"m{number}.py": LOOP})
    told.commit("Add a name", {"name.py": "NAME = 'shop'\n"})
    return told


def twins(told: Told, out: Path, seed: int = 0, most: int = 0) -> tuple[list[Candidate], list[Drop], BuildFolder]:
    context = BuildFolder(out, (str(told.folder),))
    hosts = [one for one in RecentChanges().apply((), context) if isinstance(one, Candidate)]
    operators = ("boundary_moved", "condition_negated")
    stage = PlantDefects(operators=operators, seed=seed, per_change=2, safe=1)
    planted = [one for one in stage.apply(hosts, context) if isinstance(one, Candidate)]
    made = list(AddTwins(seed=seed, most=most).apply(planted, context))
    context.close()
    return [o for o in made if isinstance(o, Candidate)], [o for o in made if isinstance(o, Drop)], context


def test_each_change_with_defects_has_one_twin_and_others_leave(shop: Told, tmp_path: Path) -> None:
    made, dropped, context = twins(shop, tmp_path / "bench")
    arms = [item.case.facts[ARM] for item in made]
    assert (arms.count(Arm.DEFECT), arms.count(Arm.TWIN)) == (16, 8)
    assert len({item.id for item in made}) == len(made)
    assert [one.reason for one in dropped] == ["no defect was put into it"]
    for item in made:
        assert not {"host", "head"} & set(item.case.facts)
        if item.case.facts[ARM] == Arm.TWIN:
            pair = [one.case for one in made if one.case.facts[PAIR] == item.case.facts[PAIR]]
            said = {one.id for case in pair for one in case.references}
            assert {one.id for one in item.case.rejected} == said and len(said) == 2
    (section,) = [one for one in context.sections if one.title == "Pairs"]
    assert section.figures == {"changes with a defect": 16, "twins": 8, "safe twins": arms.count(Arm.SAFE)}


def test_the_order_tells_nothing_and_depends_on_the_seed(shop: Told, tmp_path: Path) -> None:
    orders = [[item.case.facts[ARM] for item in twins(shop, tmp_path / f"{seed}", seed)[0]] for seed in range(3)]
    assert len({tuple(order) for order in orders}) == 3
    firsts = {order[0] for order in orders} | {order[-1] for order in orders}
    assert len(firsts) > 1
    again = [item.case.facts[ARM] for item in twins(shop, tmp_path / "again", 0)[0]]
    assert again == orders[0]


def test_of_many_pairs_some_are_drawn(shop: Told, tmp_path: Path) -> None:
    made, dropped, _ = twins(shop, tmp_path / "bench", most=3)
    assert len({item.case.facts[PAIR] for item in made}) == 3
    assert [one.reason for one in dropped].count("not drawn") == 5


def test_a_history_that_takes_no_defect_says_so(tmp_path: Path) -> None:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    told.commit("Add a name", {"name.py": "NAME = 'shop'\n"})
    made, dropped, context = twins(told, tmp_path / "bench")
    assert not made and [one.reason for one in dropped] == ["no defect was put into it"]
    (section,) = [one for one in context.sections if one.title == "Pairs"]
    assert any("empty" in warning for warning in section.warnings)
