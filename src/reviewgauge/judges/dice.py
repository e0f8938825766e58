"""Two comments raise the same thing when they share enough stemmed words: the simplest offline judge.

Source: the coefficient of Dice (1945), on distinct stemmed words without stop words. Threshold and the sigmoid that
turns the coefficient into a probability were fitted as for `lexical`, and as there, a change of a repository that the
fit has seen is judged by a fit on the others; see docs/explanation/offline-judge.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.protocols import Judge
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import Verdict
from reviewgauge.judges.pairs.fixes import added_words
from reviewgauge.judges.pairs.lexical_model import DiceWeights, check_band, load_weights, sigmoid
from reviewgauge.models.text.lexical import dice


@dataclass(frozen=True)
class Dice(Judge):
    """Yes from a Dice coefficient of `cut` on; None takes the fitted one. `low` and `high` bound the unsure band."""

    cut: float | None = None
    low: float = 0.1
    high: float = 0.9

    kind: ClassVar[str] = "judges"
    estimate: ClassVar[str] = "offline estimate"

    def __post_init__(self) -> None:
        check_band(self.low, self.high, self.cut, "Dice coefficient")

    def _threshold(self, fitted: DiceWeights) -> float:
        return _probability(fitted.cut if self.cut is None else self.cut, fitted)

    @property
    def threshold(self) -> float:
        """The probability at the cut, by the final fit. The `same` of a verdict uses the cut of its own fit."""
        return self._threshold(load_weights()[0].dice)

    @property
    def sure(self) -> float:
        """The upper end of the unsure band."""
        return self.high

    def pins(self) -> Mapping[str, str]:
        """The hash of the file of weights: the final fit and the held-out ones."""
        return {"lexical weights": load_weights()[1][:16]}

    def judge(
        self, case: Case, comments: Sequence[Comment], references: Sequence[Comment], review: Review
    ) -> Sequence[Sequence[Verdict | None]]:
        """A Verdict for every pair, by a fit that has not seen the case's repository."""
        fitted = load_weights()[0].without(case.change.repo).dice
        return [
            [self._verdict(c.body, added_words(c, r, case.change), r.body, fitted) for r in references]
            for c in comments
        ]

    def _verdict(self, comment: str, added: str, reference: str, fitted: DiceWeights) -> Verdict:
        coefficient = 1.0 if comment.split() == reference.split() else dice(added, reference)
        p = _probability(coefficient, fitted)
        return Verdict(
            probability=p,
            same=p >= self._threshold(fitted),
            unsure=self.low < p < self.high,
            reason=f"Dice {coefficient:.2f}",
        )


def _probability(coefficient: float, fitted: DiceWeights) -> float:
    return sigmoid(fitted.slope * coefficient + fitted.intercept)
