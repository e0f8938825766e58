"""State what each change is about: bug fix, new feature, refactoring ... nine domains, by title and description.

Source: AACR-Bench (arXiv:2601.19494), appendix B.1 and Figure 5, whose prompt this is. The words are the data set's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.trust import ModelName
from reviewgauge.judges.classes.classes import QUESTIONS, Classifier
from reviewgauge.stages.asking.stage import AskingStage, decision, prompt_pins, raw_votes

CODES = {word: code for code, word in QUESTIONS["domain"].options.items()}


@dataclass(frozen=True)
class ClassifyDomain(AskingStage):
    """Adds the facts `domain` ("Bug Fix") and `domain_code` ("BF"). More than half of the `votes` decide.

    `prompt`: the paper's words, "published" to the letter, or "fenced" with title and description marked as data.
    """

    model: ModelName
    prompt: Literal["fenced", "published"] = "fenced"
    votes: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._classifier  # noqa: B018  (raises)

    @property
    def _classifier(self) -> Classifier:
        return Classifier(self.model, "domain", self.votes, self.prompt)

    @override
    def pins(self) -> Mapping[str, str]:
        return prompt_pins(self._classifier.words, fenced=self.prompt == "fenced")

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        change = item.case.change
        if not change.title.strip() and not change.description.strip():
            yield self.drop(item.id, "no title and no description to classify it by")
            return
        found = self._classifier.decide({"pr_title": change.title, "pr_description": change.description})
        shown = f"{change.title}\n\n{change.description}".strip()
        yield decision(self, item, shown=shown, decided=found.value, reason=raw_votes(found.votes))
        yield item.with_facts({"domain": found.value, "domain_code": CODES[found.value]})
