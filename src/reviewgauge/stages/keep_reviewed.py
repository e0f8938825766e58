"""Keep changes that were reviewed richly: more than n inline comments, and one of them adopted.

Source: AACR-Bench's review richness (arXiv:2601.19494). Section 3 says "> 2 inline comments", appendix A "at least
two"; the first is the default, `comments=1` is the second. "Adopted" is a comment that led to a change of the code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.history import PullRequest
from reviewgauge.stages.pull_requests.candidates import PullStage, inline_comments, is_bot


@dataclass(frozen=True)
class KeepReviewed(PullStage):
    """Keep what has more than `comments` inline comments of people, of which at least `adopted` threads were acted on.

    `count`: `comments` counts answers too, as a forge lists inline comments; `threads` counts each discussion once.
    Put find_adopted before it, which states the fact `adopted`.
    """

    needs_pulls: ClassVar[bool] = True

    comments: int = 2
    adopted: int = 1
    count: Literal["comments", "threads"] = "comments"

    @override
    def narrow_pull(self, item: Candidate, pull: PullRequest) -> Candidate | str:
        if self.count == "comments":
            found = inline_comments(pull.threads)
        else:
            found = sum(not is_bot(thread.opened_by) for thread in pull.threads)
        if found <= self.comments:
            return f"no more than {self.comments} inline {self.count}"
        acted_on = item.case.facts.get("adopted")
        if self.adopted and not isinstance(acted_on, int):
            return "no fact adopted: find_adopted did not look at it"
        if isinstance(acted_on, int) and acted_on < self.adopted:
            return "no comment was adopted" if self.adopted == 1 else f"fewer than {self.adopted} adopted comments"
        return item
