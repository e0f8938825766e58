"""Two comments raise the same thing when they share enough stemmed words: the simplest offline judge.

Source: the coefficient of Dice (1945), on distinct stemmed words without stop words. Threshold and the sigmoid that
turns the coefficient into a probability were fitted as for `lexical`; see docs/offline-judge.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewbench.core.protocols import Judge
from reviewbench.core.records import Case, Comment, Review
from reviewbench.core.results import Verdict
from reviewbench.judges._lexical_model import load_weights, sigmoid
from reviewbench.models.lexical import dice


@dataclass(frozen=True)
class Dice(Judge):
    """Yes from a Dice coefficient of `cut` on; None takes the fitted one. `low` and `high` bound the unsure band."""

    cut: float | None = None
    low: float = 0.1
    high: float = 0.9

    kind: ClassVar[str] = "judges"
    estimate: ClassVar[str] = "offline estimate"

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high <= 1:
            raise ValueError(f"low={self.low} and high={self.high} are no band within 0..1")
        if self.cut is not None and not 0 <= self.cut <= 1:
            raise ValueError(f"cut={self.cut} is no Dice coefficient")

    def _probability(self, coefficient: float) -> float:
        fitted = load_weights()[0].dice
        return sigmoid(fitted.slope * coefficient + fitted.intercept)

    @property
    def threshold(self) -> float:
        """The probability that belongs to the cut."""
        return self._probability(load_weights()[0].dice.cut if self.cut is None else self.cut)

    @property
    def sure(self) -> float:
        """The upper end of the unsure band."""
        return self.high

    def pins(self) -> Mapping[str, str]:
        """The hash of the weights."""
        return {"lexical weights": load_weights()[1][:16]}

    def judge(
        self, case: Case, comments: Sequence[Comment], references: Sequence[Comment], review: Review
    ) -> Sequence[Sequence[Verdict | None]]:
        """A Verdict for every pair."""
        return [[self._verdict(comment.body, reference.body) for reference in references] for comment in comments]

    def _verdict(self, comment: str, reference: str) -> Verdict:
        coefficient = 1.0 if comment.split() == reference.split() else dice(comment, reference)
        p = self._probability(coefficient)
        return Verdict(
            probability=p, same=p >= self.threshold, unsure=self.low < p < self.high, reason=f"Dice {coefficient:.2f}"
        )
