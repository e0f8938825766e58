"""What `where` can count on a candidate, as it is when the stage sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reviewgauge.core.building import Candidate
from reviewgauge.core.history import PullRequest
from reviewgauge.repo.diff.diffs import count_changed
from reviewgauge.stages.pull_requests.candidates import NO_PULL, inline_comments, is_other

Count = Callable[[Candidate], int | str]  # the number, or why there is none
FORCED = frozenset({"head_ref_force_pushed", "HeadRefForcePushedEvent"})  # as REST and GraphQL call it


def _changed_lines(item: Candidate) -> int | str:
    change = item.case.change
    return count_changed(change.files) if change.has_diff else _stated(item, "changed_lines")


def _changed_files(item: Candidate) -> int | str:
    return len(item.case.change.files) or _stated(item, "changed_files")


def _stated(item: Candidate, fact: str) -> int | str:
    value = item.case.facts.get(fact)
    return value if isinstance(value, int) and not isinstance(value, bool) else f"no diff at hand, and no fact {fact}"


def _diff_bytes(item: Candidate) -> int | str:
    change = item.case.change
    return sum(_bytes(file.patch or "") for file in change.files) if change.has_diff else "no diff at hand"


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _of_pull(count: Callable[[PullRequest], int | str]) -> Count:
    return lambda item: NO_PULL if item.pull is None else count(item.pull)


def _by_others(pull: PullRequest) -> int:
    return sum(is_other(pull, remark.author) for thread in pull.threads for remark in thread.remarks)


def _longest_comment(pull: PullRequest) -> int:
    return max((_bytes(remark.body) for thread in pull.threads for remark in thread.remarks), default=0)


def _forced_pushes(pull: PullRequest) -> int | str:
    if not pull.events and not pull.revisions:
        return "neither events nor revisions are known"
    events = sum(event.kind in FORCED for event in pull.events)
    return max(events, sum(revision.forced for revision in pull.revisions))


COUNTS: Mapping[str, Count] = {
    "changed_lines": _changed_lines,
    "changed_files": _changed_files,
    "diff_bytes": _diff_bytes,
    "inline_comments": _of_pull(lambda pull: inline_comments(pull.threads)),
    "comments_by_others": _of_pull(_by_others),
    "longest_comment": _of_pull(_longest_comment),
    "forced_pushes": _of_pull(_forced_pushes),
}
