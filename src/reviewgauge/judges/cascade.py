"""A cheap judge decides what it is sure of, and a second one, a chat model, is asked about the rest.

Source: own; a cascade in the sense of Chen et al. 2023, FrugalGPT, arXiv:2305.05176. How much of the offline judge's
band there is to ask about, and what is lost: docs/reference/judges.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.protocols import Judge
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Verdict
from reviewgauge.core.specs import short_spec
from reviewgauge.core.trust import PluginSpec
from reviewgauge.judges.pairs.asking import Cell, Compared, ModelJudge, Table, judge_of, judge_some
from reviewgauge.judges.panel import Several, vote_of


@dataclass(frozen=True)
class Cascade(Several):
    """`first` decides outside its unsure band, `then` inside it, and where its location rule needs no question.

    The band is the first judge's own: `lexical(low=.05, high=.95)` widens it. Without a verdict of `then`, the
    first judge's counts.
    """

    example: ClassVar[str] = 'cascade(then="fake:example")'

    first: PluginSpec = "lexical"
    then: PluginSpec = ""

    def __post_init__(self) -> None:
        if not self.then:
            raise ValueError("a second judge is required, such as then='openai:gpt-5'")
        if self.members[0].models:
            raise ValueError(f"first={self.first!r} asks a model itself; the first judge must be an offline one")

    @property
    def members(self) -> tuple[Judge, Judge]:
        """Both judges."""
        return judge_of(self.first), judge_of(self.then)

    @property
    def threshold(self) -> float:
        """The second judge's, since it decides last."""
        return self.members[1].threshold

    @property
    def sure(self) -> float:
        """The second judge's: the first decides only what it is sure of."""
        return self.members[1].sure

    @property
    def penalty(self) -> float:
        """The first judge's."""
        return self.members[0].penalty

    def judge_some(self, compared: Compared, cells: Sequence[Cell]) -> Mapping[Cell, Verdict | None]:
        """The verdicts on some pairs."""
        first, then = self.members
        found = dict(judge_some(first, compared, cells))
        if isinstance(then, ModelJudge):
            for c, r in cells:
                found[c, r] = then.decided(compared.comments[c], compared.references[r]) or found[c, r]
        unsure = [cell for cell in cells if (v := found[cell]) is None or v.unsure or v.same is None]
        second = judge_some(then, compared, unsure) if unsure else {}
        for cell, verdict in second.items():
            if verdict is not None:
                found[cell] = self._with_history(found[cell], verdict)
        return found

    def _with_history(self, before: Verdict | None, verdict: Verdict) -> Verdict:
        """The second judge's verdict; its first vote is the first judge's."""
        first, then = self.members
        history = Verdict(probability=0.5, reason="nothing to say") if before is None else before
        votes = verdict.votes or (vote_of(then, verdict),)
        return verdict.model_copy(update={"votes": (vote_of(first, history), *votes)})

    def was_asked(self, verdict: Verdict) -> bool:
        """Whether the second judge was asked."""
        return len(verdict.votes) > 1 and verdict.votes[0].rater == short_spec(self.members[0])

    def refine(self, case: Case, tables: Mapping[str, Table], reviews: Mapping[str, Review]) -> Mapping[str, Table]:
        """Refine, by the first judge, the pairs that the second judge did not decide."""
        after = self.members[0].refine(case, tables, reviews)
        return {
            system: [
                [old if old is not None and self.was_asked(old) else new for old, new in zip(row, fresh, strict=True)]
                for row, fresh in zip(table, after[system], strict=True)
            ]
            for system, table in tables.items()
        }
