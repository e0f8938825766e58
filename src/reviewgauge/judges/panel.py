"""Several judges vote on each pair: different chat models, or models and offline judges together.

Source: panels of judges from several families, Verga et al. 2024, arXiv:2404.18796 (majority and mean pooling).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.protocols import Judge
from reviewgauge.core.results import Verdict, Vote
from reviewgauge.core.specs import short_spec, signature
from reviewgauge.core.trust import PluginSpec
from reviewgauge.judges.pairs.asking import (
    NOT_ASKED,
    Agree,
    Asking,
    Cell,
    Compared,
    WeightedVote,
    agreed,
    judge_of,
    judge_some,
)

IN_PART = "in part "  # before the label of an estimate


class Several(Asking):
    """A judge made of others."""

    @property
    @abstractmethod
    def members(self) -> Sequence[Judge]:
        """The judges."""

    @property
    def estimate(self) -> str:  # type: ignore[override]
        """The label of the offline judges in it."""
        found = dict.fromkeys(judge.estimate.removeprefix(IN_PART) for judge in self.members if judge.estimate)
        return f"{IN_PART if found and self.models else ''}{', '.join(found)}"

    @property
    def reads_labels(self) -> bool:  # type: ignore[override]
        """Whether one of the judges reads labels."""
        return any(judge.reads_labels for judge in self.members)

    @property
    def models(self) -> tuple[str, ...]:
        """All models that are asked."""
        return tuple(dict.fromkeys(model for judge in self.members for model in judge.models))

    def pins(self) -> Mapping[str, str]:
        """The pins of each judge, and its whole spec, under its number."""
        return {
            f"judge {n}{f', {name}' if name else ''}": value
            for n, judge in enumerate(self.members, start=1)
            for name, value in {"": signature(judge), **judge.pins()}.items()
        }


@dataclass(frozen=True)
class Panel(Several):
    """Each judge has one vote, and every vote is kept. `agree`: see docs/reference/judges.md.

    A judge that has nothing to say about a pair is left out of its vote. A vote that failed voids the measurement.
    """

    example: ClassVar[str] = 'panel(judges=("lexical", "fake:example"))'

    judges: tuple[PluginSpec, ...] = ()
    agree: Agree = "majority"

    def __post_init__(self) -> None:
        if len(self.judges) < 2:
            raise ValueError(
                "at least two judges are required, such as judges=('openai:gpt-5', 'anthropic:claude-sonnet-4-5')"
            )
        specs = [signature(judge) for judge in self.members]
        if len(set(specs)) < len(specs):
            raise ValueError("the same judge is named twice; to ask one model several times, use votes=3")

    @property
    def members(self) -> Sequence[Judge]:
        """The judges."""
        return [judge_of(spec) for spec in self.judges]

    @property
    def sure(self) -> float:
        """Judges that decide by themselves are sure of a yes; with an offline judge among them, as sure as it must be.

        So a pair in two files needs a vote that is nearly unanimous where an offline judge takes part.
        """
        offline = [judge.sure for judge in self.members if judge.estimate]
        return max(offline, default=self.threshold)

    def judge_some(self, compared: Compared, cells: Sequence[Cell]) -> Mapping[Cell, Verdict | None]:
        """The verdicts on some pairs."""
        verdicts = [(judge, judge_some(judge, compared, cells)) for judge in self.members]
        return {cell: self._together([(judge, own[cell]) for judge, own in verdicts]) for cell in cells}

    def was_asked(self, verdict: Verdict) -> bool:
        """Whether one of the models was asked."""
        return any(vote.rater.startswith(self.models) for vote in verdict.votes) if self.models else False

    def _together(self, verdicts: Sequence[tuple[Judge, Verdict | None]]) -> Verdict | None:
        given = [(judge, verdict) for judge, verdict in verdicts if verdict is not None]
        if not given:
            return None
        first = given[0][1]
        if len(given) == len(verdicts) and all(
            v.reason.startswith(NOT_ASKED) and v.same == first.same for _, v in given
        ):
            return first
        verdict = agreed([WeightedVote(vote_of(judge, v), v.probability) for judge, v in given], self.agree)
        behind = tuple(
            vote.model_copy(update={"rater": f"{vote.rater}, for judge {n}"})
            for n, (_, one) in enumerate(verdicts, start=1)
            for vote in (one.votes if one is not None else ())
        )
        reason = verdict.reason if len(given) == len(verdicts) else f"{verdict.reason}, of {len(verdicts)} judges"
        return verdict.model_copy(update={"votes": (*verdict.votes, *behind), "reason": reason})


def vote_of(judge: Judge, verdict: Verdict) -> Vote:
    """A judge's verdict as one vote; its confidence is the probability of that verdict."""
    same = verdict.same if verdict.same is not None else verdict.probability >= judge.threshold
    sure = verdict.probability if same else 1.0 - verdict.probability
    return Vote(rater=short_spec(judge), value=same, confidence=sure, reason=verdict.reason)
