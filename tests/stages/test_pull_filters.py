"""Filters that read the pull request behind a case: what each keeps, changes and drops."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pull_toys import ANN, BOB, BOT, GHOST, candidate, pull, reference, remark, thread
from reviewgauge.core.building import Candidate
from reviewgauge.core.protocols import Stage
from reviewgauge.core.pull_requests import Event, IssueHistory, Revision
from reviewgauge.core.records import Issue
from reviewgauge.stages.drop_bots import DropBots
from reviewgauge.stages.drop_outdated import DropOutdated
from reviewgauge.stages.drop_unmerged import DropUnmerged
from reviewgauge.stages.where import Where

ONE = candidate(pull(thread("1")))
UNFORCED, COMMENTED = Where(fact="forced_pushes", at_most=0), Where(fact="comments_by_others", at_least=1)
LONG = thread("1", remark("a"), remark("b", body="ü" * 51))


@dataclass(frozen=True)
class Row:
    """What a stage says of a candidate: a reason, or None where it is kept."""

    stage: Stage
    item: Candidate
    reason: str | None = None


ROWS = [
    Row(DropUnmerged(), ONE),
    Row(DropUnmerged(), candidate(pull(state="open", merged=False)), "still open"),
    Row(DropUnmerged(), candidate(pull(merged=False)), "closed without being merged"),
    Row(UNFORCED, candidate(pull(events=(Event(kind="merged"),)))),
    Row(UNFORCED, candidate(pull(events=(Event(kind="head_ref_force_pushed"),))), "forced_pushes over 0"),
    Row(UNFORCED, candidate(pull(revisions=(Revision(head="h", forced=True),))), "forced_pushes over 0"),
    Row(UNFORCED, ONE, "neither events nor revisions are known"),
    Row(COMMENTED, ONE),
    Row(COMMENTED, candidate(pull()), "comments_by_others under 1"),
    Row(COMMENTED, candidate(pull(thread("1", remark("a", ANN), remark("b", BOT)))), "comments_by_others under 1"),
    Row(COMMENTED, candidate(pull(thread("1", remark("a", BOT), remark("b", BOB))))),
    Row(COMMENTED, candidate(pull(thread("1", remark("a", GHOST)), author=GHOST))),
    Row(COMMENTED, candidate(pull(reviews=(remark("a"),), conversation=(remark("b"),))), "comments_by_others under 1"),
    Row(Where(fact="diff_bytes", at_most=10), ONE, "diff_bytes over 10"),
    Row(Where(fact="diff_bytes", at_most=10), candidate(None, patch=None), "no diff at hand"),
    Row(Where(fact="longest_comment", at_most=101), candidate(pull(LONG)), "longest_comment over 101"),
    Row(Where(fact="longest_comment", at_most=102), candidate(pull(LONG))),
    Row(Where(fact="inline_comments", at_least=2), ONE, "inline_comments under 2"),
    Row(Where(fact="inline_comments", at_least=2), candidate(pull(thread("1", remark("a"), remark("b", ANN))))),
    Row(Where(fact="inline_comments", at_least=2), candidate(pull(thread("1", remark("a"), remark("b", BOT)))),
        "inline_comments under 2"),
    Row(Where(fact="adopted", at_least=1), ONE, "does not state adopted"),
    Row(Where(fact="adopted", at_least=1), ONE.with_facts({"adopted": 0}), "adopted under 1"),
    Row(Where(fact="adopted", at_least=1), ONE.with_facts({"adopted": 1})),
    Row(DropBots(), candidate(pull(thread("1"), author=BOT))),
    Row(DropBots(authors=True), candidate(pull(author=BOT)), "opened by a bot"),
    Row(DropBots(), candidate(pull(thread("1", remark("a", BOT)))), "reviewed by bots only"),
    Row(DropOutdated(), candidate(pull())),
    Row(DropOutdated(), ONE),
    Row(DropOutdated(), candidate(pull(thread("1", position=None, original_position=3))), "every comment is outdated"),
    Row(DropOutdated(), candidate(pull(thread("1", position=None, original_position=3, outdated=False))),
        "every comment is outdated"),
    Row(DropOutdated(), candidate(pull(thread("1", position=None, outdated=True))), "every comment is outdated"),
    Row(DropOutdated(), candidate(pull(thread("1", position=None, outdated=False)))),
    Row(DropOutdated(), candidate(pull(thread("1", position=None))), "not known whether its comments are outdated"),
    Row(DropOutdated(task="locate"), candidate(pull(thread("1", position=0))), "every comment is outdated"),
    Row(DropOutdated(task="assess"), candidate(pull(thread("1", position=0)))),
    Row(DropOutdated(), candidate(pull(thread("1", line=None, position=None, whole_file=True)))),
    Row(DropOutdated(), candidate(pull(thread("1", line=None, position=None, whole_file=True, outdated=True))),
        "every comment is outdated"),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{type(row.stage).__name__}-{row.reason}")
def test_what_is_kept_and_why_not(row: Row) -> None:
    said = row.stage.narrow(row.item)
    assert (said if isinstance(said, str) else None) == row.reason


@pytest.mark.parametrize("stage", [DropUnmerged(), UNFORCED, COMMENTED, DropBots(), DropOutdated()])
def test_a_case_from_a_bare_history_is_dropped_with_that_reason(stage: Stage) -> None:
    assert stage.narrow(candidate(None)) == "no pull request behind it"


def test_open_issues_are_taken_off_and_one_closed_must_be_left() -> None:
    done, todo = Issue(number=3, title="done"), Issue(number=4, title="todo")
    histories = (
        IssueHistory(repo="acme/shop", issue=done, state="closed"),
        IssueHistory(repo="acme/shop", issue=todo, state="open"),
    )
    both = candidate(pull(issues=histories), issues=(done, todo))
    kept = DropUnmerged().narrow(both)
    assert isinstance(kept, Candidate)
    assert kept.case.change.issues == (done,)
    assert DropUnmerged().narrow(candidate(pull(issues=histories), issues=(todo,))) == "no linked issue is closed"
    assert DropUnmerged().narrow(candidate(pull(), issues=(done,))) == "no linked issue is closed", (
        "not known: not closed"
    )


def test_what_bots_said_is_taken_out_everywhere() -> None:
    mixed = pull(
        thread("1", remark("a"), remark("b", BOT), remark("c", ANN)),
        thread("2", remark("d", BOT), remark("e", ANN)),
        conversation=(remark("f", BOT), remark("g", ANN)),
        reviews=(remark("h", BOT),),
    )
    kept = DropBots().narrow(candidate(mixed))
    assert isinstance(kept, Candidate)
    assert kept.pull is not None
    assert [[r.id for r in one.remarks] for one in kept.pull.threads] == [["a", "c"]]
    assert [r.id for r in kept.pull.conversation] == ["g"]
    assert kept.pull.reviews == ()
    assert [c.id for c in kept.case.references] == ["thread-1"], "the reference goes with its thread"


def test_outdated_threads_go_with_their_references_and_phrasings_are_unchained() -> None:
    old, new = thread("1", position=None, outdated=True), thread("2")
    item = candidate(pull(old, new)).with_case(references=(reference(old), reference(new, same_as="thread-1")))
    kept = DropOutdated().narrow(item)
    assert isinstance(kept, Candidate)
    assert [(c.id, c.same_as) for c in kept.case.references] == [("thread-2", None)]
    loose = item.with_case(references=(reference(new, extra={}),))
    assert DropOutdated().narrow(loose) == "a reference that was made from no thread"
