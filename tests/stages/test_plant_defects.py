"""Planted defects: hosts with their cases, by operators that are drawn as often as fixes undid such faults."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.core.building import Candidate, CardSection
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import ARM, Arm, Case, Origin
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.syntax.tree import SyntaxTree, parse
from reviewgauge.stages.add_twins import AddTwins
from reviewgauge.stages.plant_defects import PlantDefects
from reviewgauge.stages.recent_changes import RecentChanges

pytestmark = pytest.mark.processes

BOTH = ("boundary_moved", "condition_negated")
LOOP = "def f_{0}(items, last):\n    if last < len(items):\n        items.pop()\n    return last\n\n\n"


def history(folder: Path, changes: int = 6, fixes: int = 0, ending: str = "\n") -> Told:
    """Changes that add a function to a file each, after fixes of bounds."""
    told = Told(folder)
    told.commit("begin", {"README.md": "shop\n"})
    for number in range(fixes):
        path, text = f"old/m{number}.py", LOOP.format(number).replace("\n", ending)
        told.commit(f"Add m{number}", {path: text.replace("<", "<=")})
        told.commit(f"Fix wrong end of m{number}", {path: text})
    for number in range(changes):
        path, text = f"shop/m{number}.py", LOOP.format(number).replace("\n", ending)
        told.commit(f"Add f {number}", {path: text, f"tests/test_m{number}.py": text})
    return told


def planted(
    told: Told, out: Path, newest: int = 6, **options: object
) -> tuple[list[Candidate], list[Candidate], CardSection]:
    """(hosts, cases, the section of the card)."""
    context = BuildFolder(out, (str(told.folder),))
    hosts = [item for item in RecentChanges(newest=newest).apply((), context) if isinstance(item, Candidate)]
    made = list(PlantDefects(**options).apply(hosts, context))  # type: ignore[arg-type]
    context.close()
    (section,) = [one for one in context.sections if one.by == "plant_defects"]
    kept = [item for item in made if isinstance(item, Candidate)]
    assert [item for item in kept if ARM not in item.case.facts] == sorted(hosts, key=kept.index)
    return hosts, [item for item in kept if ARM in item.case.facts], section


def code(case: Case, path: str, commit: str | None = None) -> bytes:
    found = Repository(Path(case.change.git or "")).blob(commit or case.change.head or "", path)
    assert found is not None
    return found


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_each_change_takes_one_defect_on_a_line_that_it_adds(tmp_path: Path, ending: str) -> None:
    told = history(tmp_path / "shop", ending=ending)
    hosts, cases, section = planted(told, tmp_path / "bench", safe=1, operators=BOTH)
    by_head = {host.id: host.case for host in hosts}
    defects = [item.case for item in cases if item.case.facts[ARM] == Arm.DEFECT]
    assert len(defects) == len(hosts) == section.figures["planted"] == 6
    assert len({item.id for item in (*hosts, *cases)}) == len(hosts) + len(cases)
    for case in defects:
        host = by_head[str(case.facts["host"])]
        (said,) = case.references
        assert case.verdict is False and said.origin is Origin.INJECTED and said.span is not None
        assert said.extra["made"] == "planted" and said.extra["operator"] in BOTH
        path = said.span.path
        sound, faulty = code(host, path), code(case, path)
        assert path.startswith("shop/") and isinstance(parse(faulty, path), SyntaxTree)
        lines = list(zip(sound.split(b"\n"), faulty.split(b"\n"), strict=True))
        assert [at for at, (old, new) in enumerate(lines, 1) if old != new] == [said.span.start]
        assert faulty.count(b"\r\n") == sound.count(b"\r\n")
        assert [file for file in case.change.files if file.path != path] == [
            file for file in host.change.files if file.path != path
        ]
    for case in (item.case for item in cases if item.case.facts[ARM] == Arm.SAFE):
        assert not case.references and case.rejected and case.verdict is None


def test_operators_are_drawn_as_often_as_fixes_undid_such_faults(tmp_path: Path) -> None:
    told = history(tmp_path / "shop", fixes=4)
    for even, drawn in ((False, {"boundary_moved": 5, "condition_negated": 1}), (True, dict.fromkeys(BOTH, 3))):
        _, cases, section = planted(told, tmp_path / f"bench-{even}", even=even, safe=0, operators=BOTH)
        rows = Counter({(row[0], row[1]): row[2] for row in section.rows})
        assert rows["undone by a fix", "boundary_moved"] == (0 if even else 4)
        assert Counter(item.case.references[0].extra["operator"] for item in cases) == drawn


def test_a_change_with_a_defect_takes_none_unless_beside(tmp_path: Path) -> None:
    told = history(tmp_path / "shop", 2)
    context = BuildFolder(tmp_path / "bench", (str(told.folder),))
    hosts = [item for item in RecentChanges().apply((), context) if isinstance(item, Candidate)]
    once = list(PlantDefects(safe=0, operators=BOTH).apply(hosts, context))
    assert len(once) == 4
    again = PlantDefects(safe=0, operators=BOTH, seed=1)
    assert len(list(again.apply([item for item in once if isinstance(item, Candidate)], context))) == 4
    beside = PlantDefects(safe=0, operators=BOTH, seed=1, beside=True)
    assert len(list(beside.apply([item for item in once if isinstance(item, Candidate)], context))) == 6
    context.close()


def test_files_that_take_nothing_are_counted(tmp_path: Path) -> None:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    told.commit("Add broken", {"a.py": "def f(:\n    x = 1\n"})
    told.commit("Add latin", {"b.py": LOOP.format(1).replace("last", "dernière").encode("latin-1")})
    told.commit("Add Kotlin", {"c.kt": "fun f() = 1\n"})
    _, cases, section = planted(told, tmp_path / "bench")
    assert not cases and section.figures["planted"] == 0
    reasons = {row[1] for row in section.rows if row[0] == "left out"}
    assert {"it does not parse", "it is not UTF-8"} < reasons and any("grammar" in str(one) for one in reasons)


def test_a_host_without_its_code_is_dropped(tmp_path: Path) -> None:
    told = history(tmp_path / "shop", 1)
    context = BuildFolder(tmp_path / "bench", (str(told.folder),))
    (host,) = (item for item in RecentChanges().apply((), context) if isinstance(item, Candidate))
    made = list(PlantDefects().apply([host.with_change(git=None)], context))
    context.close()
    assert [item.reason for item in made if isinstance(item, Drop)] == ["its code cannot be read"]


def test_a_bug_of_an_operator_costs_its_hosts_and_not_the_build(tmp_path: Path) -> None:
    told = history(tmp_path / "shop")
    context = BuildFolder(tmp_path / "bench", (str(told.folder),))
    hosts = [item for item in RecentChanges(newest=2).apply((), context) if isinstance(item, Candidate)]
    made = list(PlantDefects(operators=("operator_toys.Broken", "boundary_moved"), even=True).apply(hosts, context))
    context.close()
    drops = [(item.reason, item.detail.partition(":")[0]) for item in made if isinstance(item, Drop)]
    assert drops == [("an operator breaks on its code", "IndexError")] * 2


def test_the_same_seed_gives_the_same_and_another_one_other_ids(tmp_path: Path) -> None:
    told = history(tmp_path / "shop", 3)
    lines = {}
    for run, seed in (("first", 0), ("second", 0), ("other", 1)):
        context = BuildFolder(tmp_path / run, (str(told.folder),))
        hosts = [item for item in RecentChanges().apply((), context) if isinstance(item, Candidate)]
        planted = [one for one in PlantDefects(seed=seed, safe=1).apply(hosts, context) if isinstance(one, Candidate)]
        made = [one for one in AddTwins(seed=seed).apply(planted, context) if isinstance(one, Candidate)]
        context.close()
        lines[run] = [item.with_change(git=None).to_line() for item in made]
        assert len({item.id for item in made}) == len(made) >= 6
    assert lines["first"] == lines["second"]
    assert not {line[:60] for line in lines["first"]} & {line[:60] for line in lines["other"]}


@pytest.mark.parametrize("words", ["per_change=0", "safe=2", "operators=('no_such',)"])
def test_wrong_parameters_are_named(words: str) -> None:
    with pytest.raises(Exception, match="no_such" if "no_such" in words else words.split("=", maxsplit=1)[0]):
        load(Stage, f"plant_defects({words})")
