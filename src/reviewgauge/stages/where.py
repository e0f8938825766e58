"""Keep the cases of which a fact has one of some values, or a number lies within limits.

Source: this project; facts are what each data set states on its cases (`reviewgauge info`, docs/reference/datasets.md).
The papers' limits are such: AACR-Bench (arXiv:2601.19494) keeps changes of at most 1,000 lines with more than two
inline comments of which one was adopted; SWR-Bench (arXiv:2509.01494) leaves out large, rebased and uncommented pull
requests; ContextCRBench (arXiv:2511.07017) diffs and comments over 1 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.protocols import Stage
from reviewgauge.core.pull_requests import PullRequest
from reviewgauge.core.trust import Word
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


JUDGED_BY = "judged_by"
COUNTS: Mapping[str, Count] = {
    "changed_lines": _changed_lines,
    "changed_files": _changed_files,
    "diff_bytes": _diff_bytes,
    "inline_comments": _of_pull(lambda pull: inline_comments(pull.threads)),
    "comments_by_others": _of_pull(_by_others),
    "longest_comment": _of_pull(_longest_comment),
    "forced_pushes": _of_pull(_forced_pushes),
    JUDGED_BY: lambda item: int(item.case.facts.get(JUDGED_BY, 0)),
}


@dataclass(frozen=True)
class Where(Stage):
    """Keep cases whose `fact` is one of `values`, or is `at_least` and `at_most` so many.

    `repo` stands for the change's repository. Counted on the spot, on what earlier stages left: `changed_lines` and
    `changed_files` of the diff (without one, the facts), `diff_bytes`; and of the pull request behind a case
    `inline_comments` of people, `comments_by_others` than the author, the size of its `longest_comment` in bytes, and
    its `forced_pushes`; `judged_by` is how many people judged it on their own (`build --labels`).
    """

    example: ClassVar[str] = 'where(fact="language", values=("python",))'

    fact: Word = ""
    values: tuple[Word | int | float | bool, ...] = ()
    at_most: float | None = None
    at_least: float | None = None

    def __post_init__(self) -> None:
        limited = self.at_most is not None or self.at_least is not None
        if not self.fact or bool(self.values) == limited:
            raise ValueError(
                "where needs a fact, and values or limits: where(fact='language', values=('python',)), "
                "where(fact='changed_lines', at_most=1000)"
            )

    @override
    def narrow(self, item: Candidate) -> Candidate | str:
        case = item.case
        value = case.change.repo if self.fact == "repo" else case.facts.get(self.fact)
        if self.fact in COUNTS:
            counted = COUNTS[self.fact](item)
            if isinstance(counted, str):
                return counted
            value = counted
        if value is None:
            return f"does not state {self.fact}"
        if self.values:
            same_kind = (wanted for wanted in self.values if isinstance(wanted, bool) == isinstance(value, bool))
            return item if value in same_kind else f"{self.fact} is {value}"
        if isinstance(value, (bool, str)):
            return f"{self.fact} is not a number"
        if self.at_most is not None and value > self.at_most:
            return f"{self.fact} over {self.at_most:g}"
        return item if self.at_least is None or value >= self.at_least else f"{self.fact} under {self.at_least:g}"
