"""State what each comment is about: security, defect, maintainability or performance.

Source: AACR-Bench (arXiv:2601.19494), section 3.2, has people sort each comment into these four. The prompt is that of
its Figure 20, with which a model sorts what reviewers find; no category that a model gave is a published one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.records import Comment
from reviewgauge.core.trust import ModelName
from reviewgauge.judges.classes.classes import QUESTIONS, What
from reviewgauge.stages.asking.comment_classes import CommentClassStage, Of

CATEGORIES = frozenset(QUESTIONS["category"].options.values())


@dataclass(frozen=True)
class ClassifyCategory(CommentClassStage):
    """Sets `category` of the references (`of="both"`: of the neutral comments too). More than half of `votes` decide.

    What has one of the four keeps it, another word is replaced. A comment whose diff hunk is not at hand is not asked
    about. `prompt`: the paper's words, "published" to the letter, or "fenced" with hunk and comment marked as data.
    """

    what: ClassVar[What] = "category"

    model: ModelName
    prompt: Literal["fenced", "published"] = "fenced"
    votes: int = 1
    of: Of = "references"

    @override
    def states(self, comment: Comment) -> bool:
        return comment.category in CATEGORIES

    @override
    def stating(self, comment: Comment, value: str) -> Comment:
        return comment.model_copy(update={"category": value})
