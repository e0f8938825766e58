"""One case for each commented hunk, and for the first task for those that nobody commented on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from git_project import commit
from pull_toys import BOT, pull, reference, remark, thread
from reviewgauge.core.building import Candidate, Decision
from reviewgauge.core.pull_requests import Revision, Thread
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Side, Span, Task
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.engine.build.pipeline import WithoutBuild
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.pull_requests.candidates import final_candidate
from reviewgauge.stages.split_hunks import SplitHunks

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
    made: list[Candidate | Drop | Decision] = list(stage.each(one, WithoutBuild()))
    return [m.case for m in made if isinstance(m, Candidate)], [m for m in made if isinstance(m, Drop)]


class Grown:
    """A pull request of two states in a repository. In `a.py` the first hunk changes from one to the other, the second
    does not, and nobody speaks of the third.
    """

    def __init__(self, folder: Path, *, merged: bool = True) -> None:
        self.lines = [f"line {n}" for n in range(1, 61)]
        self.base = commit(folder, {"a.py": self.text(), "c.py": "c\n"})
        self.first = commit(folder, {"a.py": self.text(n5="x = 1", n30="y = 1", n55="z = 1"), "c.py": "c\nd\n"})
        self.last = commit(folder, {"a.py": self.text(n5="x = 2", n30="y = 1", n55="z = 1"), "c.py": "c\nd\n"})
        self.folder, self.merged = folder, merged

    def text(self, **swaps: str) -> str:
        return "".join(f"{swaps.get(f'n{n}', line)}\n" for n, line in enumerate(self.lines, 1))

    def item(self, *threads: Thread, **more: object) -> Candidate:
        revisions = tuple(Revision(head=head, base=self.base) for head in (self.first, self.last))
        files = Repository(self.folder / ".git").changed_files(self.base, self.last)
        behind = pull(*threads, merged=self.merged, base=self.base, head=self.last, revisions=revisions, files=files)
        git = str(self.folder / ".git")
        return final_candidate(behind.model_copy(update={"git": git, **more}))


@pytest.fixture
def grown(tmp_path: Path) -> Grown:
    return Grown(tmp_path / "r")


def on(grown: Grown, line: int, name: str = "1", **more: object) -> Thread:
    """A thread on the first state that is outdated by now."""
    return thread(
        name,
        **{"line": line, "commit": grown.first, "position": None, "outdated": True, **more},  # type: ignore[arg-type]
    )


def patch_of(case: Case) -> str:
    return case.change.files[0].patch or ""


def test_a_commented_hunk_is_assessed_as_it_stood_and_one_that_was_merged_unchanged_is_not(grown: Grown) -> None:
    still = on(grown, 30, "2", position=9, now_line=30, outdated=False)
    cases, drops = split(SplitHunks(), grown.item(on(grown, 5), still))
    commented, *merged = cases
    assert (commented.verdict, commented.change.head) == (False, grown.first)
    assert "+x = 1" in patch_of(commented)
    assert "x = 2" not in patch_of(commented)
    assert [(c.id, c.span) for c in commented.references] == [("thread-1", Span(path="a.py", start=5))]
    assert [(d.item.partition("/hunk/")[0], d.reason) for d in drops] == [
        ("acme/shop/pull/1", "commented on, and merged unchanged")
    ]
    assert [(c.verdict, c.change.head, c.change.files[0].path) for c in merged] == [(True, grown.last, "c.py")]
    assert merged[0].references == ()
    assert merged[0].clean


def test_a_case_is_one_hunk_with_its_facts() -> None:
    first, second, third, fourth = split(SplitHunks(), item())[0]
    assert first.change.files == (ChangedFile(path="a.py", patch=HUNKS[0]),)
    assert {c.change.task for c in (first, second, third, fourth)} == {Task.ASSESS}
    assert first.change.focus == Span(path="a.py", start=1, end=3)
    assert second.change.files[0].patch == HUNKS[1]
    assert third.change.focus == Span(path="a.py", start=20)
    assert fourth.change.files[0].old_path == "old.py"
    assert first.facts == {
        "year": 2024, "changed_files": 1, "changed_lines": 1, "pull": "acme/shop#1", "size": "XS", "hunks": 1,
        "language": "Python",
    }  # fmt: skip


def test_a_hunk_has_the_language_of_its_file_and_not_that_of_the_whole_change() -> None:
    files = (ChangedFile(path="a.py", patch=HUNKS[0]), ChangedFile(path="VERSION", patch="@@ -1 +1 @@\n-1\n+2"))
    cases, _ = split(SplitHunks(), item(files=files, facts={"language": "Python", "year": 2024}))
    assert [(c.change.files[0].path, c.facts.get("language"), c.facts["year"]) for c in cases] == [
        ("a.py", "Python", 2024),
        ("VERSION", None, 2024),
    ]


def test_no_hunk_is_in_both_classes(grown: Grown) -> None:
    """The final state's hunk is what the comment asked for: it is neither merged without a word nor not mergeable."""
    asked = on(grown, 5, position=4, now_line=5, outdated=False)
    cases, _ = split(SplitHunks(), grown.item(asked))
    assert [(c.verdict, c.change.files[0].path, next(iter(patch_of(c).split("\n+")[1:]), "")[:5]) for c in cases] == [
        (False, "a.py", "x = 1"), (True, "a.py", "y = 1"), (True, "a.py", "z = 1"), (True, "c.py", "d"),
    ]  # fmt: skip
    assert all("x = 2" not in patch_of(case) for case in cases)


def test_context_that_moved_is_no_change_but_one_within_the_hunk_is(tmp_path: Path) -> None:
    grown = Grown(tmp_path / "r")
    moved = commit(grown.folder, {"a.py": "# first\n" + grown.text(n5="x = 2", n28="near = 1", n30="y = 1")})
    grown.last = moved
    cases, drops = split(SplitHunks(mergeable=0), grown.item(on(grown, 5), on(grown, 30, "2"), on(grown, 55, "3")))
    assert [c.references[0].id for c in cases] == ["thread-1", "thread-2", "thread-3"], "3 was taken back"
    assert drops == []
    same = commit(grown.folder, {"a.py": "# first\n" + grown.text(n5="x = 2", n30="y = 1", n35="far = 1")})
    grown.last = same
    cases, drops = split(SplitHunks(mergeable=0), grown.item(on(grown, 5), on(grown, 30, "2")))
    assert [c.references[0].id for c in cases] == ["thread-1"]
    assert [d.reason for d in drops] == ["commented on, and merged unchanged"]


def test_a_hunk_that_was_commented_on_twice_is_one_case(tmp_path: Path) -> None:
    grown = Grown(tmp_path / "r")
    shifted = commit(grown.folder, {"a.py": "# a\n# b\n" + grown.text(n5="x = 2", n30="y = 1")})
    grown.last = commit(grown.folder, {"a.py": grown.text(n5="x = 2", n30="y = 2")})
    cases, _ = split(SplitHunks(mergeable=0), grown.item(on(grown, 30), on(grown, 32, "2", commit=shifted)))
    assert [[(c.id, c.span and c.span.start) for c in case.references] for case in cases] == [
        [("thread-1", 30), ("thread-2", 30)]
    ]


def test_what_cannot_be_told_is_dropped_with_the_reason(grown: Grown) -> None:
    gone = on(grown, 5, commit="f" * 40)
    nowhere = on(grown, 5, "2", commit=None)
    outside = on(grown, 59, "3")
    whole = thread("4", line=None, whole_file=True, commit=grown.first, path="c.py", position=1)
    cases, drops = split(SplitHunks(), grown.item(gone, nowhere, outside, whole))
    assert [(d.item.rpartition("/")[2], d.reason, d.detail) for d in drops] == [
        ("thread-2", "the state that was commented on is not at hand", "its commit is not known"),
        ("thread-1", "the state that was commented on is not at hand", "its commits are not at hand"),
        ("thread-3", "a comment on no hunk of the diff", ""),
        ("thread-4", "a comment on no hunk of the diff", ""),
        ("1", "no hunk to assess", ""),
    ]
    assert cases == []
    unread = grown.item(on(grown, 5))
    files = tuple(file.model_copy(update={"patch": None}) for file in unread.case.change.files)
    shown = (*files, ChangedFile(path="b.py", patch="@@ -1 +1 @@\n-x\n+y"))
    cases, drops = split(SplitHunks(mergeable=0), unread.with_change(files=shown))
    assert [d.reason for d in drops][:1] == ["commented on, and not known whether it was merged unchanged"]


def test_the_papers_filter_of_outdated_comments_is_a_parameter(grown: Grown) -> None:
    told = on(grown, 5)
    position = on(grown, 5, "2", outdated=False, position=4, now_line=5)
    silent = on(grown, 5, "3", outdated=None)
    paper = SplitHunks(outdated=False, mergeable=0)
    cases, drops = split(paper, grown.item(told, position, silent))
    assert [[c.id for c in case.references] for case in cases] == [["thread-2"]]
    assert [(d.item.rpartition("/")[2], d.reason) for d in drops] == [
        ("thread-1", "a comment that is outdated"),
        ("thread-3", "not known whether the comment is outdated"),
    ]


def test_what_an_earlier_stage_took_out_or_put_into_other_words_stays_so(grown: Grown) -> None:
    standing = on(grown, 5, position=4, now_line=5, outdated=False)
    whole = grown.item(standing, on(grown, 30, "2"))
    assert [c.id for c in whole.case.references] == ["thread-1"], "the other is outdated"
    without, _ = split(SplitHunks(mergeable=0), whole.with_case(references=()))
    assert without == []
    worded = tuple(c.model_copy(update={"body": "In other words."}) for c in whole.case.references)
    cases, _ = split(SplitHunks(mergeable=0), whole.with_case(references=worded))
    assert [[c.body for c in case.references] for case in cases] == [["In other words."]]
    praised = grown.item(on(grown, 5).model_copy(update={"remarks": (remark("p", body="LGTM!"),)}))
    assert split(SplitHunks(mergeable=0), praised)[0] == [], "praise stops no merge"


def test_mergeable_hunks_are_drawn_by_the_seed_and_not_the_first_of_the_diff(tmp_path: Path) -> None:
    files = {f"m{n:02}.py": "a\n" for n in range(40)}
    base = commit(tmp_path / "r", files)
    head = commit(tmp_path / "r", dict.fromkeys(files, "b\n"))
    changed = Repository(tmp_path / "r" / ".git").changed_files(base, head)
    one = final_candidate(pull(merged=True, base=base, head=head, files=changed))
    paths = [c.change.files[0].path for c in split(SplitHunks(), one)[0]]
    assert len(paths) == 5
    assert paths == sorted(paths), "in the order of the diff"
    assert paths != sorted(files)[:5]
    assert paths == [c.change.files[0].path for c in split(SplitHunks(), one)[0]]
    assert paths != [c.change.files[0].path for c in split(SplitHunks(seed=1), one)[0]]


def test_how_many_uncommented_hunks_and_only_of_what_was_merged_as_it_stands() -> None:
    assert [c.verdict for c in split(SplitHunks(mergeable=1), item())[0]] == [True]
    assert [c.verdict for c in split(SplitHunks(mergeable=0), item())[0]] == []
    assert [c.verdict for c in split(SplitHunks(), item(merged=False))[0]] == []
    earlier = item().with_change(head="e" * 40)
    assert split(SplitHunks(), earlier)[0] == [], "an earlier state was not merged"
    alone = item(TOP).model_copy(update={"pull": None})
    assert [(c.verdict, [r.id for r in c.references]) for c in split(SplitHunks(), alone)[0]] == [
        (False, ["thread-top"])
    ]
    clean = item(verdict=True).model_copy(update={"pull": None})
    assert [c.verdict for c in split(SplitHunks(mergeable=2), clean)[0]] == [True, True]


def test_where_a_comment_lost_its_place_no_hunk_of_the_file_is_called_mergeable() -> None:
    lost = thread("lost", line=2, position=None, outdated=True, commit="e" * 40)
    cases, _ = split(SplitHunks(), item(lost))
    assert [(c.change.files[0].path, c.verdict) for c in cases] == [("b.py", True)]
    old = thread("old", path="old.py", line=2, position=None, outdated=True, commit="e" * 40)
    cases, _ = split(SplitHunks(), item(old))
    assert {c.change.files[0].path for c in cases} == {"a.py"}, "it has another name now"
    told_by_a_bot = thread("bot", remark("x", BOT), line=2, commit="h" * 40)
    cases, _ = split(SplitHunks(), item(told_by_a_bot))
    assert HUNKS[0] not in [patch_of(c) for c in cases]
    assert HUNKS[1] in [patch_of(c) for c in cases]


def test_names_tell_a_reviewer_nothing(grown: Grown) -> None:
    cases, _ = split(SplitHunks(), grown.item(on(grown, 5)))
    assert {case.verdict for case in cases} == {True, False}
    assert all(re.fullmatch(r"acme/shop/pull/1/hunk/[0-9a-f]{12}", case.id) for case in cases)


def test_the_card_says_what_is_our_reading(grown: Grown, tmp_path: Path) -> None:
    place = BuildFolder(tmp_path / "bench")
    list(SplitHunks().apply([grown.item(on(grown, 5), on(grown, 30, "2"))], place))
    (section,) = place.sections
    assert "Our reading" in section.text
    assert dict(section.figures) == {
        "could not be merged": 1,
        "can be merged": 1,
        "commented on, and merged unchanged": 1,
    }
    list(SplitHunks(task="locate").apply([grown.item()], quiet := BuildFolder(tmp_path / "other")))
    assert not quiet.sections


def test_to_locate_and_to_comment_only_what_people_commented_on() -> None:
    again = thread("again", line=2)
    wide = thread("wide", start=1, line=2)
    wide_said = reference(wide, span=Span(path="a.py", start=1, end=2), same_as="thread-gone")
    one = item(TOP, again, DELETED, RENAMED).model_copy(update={"pull": None})
    one = one.with_case(references=(*one.case.references, wide_said))
    cases, _ = split(SplitHunks(task="locate"), one)
    assert [(patch_of(c), c.verdict, len(c.references)) for c in cases] == [
        (HUNKS[0], False, 3),
        (HUNKS[1], False, 1),
        ("@@ -1,1 +1,1 @@\n-x\n+y", False, 1),
    ]
    ids = [c.id for c in cases]
    cases, _ = split(SplitHunks(task="comment"), one)
    assert [(c.id, c.change.focus, [r.id for r in c.references]) for c in cases] == [
        (f"{ids[0]}/1", Span(path="a.py", start=2), ["thread-top", "thread-again"]),
        (f"{ids[0]}/2", Span(path="a.py", start=1, end=2), ["thread-wide"]),
        (ids[1], Span(path="a.py", start=11, side=Side.OLD), ["thread-gone"]),
        (ids[2], Span(path="old.py", start=1), ["thread-ren"]),
    ]
    assert cases[1].references[0].same_as is None, "the other phrasing stands in another case"


@pytest.mark.parametrize("task", ["locate", "comment"])
def test_to_locate_and_to_comment_take_the_unmerged_entries_of_assess(grown: Grown, task: str) -> None:
    """ContextCRBench, section 3.3: "we exclusively sample from unmerged entries"."""
    now: dict[str, Any] = {"outdated": False, "position": 1}
    one = grown.item(on(grown, 5, now_line=5, **now), on(grown, 30, "2", now_line=30, **now))
    cases, drops = split(SplitHunks(task=task), one)  # type: ignore[arg-type]
    assessed = split(SplitHunks(), one)[0]
    assert [(c.id, c.verdict) for c in cases] == [(c.id, c.verdict) for c in assessed if c.verdict is False]
    assert [(c.change.head, "+x = 1" in patch_of(c)) for c in cases] == [(grown.first, True)]
    assert [d.reason for d in drops] == ["commented on, and merged unchanged"]
    assert [d.reason for d in split(SplitHunks(task=task), grown.item(on(grown, 5)))[1]] == [  # type: ignore[arg-type]
        "a comment that is outdated",
        "no hunk that people commented on",
    ]


def test_without_a_diff_or_a_comment_there_is_nothing_to_split() -> None:
    bare = item(TOP, files=())
    assert [d.reason for d in split(SplitHunks(), bare)[1]] == ["no diff at hand"]
    silent = item(thread("b", remark("x", BOT)), merged=False).with_case(references=())
    assert [d.reason for d in split(SplitHunks(), silent)[1]] == ["no hunk to assess"]
    assert [d.reason for d in split(SplitHunks(task="locate"), silent)[1]] == ["no hunk that people commented on"]
