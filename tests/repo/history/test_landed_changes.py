"""Changes as they landed: branches, squashes, commits, and what of their text a reviewer may read."""

from __future__ import annotations

from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.core.results import Drop
from reviewgauge.repo.history.commits import read_history
from reviewgauge.repo.history.landed_changes import (
    LandedChange,
    MergeKind,
    later_commits,
    own_text,
    read_changes,
    without_foreign_ids,
    without_ids,
)


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path / "shop")


def landed(told: Told, tip: str = "HEAD") -> tuple[list[LandedChange], dict[str, str]]:
    """(the changes, reason by commit of what brought none)."""
    items = list(read_changes(told.repository, tip))
    return [i for i in items if isinstance(i, LandedChange)], {i.item: i.reason for i in items if isinstance(i, Drop)}


def test_a_branch_is_compared_with_where_it_left_and_speaks_with_its_own_words(told: Told) -> None:
    told.commit("begin", {"a.py": "a\n"})
    start = told.git("rev-parse", "HEAD")
    told.branch("patch-1")
    one = told.commit("Add b (part one)\n\nThe reason why.\n\nReviewed-by: Bob <bob@example.invalid>", {"b.py": "b\n"})
    two = told.commit("Say more in b", {"b.py": "b\nc\n"})
    told.git("checkout", "-q", "main")
    told.commit("meanwhile", {"a.py": "x\n"})
    merge = told.merge("patch-1", message="Merge pull request #7 from me/patch-1\n\nAdd b, which broke a later")
    changes, _ = landed(told)
    change = next(c for c in changes if c.commit.id == merge)
    assert (change.landing, change.base, change.head, change.commits) == (MergeKind.MERGE, start, two, (one, two))
    assert change.title == "Add b (part one)"
    assert change.description == "- Add b (part one)\n\n  The reason why.\n- Say more in b"
    assert "broke a later" in change.commit.message, "the merge's own words are kept apart"
    files = told.repository.changed_files(change.base, change.head)
    assert [file.path for file in files] == ["b.py"], "what happened meanwhile is not part of it"
    assert [c.title for c in changes] == ["meanwhile", "Add b (part one)"]


def test_the_main_line_merged_into_a_branch_is_no_part_of_it(told: Told) -> None:
    told.commit("begin", {"a.py": "a\n"})
    told.branch("work")
    told.commit("Work", {"w.py": "w\n"})
    told.git("checkout", "-q", "main")
    newer = told.commit("meanwhile", {"a.py": "b\n"})
    told.merge("main", message="Merge branch 'main' into work", into="work")
    head = told.commit("More work", {"w.py": "w\nv\n"})
    told.merge("work", message="Merge pull request #3 from me/work\n\nWork")
    changes, _ = landed(told)
    change = changes[-1]
    assert change.base == newer and change.head == head
    assert [file.path for file in told.repository.changed_files(change.base, change.head)] == ["w.py"]
    assert change.description == "- Work\n- More work"


def test_a_line_of_development_is_read_change_by_change(told: Told) -> None:
    told.commit("begin", {"a.py": "a\n"})
    told.branch("develop")
    told.commit("One", {"b.py": "b\n"})
    told.branch("topic")
    told.commit("Two", {"c.py": "c\n"})
    inner = told.merge("topic", message="Merge branch 'topic' into develop", into="develop")
    outer = told.merge("develop", message="Merge branch 'develop'")
    changes, drops = landed(told)
    assert [(c.title, c.commit.id) for c in changes] == [("One", changes[0].head), ("Two", inner)]
    assert drops[outer].startswith("merge of two lines")


def test_what_came_in_another_way_is_not_read_again(told: Told) -> None:
    told.commit("begin", {"a.py": "a\n"})
    told.branch("develop")
    told.commit("Early one", {"b.py": "b\n"})
    told.branch("topic")
    told.commit("Topic", {"t.py": "t\n"})
    told.git("checkout", "-q", "main")
    told.merge("topic", message="Merge pull request #1 from me/topic")
    told.commit("Hotfix", {"h.py": "h\n"})
    told.git("checkout", "-q", "develop")
    told.commit("Late", {"d.py": "d\n"})
    told.merge("develop", message="Merge branch 'develop'")
    first, drops = landed(told)
    assert [change.title for change in first] == ["Early one", "Hotfix", "Late"]
    told.git("commit-graph", "write", "--reachable", "--changed-paths")
    assert landed(told) == (first, drops)


def test_a_commit_graph_changes_nothing(told: Told) -> None:
    """Git 2.39 has it that with one the walk from `tip` by first parents comes by what `before` reaches."""
    told.commit("begin", {"a.py": "a\n"})
    tree = told.git("rev-parse", "HEAD^{tree}")
    ids: dict[str, str] = {}
    shape = (
        "base: early:base r1:early r2:r1 before:base,r2 x:early,r2,before y:early,r2,before,x z:early,r2,before,x"
        " tip:y,z"
    )
    for day, (name, _, parents) in enumerate(word.partition(":") for word in shape.split()):
        told.day = {"y": 30, "z": 20, "tip": 40}.get(name, day)
        ids[name] = told.git("commit-tree", tree, "-m", name, *(f"-p{ids[one]}" for one in parents.split(",") if one))
    told.git("update-ref", "refs/heads/main", ids["tip"])

    for _ in range(2):
        commits = read_history(told.repository, (ids["tip"],), without=(ids["before"],), first_parent=True)
        assert [commit.subject for commit in commits] == ["tip", "y"]
        told.git("commit-graph", "write", "--reachable")


def test_what_others_pushed_meanwhile_is_not_one_big_change(told: Told) -> None:
    told.commit("begin", {"a.py": "a\n"})
    told.branch("theirs")
    told.commit("Theirs one", {"b.py": "b\n"})
    told.commit("Theirs two", {"c.py": "c\n"})
    told.git("checkout", "-q", "main")
    told.commit("Mine", {"d.py": "d\n"})
    told.merge("theirs", message="Merge branch 'main' of https://host.invalid/acme/shop")
    assert sorted(c.title for c in landed(told)[0]) == ["Mine", "Theirs one", "Theirs two"]


def test_squashes_lose_their_number_and_marks_of_approval(told: Told) -> None:
    told.commit("begin", {"a.py": "a\n"})
    squash = told.commit("[MRG+1] Read it once (#12)\n\n* Read it once\n\n* Say why\n", {"a.py": "b\n"})
    (change,), drops = landed(told)
    assert (change.landing, change.commit.id, change.head) == (MergeKind.SQUASH, squash, squash)
    assert change.title == "Read it once" and change.description == "* Read it once\n\n* Say why"
    assert list(drops.values()) == ["first commit: nothing to compare it with"]


def test_odd_merges_are_counted(told: Told) -> None:
    told.commit("begin", {"a.py": "a\n"})
    for name in ("x", "y"):
        told.git("checkout", "-q", "main")
        told.branch(name)
        told.commit(name, {f"{name}.py": "1\n"})
    octopus = told.merge("x", "y", message="Merge branches 'x' and 'y'")
    told.git("checkout", "-q", "--orphan", "other")
    told.commit("another beginning", {"z.py": "z\n"})
    told.git("checkout", "-q", "main")
    told.git("merge", "-q", "--no-ff", "--allow-unrelated-histories", "-m", "Merge branch 'other'", "other")
    stranger = told.git("rev-parse", "HEAD")
    _, drops = landed(told)
    assert drops[octopus] == "merge of several branches at once"
    assert drops[stranger] == "merge of a history that has nothing in common"


def test_ids_that_lead_elsewhere_are_not_shown(told: Told) -> None:
    old = told.commit("begin", {"a.py": "a\n"})
    told.branch("release")
    told.git("checkout", "-q", "main")
    fix = told.commit("Fix a", {"a.py": "b\n"})
    told.git("checkout", "-q", "release")
    picked = told.commit(
        f"Fix a\n\nAs {fix[:10]}, after {old[:8]}.\n(cherry picked from commit {fix})", {"a.py": "b\n"}
    )
    (change,), _ = landed(told, "release")
    assert change.head == picked
    assert change.description == f"As (a commit), after {old[:8]}."
    assert without_foreign_ids(told.repository, "deadbeef01 and 20240101", picked) == "deadbeef01 and 20240101"
    assert without_ids(f"broken by {fix[:9]} in 20240101") == "broken by (a commit) in 20240101"


def test_commits_of_bots_leave_the_texts(told: Told) -> None:
    told.commit("begin", {"a.py": "a\n"})
    told.branch("work")
    told.commit("Update CHANGELOG.md", {"CHANGELOG.md": "w\n"})
    told.commit("Work", {"w.py": "w\n"})
    told.commit("[pre-commit.ci] auto fixes from pre-commit.com hooks", {"w.py": "w \n"})
    told.commit("Auto fixes", {"w.py": "w\n"})
    told.commit("Fix the lint of names", {"w.py": "v\n"})
    told.merge("work", message="Merge pull request #3 from me/work\n\nWork")
    change = landed(told)[0][-1]
    assert (change.title, change.description) == ("Work", "- Work\n- Fix the lint of names")
    squashed = (
        "* Add a pool\n\n* Update CHANGELOG.md\n\n* auto fixes\n\n* Apply suggestions from code review\n\n* Drain it"
    )
    assert own_text(squashed) == "* Add a pool\n\n* Drain it"
    assert own_text("Updates the changelog of a pool") == "Updates the changelog of a pool"


def test_own_text_leaves_out_trailers_and_addresses() -> None:
    body = (
        "Why it is so, asked bob@example.invalid.\r\n\n\n\nCo-authored-by: Bob <bob@example.invalid>\n"
        "Signed-off-by: Ada\ngit-svn-id: https://host.invalid@12\n---\nChange-Id: I123\nTwice: once"
    )
    assert own_text(body) == "Why it is so, asked .\n\nTwice: once"


def test_a_text_that_writes_on_terminals_and_a_title_without_end(told: Told) -> None:
    told.commit("begin", {"a.py": "a\n"})
    told.commit("\x1b]0;pwned\x07\x1b[31mRed\x7f\tone\n\nA \x1b[2Jword.\r\nTwo\x08", {"b.py": "b\n"})
    told.commit("x" * 5000 + "\n\nwhy", {"c.py": "c\n"})
    changes, _ = landed(told)
    assert (changes[0].title, changes[0].description) == ("]0;pwned[31mRed\tone", "A [2Jword.\nTwo")
    assert changes[1].title == "x" * 999 + "…" and changes[1].description == "why"


# --- what came later -------------------------------------------------------------------------------------------------

SHIP = "def ship(parcel):\n    weight = parcel.weight\n    return heavy(weight)\n"
END = "\n\n\n\ndef other():\n    return None\n"


def test_what_rewrites_or_works_beside_the_lines_until_the_horizon(tmp_path: Path) -> None:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"shop/ship.py": END})
    head = told.commit("Add shipping", {"shop/ship.py": SHIP + END})
    files = told.repository.changed_files(f"{head}^", head)
    checked = SHIP.replace("    weight", "    check(parcel)\n    weight")
    told.commit("Other work", {"shop/ship.py": SHIP + END.replace("None", "1")})
    told.commit("Check parcels (#7)", {"shop/ship.py": checked + END})
    told.commit("[PR #7/3f backport][3.1] Check parcels (#8)", {"shop/ship.py": SHIP + END})
    told.commit("Weigh anew", {"shop/ship.py": SHIP.replace("parcel.weight", "weigh(parcel)") + END})
    told.commit("Too late", {"shop/ship.py": SHIP + END}, days=100)
    found = later_commits(told.repository, head, files, 50)
    assert [(one.title, one.why) for one in found.commits] == [
        ("Check parcels (#7)", "beside them"),
        ("Weigh anew", ""),
    ]
    assert found.until > found.commits[-1].day and len(found.commits[0].id) >= 7
    assert not later_commits(told.repository, head, (), 50).commits


def test_what_names_the_change(tmp_path: Path) -> None:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"shop/a.py": "def weigh():\n    return 1\n", "shop/b.py": "X = weigh()\n"})
    told.branch("old")
    told.commit("Before it, about #30", {"shop/c.py": "Y = 1\n"})
    told.git("checkout", "-q", "main")
    told.branch("rename")
    head = told.commit("Rename", {"shop/a.py": "def heavy():\n    return 1\n"})
    told.merge("rename", message="Merge pull request #30 from ada/rename\n\nRename")
    told.commit("Other", {"shop/d.py": "Z = 1\n"})
    told.commit("Of course #300 is another one", {"shop/d.py": "Z = 2\n"})
    told.commit(f"Follow-up of {head[:9]}", {"shop/d.py": "Z = 3\n"})
    told.commit("Repair #30", {"shop/d.py": "Z = 4\n"})
    found = later_commits(told.repository, head, told.repository.changed_files(f"{head}^", head), 50)
    assert [(one.title, one.why) for one in found.commits] == [
        (f"Follow-up of {head[:9]}", "names it"),
        ("Repair #30", "names it"),
    ]
