"""A pull request as a case at one of its states."""

from __future__ import annotations

from pathlib import Path

import pytest

from pull_toys import ANN, BOB, BOT, GHOST, candidate, remark, thread
from pulls_in_git import FIRST, Story, on, swapped, text
from reviewgauge.core.pull_requests import Thread
from reviewgauge.core.records import Side, Span
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.pull_requests.candidates import (
    candidate_at,
    change_at,
    chosen_repositories,
    current_span,
    final_candidate,
    final_references,
    is_review,
    merge_base,
    references_at,
    remember_repositories,
    thread_comment,
    thread_span,
)


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "code")


@pytest.mark.parametrize(("said", "review"), [
    ((remark("1", BOB),), True), ((remark("1", GHOST),), True), ((remark("1", BOT),), False),
    ((remark("1", ANN),), False),
    ((remark("1", BOB, "@helper review"),), False),
    ((remark("1", BOB, "LGTM!"),), False),
    ((remark("1", BOB), remark("2", ANN)), True),
])  # fmt: skip
def test_what_is_a_review_comment(said: tuple[object, ...], review: bool, story: Story) -> None:
    one = thread("t", *said, line=12)  # type: ignore[arg-type]
    assert is_review(story.pull(one), one) is review


def test_a_thread_becomes_a_comment_with_its_suggestion() -> None:
    said = remark("1", BOB, "Better:\n```suggestion\nx = 1\n```").model_copy(update={"reactions": {"+1": 2}})
    one = thread("7", said, remark("2", ANN), line=12, start=11)
    made = thread_comment(one.model_copy(update={"resolved": True, "commit": "c"}), thread_span(one))
    assert (made.id, made.body, made.suggestion, made.author, made.commit) == (
        "thread-7", "Better:", "x = 1", "bob", "c",
    )  # fmt: skip
    assert made.span == Span(path="a.py", start=11, end=12)
    assert made.extra == {"thread": "7", "resolved": True, "answers": 1, "reactions": {"+1": 2}}


@pytest.mark.parametrize(("more", "span"), [
    ({"line": 12, "now_line": 20, "position": 5}, Span(path="a.py", start=20, end=20)),
    ({"line": 12, "start": 10, "now_line": 20, "position": 5}, Span(path="a.py", start=18, end=20)),
    ({"line": 12, "start": 1, "now_line": 2, "position": 5}, Span(path="a.py", start=1, end=2)),
    ({"line": 12, "now_line": 20, "position": 5, "outdated": True}, None),
    ({"line": 12, "now_line": None, "position": None}, None),
    ({"line": 12, "now_line": 20, "position": None, "original_position": 5, "outdated": False}, None),
    ({"line": 12, "now_line": 20, "position": None, "outdated": False}, Span(path="a.py", start=20)),
    ({"line": 12, "now_line": 20, "position": None}, None),
    ({"line": None, "position": None, "whole_file": True}, Span(path="a.py")),
    ({"line": 4, "now_line": 4, "position": 5, "side": Side.OLD}, Span(path="a.py", start=4, side=Side.OLD)),
])  # fmt: skip
def test_where_a_thread_stands_in_the_final_diff(more: dict[str, object], span: Span | None) -> None:
    fields: dict[str, object] = {"id": "1", "path": "a.py", "remarks": (remark("1"),), **more}
    assert current_span(Thread.model_validate(fields)) == span


def test_the_final_state_has_what_was_said_on_it_and_what_still_stands(story: Story) -> None:
    last = story.push({"a.py": swapped(FIRST, n13="    z = None")})
    threads = (
        on(13, "changed", now_line=None, position=None),
        on(12, "stands", now_line=12, position=3),
        on(14, "said on it", commit=last),
        thread("bot", remark("b", BOT), line=12, now_line=12),
    )
    pull = story.pull(*threads)
    assert [one.id for one in final_references(pull)] == ["thread-stands", "thread-said on it"]
    assert [one.id for one in references_at(pull, story.heads[0])] == ["thread-changed", "thread-stands"]
    made = final_candidate(pull)
    assert (made.id, made.case.verdict, made.case.facts["threads"]) == ("acme/shop/pull/1", False, 4)
    assert final_candidate(story.pull()).case.verdict is None


def test_a_state_is_built_from_the_mirror(story: Story) -> None:
    story.push({"a.py": swapped(FIRST, n13="    z = None"), "b.py": "other\n"})
    pull = story.pull(on(13, "1"))
    early, late = pull.revisions
    item = candidate(pull, title="Kept", description="Kept too").with_facts({"domain": "bug fix"})
    made = candidate_at(item, early)
    assert not isinstance(made, str)
    change = made.case.change
    assert (change.base, change.head, change.title, change.description) == (story.base, early.head, "Kept", "Kept too")
    assert [file.path for file in change.files] == ["a.py"]
    assert made.case.facts["domain"] == "bug fix" and made.case.facts["changed_lines"] == 5
    assert [one.id for one in made.case.references] == ["thread-1"]
    final = change_at(pull, late)
    assert not isinstance(final, str) and [file.path for file in final.files] == ["a.py", "b.py"]


def test_a_state_that_cannot_be_built_says_why(story: Story) -> None:
    pull = story.pull()
    (only,) = pull.revisions
    assert change_at(pull.model_copy(update={"git": None}), only) == "its commits are not at hand"
    assert change_at(pull, only.model_copy(update={"head": "1" * 40})) == "its commits are not at hand"
    nowhere = pull.model_copy(update={"base": "1" * 40})
    assert change_at(nowhere, only) == "where it left its base cannot be found"
    story.push({"a.py": text(*[f"line {n}" for n in range(1, 31)])})
    back = story.pull()
    assert change_at(back, back.revisions[-1]) == "changes nothing"
    assert candidate_at(candidate(None), only) == "no pull request behind it"


def test_a_base_that_was_read_after_the_merge(story: Story) -> None:
    from git_project import run_git

    run_git(story.folder, "checkout", "-q", "main")
    run_git(story.folder, "merge", "-q", "--no-ff", "--no-edit", "topic")
    merged = run_git(story.folder, "rev-parse", "HEAD")
    code = Repository(story.folder)
    assert merge_base(code, merged, story.heads[-1], merged) == story.base
    assert merge_base(code, merged, story.heads[-1]) is None
    assert merge_base(code, "--upload-pack=x", story.heads[-1]) is None


def test_repositories_are_handed_from_stage_to_stage(tmp_path: Path) -> None:
    place = BuildFolder(tmp_path)
    assert chosen_repositories(place) == ()
    remember_repositories(place, ["acme/shop", "acme/store"])
    assert chosen_repositories(place) == ("acme/shop", "acme/store")
    place.close()
