"""State how far one must look to see each finding: the diff, the whole file, or other files of the repository.

Source: AACR-Bench (arXiv:2601.19494) has people say so of each comment, by its three levels. It prints no prompt: the
words are our own, and no level that a model gave is a published one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.records import Comment, RequiredContext
from reviewgauge.core.trust import ModelName
from reviewgauge.judges.classes.classes import What
from reviewgauge.stages.asking.comment_classes import CommentClassStage, Of


@dataclass(frozen=True)
class ContextLevel(CommentClassStage):
    """Sets `needs` of the references (`of="both"`: of the neutral comments too). More than half of the `votes` decide.

    What states its level keeps it. A comment whose diff hunk is not at hand is not asked about and states none.
    """

    what: ClassVar[What] = "context"

    model: ModelName
    prompt: Literal["own"] = "own"
    votes: int = 1
    of: Of = "references"

    @override
    def states(self, comment: Comment) -> bool:
        return comment.needs is not None

    @override
    def stating(self, comment: Comment, value: str) -> Comment:
        return comment.model_copy(update={"needs": RequiredContext(value)})
