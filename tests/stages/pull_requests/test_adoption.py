"""Lines followed through real histories: what changed them, what did not, and what the base branch did meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_project import commit
from pull_toys import ANN, BOB, BOT, candidate, remark, thread
from pulls_in_git import BASE, FIRST, Story, on, swapped, text
from reviewgauge.core.pull_requests import PullRequest
from reviewgauge.core.records import Side
from reviewgauge.stages.find_adopted import FindAdopted
from reviewgauge.stages.pull_requests.adoption import LineTracker, adoptions, signals


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "code")


def test_a_commented_line_that_a_later_commit_changed(story: Story) -> None:
    story.push({"b.py": "other\n"})
    fix = story.push({"a.py": swapped(FIRST, n13="    with open(x) as z:")})
    story.push({"b.py": "again\n"})
    found = adoptions(story.pull(on(13, "hit"), on(12, "missed")))
    hit, missed = found["hit"], found["missed"]
    assert hit is not None and missed is not None
    assert (hit.changed, hit.commit) == (True, fix)
    assert hit.snippet is not None and "with open(x) as z:" in hit.snippet and "z = open" not in hit.snippet
    assert (missed.changed, missed.commit, missed.snippet) == (False, None, None)


def test_nothing_is_later_than_the_final_state(story: Story) -> None:
    assert story.changed(on(13)) == [False]


def test_a_range_changed_where_one_of_its_lines_did(story: Story) -> None:
    story.push({"a.py": swapped(FIRST, n13="    z = None")})
    assert story.changed(on(14, "a", start=12), on(12, "b", start=11)) == [True, False]


def test_lines_keep_their_fate_when_others_move_them(story: Story) -> None:
    grown = ["# new", "# new", *FIRST]
    story.push({"a.py": text(*grown)})
    story.push({"a.py": swapped(grown, n15="    z = None")})
    assert story.changed(on(13, "a"), on(12, "b"), on(14, "c")) == [True, False, False]


@pytest.mark.slow
def test_a_renamed_file_is_followed_and_a_deleted_one_is_changed(story: Story) -> None:
    story.push({"a.py": None, "moved.py": text(*FIRST)})
    assert story.changed(on(13)) == [False]
    story.push({"moved.py": swapped(FIRST, n13="    z = None")})
    assert story.changed(on(13, "a"), on(12, "b")) == [True, False]
    story.push({"moved.py": None})
    assert story.changed(on(12)) == [True]


def test_what_the_base_branch_did_is_no_answer(story: Story) -> None:
    story.main({"a.py": swapped(BASE, n12="the base changed this")})
    story.merge_main()
    commented = [on(17, "of the base"), on(13, "of the pull request")]  # line 12 of the base is line 17 there
    assert story.changed(*commented) == [None, False]


@pytest.mark.slow
def test_after_a_rebase_lines_are_compared_from_state_to_state(story: Story) -> None:
    story.main({"a.py": swapped(BASE, n12="the base changed this")})
    story.rebase()
    rebased = story.folder.joinpath("a.py").read_text().splitlines()
    assert story.changed(on(17, "of the base"), on(13, "kept")) == [None, False]
    story.push({"a.py": swapped(rebased, n13="    z = None")})
    assert story.changed(on(13, "a"), on(12, "b")) == [True, False]


@pytest.mark.slow
def test_a_comment_on_deleted_lines(tmp_path: Path) -> None:
    first = [*BASE[:4], "line 5, better", *BASE[5:19], *BASE[20:]]  # line 5 replaced, line 20 deleted
    story = Story(tmp_path / "code", text(*first))
    old: dict[str, Any] = {"side": Side.OLD}
    assert story.changed(on(5, "a", **old), on(20, "b", **old)) == [False, False]
    story.push({"a.py": text(*first[:4], "line 5, best", *first[5:])})
    assert story.changed(on(5, "a", **old), on(20, "b", **old)) == [True, False]
    story.push({"a.py": text(*BASE[:4], "line 5, best", *BASE[5:])})
    assert story.changed(on(20, **old)) == [True], "what was deleted is back"


def test_a_comment_on_a_whole_file(story: Story) -> None:
    whole = thread("w", path="b.py", line=None, whole_file=True)
    story.push({"a.py": swapped(FIRST, n13="    z = None")})
    assert story.changed(whole) == [False]
    story.push({"b.py": "other\n"})
    assert story.changed(whole) == [True]


def test_the_base_rate_is_of_places_that_nobody_commented_on(story: Story) -> None:
    story.push({"a.py": swapped(FIRST, n12="    y = x + 2", n13="    z = None")})
    found = adoptions(story.pull(on(13, "a")))["a"]
    assert found is not None and (found.base_changed, found.base_places) == (1, 3), "not the empty line"
    both = adoptions(story.pull(on(13, "a"), on(12, "b")))["a"]
    assert both is not None and (both.base_changed, both.base_places) == (0, 2), "the other comment's line is out"
    span = adoptions(story.pull(on(12, "a", start=11)))["a"]
    assert span is not None and (span.base_changed, span.base_places) == (1, 2), "as many lines as the comment has"


@pytest.mark.slow
def test_places_that_somebody_spoke_about_in_another_state_are_not_of_the_base_rate(story: Story) -> None:
    """What changed because of another comment would make this one look like luck."""
    second = story.push({"a.py": text(*FIRST[:10], "# new", *FIRST[10:])})
    now = story.folder.joinpath("a.py").read_text().splitlines()
    story.push({"a.py": swapped(now, n13="    y = x + 2", n14="    z = None")})
    alone = adoptions(story.pull(on(13, "a"), seen=2))["a"]
    assert alone is not None and (alone.base_changed, alone.base_places) == (1, 3)
    later = adoptions(story.pull(on(13, "a"), on(13, "b", commit=second), seen=2))
    assert later["a"] is not None and (later["a"].base_changed, later["a"].base_places) == (0, 2)
    assert later["b"] is not None and later["b"].changed is True
    assert (later["b"].base_changed, later["b"].base_places) == (0, 3), "an earlier comment's line is out as well"


def test_a_commit_that_was_made_before_the_comment_is_no_answer(story: Story) -> None:
    """Somebody reads a state while its author pushes the next one."""
    story.push({"a.py": swapped(FIRST, n12="    y = x + 2", n13="    z = None")}, date="2024-01-02T10:00:00Z")
    changed = []
    for day in (1, 3):
        said = remark("1").model_copy(update={"created": datetime(2024, 1, day, tzinfo=UTC)})
        found = adoptions(story.pull(thread("t", said, line=13)))["t"]
        assert found is not None
        changed.append((found.changed, found.base_changed, found.base_places))
    assert changed == [(True, 1, 3), (None, 0, 2)], "it says nothing of the lines beside it either"


def test_without_commits_the_forges_word_counts() -> None:
    threads = (on(3, "a", commit="c1", outdated=True), on(3, "b", commit="c1", outdated=False), on(3, "c", commit="c1"))
    pull = PullRequest(repo="o/n", number=1, head="c2", threads=threads)
    assert [one.changed if one else None for one in adoptions(pull).values()] == [True, False, None]
    at_head = PullRequest(repo="o/n", number=1, head="c1", threads=threads)
    assert [one.changed if one else None for one in adoptions(at_head).values()] == [False, False, False]


def test_a_commit_that_is_not_at_hand_leaves_the_forges_word(story: Story) -> None:
    story.push({"a.py": swapped(FIRST, n13="    z = None")})
    assert story.changed(on(13, "a", commit="1" * 40, outdated=True), on(13, "b", commit="2" * 40)) == [True, None]


def test_signals() -> None:
    one = thread("t", remark("1", BOB).model_copy(update={"reactions": {"+1": 2, "-1": 1}}), remark("2", ANN))
    told = signals(one.model_copy(update={"resolved": True}), None)
    assert told == {
        "changed": None, "resolved": True, "answered": True, "thumbs_up": 2, "thumbs_down": 1, "base_changed": 0,
        "base_lines": 0,
    }  # fmt: skip
    alone = thread("t", remark("1", BOB), remark("2", BOB), remark("3", BOT))
    assert signals(alone, None)["answered"] is False, "neither oneself nor a bot"


def test_find_adopted_tells_commit_code_and_answer(story: Story) -> None:
    fix = story.push({"a.py": swapped(FIRST, n13="    with open(x) as z:")})
    said = (remark("1"), remark("2", ANN, "Done."))
    pull = story.pull(thread("a", *said, line=13), on(12, "b"), thread("bot", remark("9", BOT), line=13))
    made = FindAdopted().narrow(candidate(pull))
    assert not isinstance(made, str)
    adopted, other = made.case.references
    assert adopted.resolution is not None
    assert (adopted.resolution.commit, adopted.resolution.explanation) == (fix, "Done.")
    assert adopted.extra["adopted"] is True and other.extra["adopted"] is False and other.resolution is None
    assert made.case.facts["adopted"] == 1, "the bot's thread is not of people"
    assert FindAdopted().narrow(candidate(None)) == "no pull request behind it"


def test_find_adopted_takes_the_commits_subject_where_nobody_answered(story: Story) -> None:
    story.push({"a.py": swapped(FIRST, n13="    z = None")})
    made = FindAdopted().narrow(candidate(story.pull(on(13))))
    assert not isinstance(made, str)
    (one,) = made.case.references
    assert one.resolution is not None and one.resolution.explanation == "Commit 1"


edits = st.lists(st.tuples(st.sampled_from(["change", "delete", "insert"]), st.integers(0, 39)), min_size=1, max_size=6)


@given(edits)
@pytest.mark.slow
def test_following_agrees_with_a_model_of_the_file(steps: list[tuple[str, int]]) -> None:
    """A file whose lines are all different: a line is there at the end, or it was changed."""
    with TemporaryDirectory() as folder:
        story = Story(Path(folder) / "code")
        now = list(FIRST)
        now[14] = "an added line that is not empty"
        story.heads[0] = commit(story.folder, {"a.py": text(*now)})
        begun = list(now)
        for count, (what, place) in enumerate(steps):
            at = place % len(now)
            if what == "insert":
                now.insert(at, f"inserted {count}")
            elif what == "delete" and len(now) > 1:
                del now[at]
            else:
                now[at] = f"changed {count}"
            story.push({"a.py": text(*now)})
        pull = story.pull(*(on(line, str(line)) for line in range(11, 16)))
        followed = LineTracker(pull)
        steps_found = followed.steps(story.heads[0])
        assert steps_found is not None and len(steps_found) == len(steps)
        outcomes = followed.outcomes("a.py", range(1, len(begun) + 1), steps_found)
        for number, line in enumerate(begun, 1):
            assert outcomes[number].changed is (line not in now), line
