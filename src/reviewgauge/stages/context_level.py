"""State how far one must look to see each finding: the diff, the whole file, or other files of the repository.

Source: AACR-Bench (arXiv:2601.19494) has people say so of each comment, by its three levels. It prints no prompt: the
words are our own, and no level that a model gave is a published one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import Comment, RequiredContext
from reviewgauge.core.trust import ModelName
from reviewgauge.judges.classes.classes import Classifier
from reviewgauge.stages.asking.stage import AskingStage, code_of, decision, place_of, prompt_pins, raw_votes


@dataclass(frozen=True)
class ContextLevel(AskingStage):
    """Sets `needs` of the references (`of="both"`: of the neutral comments too). More than half of the `votes` decide.

    What states its level keeps it. A comment whose diff hunk is not at hand is not asked about and states none.
    """

    model: ModelName
    prompt: Literal["own"] = "own"
    votes: int = 1
    of: Literal["references", "both"] = "references"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._classifier  # noqa: B018  (raises)

    @property
    def _classifier(self) -> Classifier:
        return Classifier(self.model, "context", self.votes)

    @override
    def pins(self) -> Mapping[str, str]:
        return prompt_pins(self._classifier.words)

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        comments = (*item.case.references, *(item.case.neutral if self.of == "both" else ()))
        levels: dict[str, Comment] = {}
        for comment in comments:
            code = code_of(item, comment)
            if comment.needs is not None or not code or not comment.body.strip():
                continue
            found = self._classifier.decide({"diff_hunk": code, "review_comment": comment.body})
            levels[comment.id] = comment.model_copy(update={"needs": RequiredContext(found.value)})
            shown = f"{place_of(comment)}\n\n{code}\n\n{comment.body}".strip()
            yield decision(self, item, shown=shown, decided=found.value, reason=raw_votes(found.votes))
        yield item.with_case(
            references=tuple(levels.get(comment.id, comment) for comment in item.case.references),
            neutral=tuple(levels.get(comment.id, comment) for comment in item.case.neutral),
        )
