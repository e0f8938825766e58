"""State a class by a model: of each change its domain; of each comment its category, or the context it takes to see it.

Source: AACR-Bench (arXiv:2601.19494), whose prompts are Figures 5 (nine domains of changes, appendix B.1) and 20 (four
categories of comments, by people in section 3.2). For the context people decide there by three levels, and no prompt is
printed: those words are our own. No class that a model gave is a published one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, DecisionKind
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import Comment, RequiredContext
from reviewgauge.core.trust import ModelName
from reviewgauge.judges.classes.classes import QUESTIONS, Classifier
from reviewgauge.stages.asking.stage import AskingStage, code_of, decision, prompt_pins, raw_votes, shown_with

CODES = {word: code for code, word in QUESTIONS["domain"].options.items()}
CATEGORIES = frozenset(QUESTIONS["category"].options.values())


@dataclass(frozen=True)
class Classify(AskingStage):
    """Of changes ("domain") by title and description: the facts `domain` ("Bug Fix") and `domain_code` ("BF").

    Of references and neutral comments their `category` (security, defect, maintainability or
    performance; another word is replaced), or with "context" their `needs` (diff, file or repo), where they state none.
    A comment whose diff hunk is not at hand is not asked about. More than half of the `votes` decide. `prompt`: the
    paper's words, "published" to the letter, or "fenced" with what people wrote marked as data; of context only ours.
    """

    example: ClassVar[str] = 'classify(model="fake:example", what="domain")'

    model: ModelName
    what: Literal["domain", "category", "context"]
    prompt: Literal["fenced", "published"] = "fenced"
    votes: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._classifier  # noqa: B018  (raises)

    @property
    def _classifier(self) -> Classifier:
        return Classifier(self.model, self.what, self.votes, self.prompt)

    @override
    def pins(self) -> Mapping[str, str]:
        return prompt_pins(self._classifier.words, fenced=self.prompt != "published")

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        if self.what == "domain":
            yield from self._domain(item)
        else:
            yield from self._comments(item)

    def _domain(self, item: Candidate) -> StageOutput:
        change = item.case.change
        if not change.title.strip() and not change.description.strip():
            yield self.drop(item.id, "no title and no description to classify it by")
            return
        found = self._classifier.decide({"pr_title": change.title, "pr_description": change.description})
        shown = f"{change.title}\n\n{change.description}".strip()
        made = decision(self, item, shown=shown, decided=found.value, reason=raw_votes(found.votes))
        yield made.on(DecisionKind.DOMAIN)
        yield item.with_facts({"domain": found.value, "domain_code": CODES[found.value]})

    def _comments(self, item: Candidate) -> StageOutput:
        classified: dict[str, Comment] = {}
        kind = DecisionKind.CATEGORY if self.what == "category" else DecisionKind.CONTEXT
        for comment in (*item.case.references, *item.case.neutral):
            code = code_of(item, comment)
            states = comment.category in CATEGORIES if self.what == "category" else comment.needs is not None
            if states or not code or not comment.body.strip():
                continue
            found = self._classifier.decide({"diff_hunk": code, "review_comment": comment.body})
            stated = {"category": found.value} if self.what == "category" else {"needs": RequiredContext(found.value)}
            classified[comment.id] = comment.model_copy(update=stated)
            shown = shown_with(item, comment, comment.body)
            made = decision(self, item, shown=shown, decided=found.value, reason=raw_votes(found.votes))
            yield made.on(kind, comment.id)
        yield item.with_case(
            references=tuple(classified.get(comment.id, comment) for comment in item.case.references),
            neutral=tuple(classified.get(comment.id, comment) for comment in item.case.neutral),
        )
