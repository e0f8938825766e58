"""The base of stages that let a model sort comments into classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import Comment
from reviewgauge.judges.classes.classes import Classifier, PromptKind, What
from reviewgauge.stages.asking.stage import AskingStage, code_of, decision, place_of, prompt_pins, raw_votes

Of = Literal["references", "both"]


class CommentClassStage(AskingStage):
    """Asks `what` of each comment that does not state it and whose diff hunk is at hand."""

    what: ClassVar[What]
    prompt: PromptKind
    votes: int
    of: Of

    def __post_init__(self) -> None:
        super().__post_init__()
        self._classifier  # noqa: B018  (raises)

    def states(self, comment: Comment) -> bool:
        """Whether the comment states its class already."""
        raise NotImplementedError

    def stating(self, comment: Comment, value: str) -> Comment:
        """The comment with its class."""
        raise NotImplementedError

    @property
    def _classifier(self) -> Classifier:
        return Classifier(self.model, self.what, self.votes, self.prompt)

    @override
    def pins(self) -> Mapping[str, str]:
        return prompt_pins(self._classifier.words, fenced=self.prompt != "published")

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        comments = (*item.case.references, *(item.case.neutral if self.of == "both" else ()))
        sorted_ones: dict[str, Comment] = {}
        for comment in comments:
            code = code_of(item, comment)
            if self.states(comment) or not code or not comment.body.strip():
                continue
            found = self._classifier.decide({"diff_hunk": code, "review_comment": comment.body})
            sorted_ones[comment.id] = self.stating(comment, found.value)
            shown = f"{place_of(comment)}\n\n{code}\n\n{comment.body}".strip()
            yield decision(self, item, shown=shown, decided=found.value, reason=raw_votes(found.votes))
        yield item.with_case(
            references=tuple(sorted_ones.get(comment.id, comment) for comment in item.case.references),
            neutral=tuple(sorted_ones.get(comment.id, comment) for comment in item.case.neutral),
        )
