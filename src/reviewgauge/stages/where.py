"""Keep the cases of which a fact has one of some values, or a number lies within limits.

Source: this project; facts are what each data set states on its cases (`reviewgauge info`, docs/reference/datasets.md).
The papers' limits are such: AACR-Bench (arXiv:2601.19494) keeps changes of at most 1,000 lines with more than two
inline comments of which one was adopted; SWR-Bench (arXiv:2509.01494) leaves out large, rebased and uncommented pull
requests; ContextCRBench (arXiv:2511.07017) diffs and comments over 1 MB.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.protocols import Stage
from reviewgauge.core.trust import Word
from reviewgauge.stages.pull_requests.counts import COUNTS


@dataclass(frozen=True)
class Where(Stage):
    """Keep cases whose `fact` is one of `values`, or is `at_least` and `at_most` so many.

    `repo` stands for the change's repository. Counted on the spot, on what earlier stages left: `changed_lines` and
    `changed_files` of the diff (without one, the facts), `diff_bytes`; and of the pull request behind a case
    `inline_comments` of people, `comments_by_others` than the author, the size of its `longest_comment` in bytes, and
    its `forced_pushes`.
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
