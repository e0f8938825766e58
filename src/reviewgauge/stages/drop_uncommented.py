"""Drop pull requests that nobody reviewed in words.

Source: SWR-Bench (arXiv:2509.01494, step 1) excludes pull requests "without any review comments, as they lack the
necessary interaction".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.history import PullRequest, Remark
from reviewgauge.stages.pull_requests.candidates import PullStage, is_other


@dataclass(frozen=True)
class DropUncommented(PullStage):
    """Keep pull requests of which a person other than the author said something.

    `where`: `inline` counts comments on the diff, `review` also the words of submitted reviews, `any` also the
    conversation.
    """

    needs_pulls: ClassVar[bool] = True

    where: Literal["inline", "review", "any"] = "inline"

    @override
    def narrow_pull(self, item: Candidate, pull: PullRequest) -> Candidate | str:
        remarks: list[Remark] = [remark for thread in pull.threads for remark in thread.remarks]
        if self.where != "inline":
            remarks += [remark for remark in pull.reviews if remark.body.strip()]
        if self.where == "any":
            remarks += pull.conversation
        return (
            item
            if any(is_other(pull, remark.author) for remark in remarks)
            else "no review comment by a person other than its author"
        )
