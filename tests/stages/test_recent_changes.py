"""Hosts of defects: the newest changes of a branch, as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.core.building import Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.recent_changes import RecentChanges

pytestmark = pytest.mark.processes


def recent(out: Path, *sources: Told, **options: object) -> tuple[list[Candidate], list[Drop]]:
    context = BuildFolder(out, [str(told.folder) for told in sources])
    found = list(RecentChanges(**options).apply((), context))  # type: ignore[arg-type]
    context.close()
    return [one for one in found if isinstance(one, Candidate)], [one for one in found if isinstance(one, Drop)]


@pytest.fixture
def shop(tmp_path: Path) -> Told:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    told.commit("Add a\n\nIt adds.", {"a.py": "a = 1\n"})
    told.commit("Say more", {"README.md": "the shop\n"})
    told.branch("wide")
    told.commit("Add b", {"b.py": "b = 1\n"})
    told.commit("Add c", {"c.py": "c = 1\n"})
    told.merge("wide", message="Merge branch 'wide'")
    told.commit("", {"d.py": "d = 1\n"})
    told.commit("Add e", {"e.py": "e = 1\n" * 20})
    return told


def test_the_newest_changes_come_from_old_to_new_and_their_verdict_is_open(shop: Told, tmp_path: Path) -> None:
    found, dropped = recent(tmp_path / "bench", shop)
    assert [item.case.change.title for item in found] == ["Add a", "Add b", "Add e"]
    assert found[0].case.change.description == "It adds."
    assert [file.path for file in found[1].case.change.files] == ["b.py", "c.py"]
    assert found[0].case.facts["created"] == "2020-01-03" and found[1].case.facts["commits"] == 2
    assert all(item.case.verdict is None and not item.case.references for item in found)
    assert [one.reason for one in dropped] == ["adds no line of the product's code", "has no title"]


@pytest.mark.parametrize(("options", "titles"), [
    ({"newest": 1}, ["Add e"]),
    ({"newest": 2}, ["Add e"]),  # one has no title
    ({"max_lines": 10}, ["Add a", "Add b"]),
    ({"max_files": 1}, ["Add a", "Add e"]),
    ({"until": "2020-01-03"}, ["Add a"]),
    ({"branch": "wide"}, ["Add a", "Add b", "Add c"]),
])  # fmt: skip
def test_what_is_left_out(shop: Told, tmp_path: Path, options: dict[str, object], titles: list[str]) -> None:
    found, _ = recent(tmp_path / "bench", shop, **options)
    assert [item.case.change.title for item in found] == titles


def test_several_repositories_are_called_by_their_folders(shop: Told, tmp_path: Path) -> None:
    other = Told(tmp_path / "other")
    other.commit("begin", {"README.md": "other\n"})
    other.commit("Add z", {"z.py": "z = 1\n"})
    found, _ = recent(tmp_path / "bench", shop, other)
    assert {item.case.change.repo for item in found} == {"shop", "other"}
    assert {item.case.change.repo for item in recent(tmp_path / "named", shop, name="acme/shop")[0]} == {"acme/shop"}
    with pytest.raises(UserError, match="name is for one repository"):
        recent(tmp_path / "bench", shop, other, name="acme/shop")


def test_wrong_parameters_are_named(shop: Told, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="newest"):
        RecentChanges(newest=-1)
    with pytest.raises(UserError, match="no branch, tag or commit 'gone'"):
        recent(tmp_path / "bench", shop, branch="gone")
