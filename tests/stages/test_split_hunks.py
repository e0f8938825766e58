"""One case for each commented hunk, and for the first task for those that nobody commented on."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from git_project import make_change
from pull_toys import BOT, pull, reference, remark, thread
from reviewbench.core.building import Candidate, Decision
from reviewbench.core.history import PullRequest, Thread
from reviewbench.core.records import Case, Change, ChangedFile, Comment, Side, Span, Task
from reviewbench.core.results import Drop
from reviewbench.engine.stages import _NoPlace
from reviewbench.repo.diffs import parse_patch
from reviewbench.stages.split_hunks import SplitHunks

HUNKS = (
    "@@ -1,2 +1,3 @@\n one\n+two\n three",
    "@@ -10,3 +11,2 @@ def far():\n ten\n-eleven\n twelve",
    "@@ -20 +20 @@\n-twenty\n+twenty one",
)
FILES = (
    ChangedFile(path="a.py", patch="\n".join(HUNKS)),
    ChangedFile(path="b.py", old_path="old.py", patch="@@ -1 +1 @@\n-x\n+y"),
    ChangedFile(path="logo.png", binary=True),
)
TOP, DELETED, RENAMED = (
    thread("top", line=2),
    thread("gone", line=11, side=Side.OLD),
    thread("ren", path="old.py", line=1),
)


def item(*threads: Thread, merged: bool = True, files: Iterable[ChangedFile] = FILES, **more: object) -> Candidate:
    behind = pull(*threads, merged=merged, head="h" * 40)
    change = Change(repo="acme/shop", head="h" * 40, files=tuple(files))
    said = tuple(_reference(one) for one in threads if one.outdated is not True)
    case = Case.model_validate({"id": "c", "change": change, "references": said, "facts": {"year": 2024}, **more})
    return Candidate(case=case, pull=behind)


def _reference(one: Thread) -> Comment:
    span = Span(path=one.path, start=one.line, side=one.side)
    return reference(one, span=span)


def split(stage: SplitHunks, one: Candidate) -> tuple[list[Case], list[Drop]]:
    made: list[Candidate | Drop | Decision] = list(stage.each(one, _NoPlace()))
    return [m.case for m in made if isinstance(m, Candidate)], [m for m in made if isinstance(m, Drop)]


def test_to_assess_commented_hunks_and_those_that_were_merged_without_a_word() -> None:
    cases, drops = split(SplitHunks(), item(TOP, DELETED))
    assert [(c.id, c.verdict, [r.id for r in c.references]) for c in cases] == [
        ("c/hunk/1", False, ["thread-top"]),
        ("c/hunk/2", False, ["thread-gone"]),
        ("c/hunk/3", True, []),
        ("c/hunk/4", True, []),
    ]
    assert drops == []
    first, second, third, fourth = cases
    assert first.change.files == (ChangedFile(path="a.py", patch=HUNKS[0]),)
    assert first.change.task is Task.ASSESS
    assert first.change.focus == Span(path="a.py", start=1, end=3)
    assert second.change.files[0].patch == HUNKS[1]
    assert third.change.focus == Span(path="a.py", start=20)
    assert fourth.change.files[0].old_path == "old.py"
    assert first.facts == {
        "year": 2024,
        "changed_files": 1,
        "changed_lines": 1,
        "size": "XS",
        "hunks": 1,
        "language": "Python",
    }
    assert third.clean


def test_how_many_uncommented_hunks_and_only_of_what_was_merged_as_it_stands() -> None:
    assert [c.verdict for c in split(SplitHunks(mergeable=1), item(TOP))[0]] == [False, True]
    assert [c.verdict for c in split(SplitHunks(mergeable=0), item(TOP))[0]] == [False]
    assert [c.verdict for c in split(SplitHunks(), item(TOP, merged=False))[0]] == [False]
    earlier = item(TOP).with_change(head="e" * 40)
    assert [c.verdict for c in split(SplitHunks(), earlier)[0]] == [False], "an earlier state was not merged"
    alone = item(TOP).model_copy(update={"pull": None})
    assert [c.verdict for c in split(SplitHunks(), alone)[0]] == [False]
    clean = item(verdict=True).model_copy(update={"pull": None})
    assert [c.verdict for c in split(SplitHunks(mergeable=2), clean)[0]] == [True, True]


def test_where_a_comment_lost_its_place_no_hunk_of_the_file_is_called_mergeable() -> None:
    lost = thread("lost", line=2, position=None, outdated=True)
    cases, _ = split(SplitHunks(), item(TOP, lost))
    assert [(c.id, c.verdict) for c in cases] == [("c/hunk/1", False), ("c/hunk/4", True)]
    outside = thread("out", line=500)
    cases, drops = split(SplitHunks(), item(TOP, outside))
    assert [c.id for c in cases] == ["c/hunk/1", "c/hunk/4"]
    assert [(d.item, d.reason) for d in drops] == [("c/thread-out", "a comment on no hunk of the diff")]


def test_to_locate_and_to_comment_only_what_people_commented_on() -> None:
    again = thread("again", line=2)
    wide = thread("wide", start=1, line=2)
    wide_said = reference(wide, span=Span(path="a.py", start=1, end=2), same_as="thread-gone")
    one = item(TOP, again, DELETED, RENAMED)
    one = one.with_case(references=(*one.case.references, wide_said))
    cases, _ = split(SplitHunks(task="locate"), one)
    assert [(c.id, c.verdict, len(c.references)) for c in cases] == [
        ("c/hunk/1", None, 3),
        ("c/hunk/2", None, 1),
        ("c/hunk/4", None, 1),
    ]
    cases, _ = split(SplitHunks(task="comment"), one)
    assert [(c.id, c.change.focus, [r.id for r in c.references]) for c in cases] == [
        ("c/hunk/1/1", Span(path="a.py", start=2), ["thread-top", "thread-again"]),
        ("c/hunk/1/2", Span(path="a.py", start=1, end=2), ["thread-wide"]),
        ("c/hunk/2", Span(path="a.py", start=11, side=Side.OLD), ["thread-gone"]),
        ("c/hunk/4", Span(path="old.py", start=1), ["thread-ren"]),
    ]
    assert cases[1].references[0].same_as is None, "the other phrasing stands in another case"


def test_without_a_diff_or_a_comment_there_is_nothing_to_split() -> None:
    bare = item(TOP, files=())
    assert [d.reason for d in split(SplitHunks(), bare)[1]] == ["no diff at hand"]
    silent = item(thread("b", remark("x", BOT)), merged=False).with_case(references=())
    assert [d.reason for d in split(SplitHunks(), silent)[1]] == ["no hunk that people commented on"]


@given(
    st.lists(st.sampled_from(["same\n", "a\n", "b\n"]), max_size=60), st.lists(st.booleans(), min_size=60, max_size=60)
)
def test_hunks_read_back_as_they_were(lines: list[str], changed: list[bool]) -> None:
    after = [f"changed {n}\n" if change else line for n, (line, change) in enumerate(zip(lines, changed, strict=False))]
    patch = "".join(list(difflib.unified_diff(lines, after))[2:])
    behind: PullRequest = pull(merged=True, head="h")
    change = Change(repo="a/b", head="h", files=(ChangedFile(path="a.py", patch=patch),))
    one = Candidate(case=Case(id="c", change=change), pull=behind)
    cases, _ = split(SplitHunks(mergeable=99), one)
    assert tuple(h for c in cases for h in parse_patch(c.change.files[0].patch or "")) == parse_patch(patch)


def test_on_a_change_of_a_real_repository(tmp_path: Path) -> None:
    before = "".join(f"line {n}\n" for n in range(1, 41))
    change = make_change(
        tmp_path / "r", {"a.py": before}, {"a.py": before.replace("line 3\n", "").replace("30", "thirty")}
    )
    behind = pull(merged=True, head=change.head)
    cases, _ = split(SplitHunks(), Candidate(case=Case(id="c", change=change), pull=behind))
    assert [c.change.focus and c.change.focus.start for c in cases] == [1, 26]
