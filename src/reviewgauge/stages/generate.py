"""Let several reviewers propose further comments, which are neutral until people have verified them.

Source: AACR-Bench (arXiv:2601.19494), appendix B.1: a matrix of models and frameworks proposes comments, since people
alone overlook much. There over 80 engineers then decide which of them are right; no build can do that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.base import content_id
from reviewgauge.core.building import BuildContext, Candidate, DecisionKind
from reviewgauge.core.errors import MissingExtra, NeedsCode, UserError
from reviewgauge.core.protocols import Reviewer, Stage, StageOutput
from reviewgauge.core.records import Change, Comment, Review
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import load
from reviewgauge.core.trust import PluginSpec
from reviewgauge.stages.asking.stage import decision, shown_with


@dataclass(frozen=True)
class Generate(Stage):
    """Adds what `reviewers` say: `reviewers=("prompt(model='openai:gpt-5')", "prompt(model='anthropic:...')")`.

    They are neutral, neither right nor wrong, so that no reviewer gains or loses by a claim that nobody verified. Each
    has `extra["source"] = "generated"` and `extra["proposed"] = True`, and its author is the reviewer. A change fails
    if one reviewer fails: an uneven pool would favour the others.
    """

    example: ClassVar[str] = 'generate(reviewers=("prompt(model=\\"fake:example\\")",))'
    costly: ClassVar[bool] = True
    reviewers: tuple[PluginSpec, ...]

    def __post_init__(self) -> None:
        systems = [reviewer.system for reviewer in self._loaded]
        if not systems:
            raise ValueError("name the reviewers that propose: reviewers=(\"prompt(model='openai:gpt-5')\",)")
        if len(set(systems)) < len(systems):
            raise ValueError("the same reviewer is named twice")

    @property
    def _loaded(self) -> Sequence[Reviewer]:
        return [load(Reviewer, spec) for spec in self.reviewers]

    @property
    def models(self) -> tuple[str, ...]:
        """The models of all reviewers."""
        return tuple(dict.fromkeys(model for reviewer in self._loaded for model in reviewer.models))

    @override
    def pins(self) -> Mapping[str, str]:
        return {f"{r.system}: {name}": value for r in self._loaded for name, value in r.pins().items()}

    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        """The candidate with the proposals. Raises Failed where a reviewer fails."""
        change = item.case.change.model_copy(update={"id": item.id})
        taken = {c.id for c in (*item.case.references, *item.case.neutral, *item.case.rejected)}
        proposals: list[Comment] = []
        for reviewer in self._loaded:
            for comment in _review(reviewer, change).comments:
                if comment.body.strip():
                    proposals.append(_proposal(comment, reviewer.system, taken))
        for one in proposals:
            shown = shown_with(item, one) or "(no place is named)"
            made = decision(self, item, shown=shown, decided=one.body, reason=f"proposed by {one.author}")
            yield made.on(DecisionKind.COMMENT, one.id)
        yield item.with_case(neutral=(*item.case.neutral, *proposals))


def _review(reviewer: Reviewer, change: Change) -> Review:
    """The review, or a Failed that names the reviewer. What would break on every change is raised as it is."""
    within: type[UserError] = NeedsCode  # what may be wrong with this change alone, before the review
    try:
        reviewer.check((change,))
        reviewer.prepare((change,))
        within = UserError
        return reviewer.review(change)
    except MissingExtra:
        raise
    except UserError as error:
        if not isinstance(error, within):
            raise
        failed = error if isinstance(error, Failed) else Failed(FailureKind.REQUEST, error.problem, remedy=error.remedy)
        problem = f"{reviewer.system}: {error.problem}"
        raise Failed(failed.kind, problem, remedy=error.remedy, raw=failed.raw, stops=failed.stops) from None


def _proposal(comment: Comment, system: str, taken: set[str]) -> Comment:
    """A comment as a proposal, with its own id."""
    key = content_id(system, comment.id, comment.span.to_line().decode() if comment.span else "", comment.body)
    name = f"proposed-{key}"
    while name in taken:
        name += "'"
    taken.add(name)
    extra = {**comment.extra, "source": "generated", "proposed": True, "id_in_review": comment.id}
    return comment.model_copy(
        update={"id": name, "author": system, "same_as": None, "reply_to": None, "resolution": None, "extra": extra}
    )
