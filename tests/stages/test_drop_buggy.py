"""drop_buggy on real histories: what a later fix speaks about, what it does not, and what cannot be known."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import IssueHistory, PullCommit, PullRequest
from reviewgauge.core.records import Case, Change, Issue
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.drop_buggy import MISSED, NO_CODE, NOT_LANDED, REVERTED, TOO_RECENT, DropBuggy
from szz_stories import BEGIN, Story

CODE = "def price(item):\n    return item.price * item.count\n\n\ndef name(item):\n    return item.title.strip()\n"


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "shop")


def say(story: Story, message: str) -> str:
    """Give the last commit another message; its new id."""
    story.git("commit", "-q", "--amend", "-m", message)
    return story.git("rev-parse", "HEAD")


def candidate(
    story: Story, head: str, base: str | None = None, *, merge: str | None = None, day: int | None = None
) -> Candidate:
    base = base or story.git("rev-parse", f"{head}^")
    git = str(story.folder / ".git")
    pull = None
    if merge is not None:
        commits = story.git("rev-list", "--reverse", f"{base}..{head}").split()
        own = tuple(PullCommit(id=c, message=story.git("log", "-1", "--format=%B", c)) for c in commits)
        when = None if day is None else BEGIN + timedelta(days=day)
        pull = PullRequest(repo="a/b", number=1, merge_commit=merge, merged_at=when, commits=own, git=git)
    return Candidate(case=Case(id=head[:12], change=Change(repo="a/b", base=base, head=head, git=git)), pull=pull)


def decide(stage: DropBuggy, items: list[Candidate], context: BuildFolder) -> dict[str, str]:
    """What became of each item: "" for one that was kept, else the reason."""
    found: dict[str, str] = {}
    for one in stage.apply(items, context):
        assert isinstance(one, Candidate | Drop)
        found[one.id if isinstance(one, Candidate) else one.item] = "" if isinstance(one, Candidate) else one.reason
    return found


@pytest.mark.slow
def test_what_a_later_fix_changes_is_dropped(story: Story, context: BuildFolder) -> None:
    story.commit({"shop.py": "a = 1\n"})
    bad = story.commit({"shop.py": "a = 1\n" + CODE})
    good = story.commit({"other.py": CODE.replace("item", "thing")})
    story.commit({"shop.py": "a = 1\n" + CODE.replace("* item.count", "* max(item.count, 0)")})
    fix = say(story, "Fix wrong price of negative counts")
    story.commit({"README.md": "later\n"}, day=900)
    items = [candidate(story, bad), candidate(story, good)]
    assert decide(DropBuggy(), items, context) == {bad[:12]: MISSED, good[:12]: ""}
    dropped = next(iter(DropBuggy().apply(items, context)))
    assert isinstance(dropped, Drop)
    assert (dropped.by, dropped.detail) == ("drop_buggy", f"{fix[:12]}, 2 days later")
    (section,) = context.sections
    assert (section.by, section.title) == ("drop_buggy", "Fixes of shop")
    assert section.rows == (("leads to earlier commits", 1),)


def fixing(story: Story, fix: str, opened: int, body: str = "Fixes #7", closes: object = None) -> Candidate:
    """The pull request behind a fix, with issue 7, which was opened on a day."""
    made = candidate(story, fix, merge=fix)
    assert made.pull is not None
    issue = IssueHistory(repo="a/b", issue=Issue(number=7), created=BEGIN + timedelta(days=opened))
    other = issue.model_copy(update={"issue": Issue(number=8), "created": BEGIN})
    extra = {} if closes is None else {"closes": closes}
    update = {"body": body, "issues": (issue, other), "extra": extra}
    return made.model_copy(update={"pull": made.pull.model_copy(update=update)})


@pytest.mark.parametrize(("opened", "body", "closes", "missed"), [
    (3, "Fixes #7", None, True),  # the change is of day 2
    (1, "Fixes #7", None, False), (1, "See #7", None, True),
    (3, "Fixes #7, fixes #8", None, True),  # of several the last
])  # fmt: skip
@pytest.mark.slow
def test_an_issue_that_was_opened_before_speaks_of_something_else(
    story: Story, context: BuildFolder, opened: int, body: str, closes: object, missed: bool
) -> None:
    story.commit({"shop.py": "a = 1\n"})
    bad = story.commit({"shop.py": "a = 1\n" + CODE})
    story.commit({"shop.py": "a = 1\n" + CODE.replace("* item.count", "* 2")})
    fix = say(story, "Fix the wrong price")
    item = candidate(story, bad, merge=bad, day=2)
    assert decide(DropBuggy(horizon=0), [item], context) == {bad[:12]: MISSED}, "nothing is known of the issue"
    found = decide(DropBuggy(horizon=0), [item, fixing(story, fix, opened, body, closes)], context)
    assert found[bad[:12]] == (MISSED if missed else "")
    dated = 0 if body == "See #7" and closes is None else 1
    assert f"Of {dated} fixes it is known when the issue" in context.sections[-1].text


@pytest.mark.slow
def test_the_horizon_counts_days_from_the_landing(story: Story, context: BuildFolder) -> None:
    story.commit({"shop.py": "a = 1\n"})
    bad = story.commit({"shop.py": "a = 1\n" + CODE})
    fine = story.commit({"other.py": CODE})
    story.day = 99
    story.commit({"shop.py": "a = 1\n" + CODE.replace("* item.count", "* 2")})  # day 100
    say(story, "Fix crash in price()")
    items = [candidate(story, bad), candidate(story, fine)]
    assert decide(DropBuggy(horizon=98), items, context) == {bad[:12]: MISSED, fine[:12]: TOO_RECENT}
    assert decide(DropBuggy(horizon=97), items, context) == {bad[:12]: "", fine[:12]: ""}, (
        "the fix came too late to count"
    )
    assert decide(DropBuggy(horizon=0), items, context) == {bad[:12]: MISSED, fine[:12]: ""}, "0: any time"
    late = candidate(story, bad, merge=bad, day=60)
    assert decide(DropBuggy(horizon=41), [late], context) == {bad[:12]: MISSED}, "merged on day 60, says the forge"
    assert decide(DropBuggy(horizon=39), [late], context) == {bad[:12]: ""}


@pytest.mark.slow
def test_a_branch_answers_for_its_own_commits_and_its_merge(story: Story, context: BuildFolder) -> None:
    base = story.commit({"shop.py": "a = 1\n", "b.py": "b = 1\n"})
    story.git("checkout", "-q", "-b", "side")
    story.commit({"shop.py": "a = 1\n" + CODE})
    story.commit({"shop.py": "a = 1\n" + CODE.replace("strip()", "strip('-')")})
    head = say(story, "Fix name of what was just written")
    story.git("checkout", "-q", "main")
    story.commit({"b.py": "b = 2\n"})
    merge = story.merge(
        "side", {"shop.py": (story.folder / "shop.py").read_text() + CODE.replace("strip()", "strip('-')")}
    )
    item = candidate(story, head, base, merge=merge)
    assert decide(DropBuggy(horizon=0), [item], context) == {head[:12]: ""}, (
        "a fix within the change is not a missed one"
    )
    story.commit({"shop.py": "a = 1\n" + CODE.replace("* item.count", "* 2").replace("strip()", "strip('-')")})
    say(story, "Fix the wrong price")
    assert decide(DropBuggy(horizon=0), [item], context) == {head[:12]: MISSED}


@pytest.mark.slow
def test_squashed_and_rebased_branches_are_found_on_the_main_line(story: Story, context: BuildFolder) -> None:
    base = story.commit({"shop.py": "a = 1\n"})
    story.git("checkout", "-q", "-b", "side")
    story.commit({"shop.py": "a = 1\n" + CODE})
    say(story, "Prices and names")
    story.commit({"b.py": "b = 1\n"})
    head = say(story, "And b")
    story.git("checkout", "-q", "main")
    story.commit({"c.py": "c = 1\n"})
    story.git("cherry-pick", f"{base}..{head}")
    rebased = story.git("rev-parse", "HEAD")
    story.commit({"shop.py": "a = 1\n" + CODE.replace("* item.count", "* 2")})
    say(story, "Fix the wrong price")
    item = candidate(story, head, base, merge=rebased)
    assert decide(DropBuggy(horizon=0), [item], context) == {head[:12]: MISSED}, "the fix blames the first of two"
    unmerged = candidate(story, head, base)
    assert decide(DropBuggy(horizon=0), [unmerged], context) == {head[:12]: NOT_LANDED}


def test_what_was_taken_back_is_dropped_also_if_it_only_deleted(story: Story, context: BuildFolder) -> None:
    story.commit({"shop.py": "a = 1\n" + CODE})
    gone = story.commit({"shop.py": "a = 1\n"})
    story.git("revert", "--no-edit", gone)
    items = [candidate(story, gone)]
    assert decide(DropBuggy(horizon=0), items, context) == {gone[:12]: REVERTED}
    assert decide(DropBuggy(horizon=30), items, context) == {gone[:12]: REVERTED}


def test_what_cannot_be_known_is_dropped_with_its_reason(story: Story, context: BuildFolder) -> None:
    story.commit({"shop.py": "a = 1\n"})
    head = story.commit({"shop.py": "a = 2\n"})
    item = candidate(story, head)
    nowhere = item.with_change(git=None).with_case(id="nowhere")
    away = item.with_change(git=str(story.folder / "away")).with_case(id="away")
    strange = item.with_change(head="f" * 40).with_case(id="strange")
    option = item.with_change(head="--all").with_case(id="option")
    assert decide(DropBuggy(), [item, nowhere, away, strange, option], context) == {
        item.id: TOO_RECENT, "nowhere": NO_CODE, "away": NO_CODE, "strange": NOT_LANDED, "option": NOT_LANDED,
    }  # fmt: skip


def test_a_mirror_without_a_head_is_looked_at_from_the_newest_merge(story: Story, context: BuildFolder) -> None:
    story.commit({"shop.py": "a = 1\n"})
    bad = story.commit({"shop.py": "a = 1\n" + CODE})
    story.commit({"shop.py": "a = 1\n" + CODE.replace("* item.count", "* 2")})
    fix = say(story, "Fix the wrong price")
    story.git("update-ref", f"refs/reviewgauge/{fix}", fix)
    story.git("symbolic-ref", "HEAD", "refs/heads/none")
    items = [candidate(story, bad, merge=bad, day=2), candidate(story, fix, merge=fix, day=3)]
    assert decide(DropBuggy(horizon=0), items, context) == {bad[:12]: MISSED, fix[:12]: ""}


@pytest.mark.slow
def test_each_fix_is_traced_once_whatever_runs_again(story: Story, tmp_path: Path) -> None:
    story.commit({"shop.py": "a = 1\n"})
    bad = story.commit({"shop.py": "a = 1\n" + CODE})
    story.commit({"shop.py": "a = 1\n" + CODE.replace("* item.count", "* 2")})
    say(story, "Fix the wrong price")
    told: list[str] = []
    context = BuildFolder(tmp_path / "again", listener=lambda done, total, label: told.append(label))
    items = [candidate(story, bad)]
    first = decide(DropBuggy(horizon=0), items, context)
    assert told.count("tracing fixes") == 1
    assert decide(DropBuggy(horizon=5), items, context) == {bad[:12]: MISSED}, "another horizon, the same fixes"
    assert told.count("tracing fixes") == 1
    story.commit({"shop.py": "a = 1\n" + CODE.replace("* item.count", "* 3")})
    say(story, "Fix the wrong price again")
    assert decide(DropBuggy(horizon=0), items, context) == first
    assert told.count("tracing fixes") == 2, "a longer history: the new fix only"
    context.close()


def test_no_fix_is_traced_where_nothing_comes_in(context: BuildFolder) -> None:
    assert list(DropBuggy().apply([], context)) == []
    with pytest.raises(ValueError, match="horizon=-1 must be 0 or more"):
        DropBuggy(horizon=-1)
