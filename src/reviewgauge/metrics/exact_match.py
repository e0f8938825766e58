"""Exact match: the review says the reference, word for word.

Source: Tufano et al., "Using Pre-Trained Models to Boost Code Review Automation", ICSE 2022, and the code review
papers since, which call it EM or perfect predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reviewgauge.core.results import Parts
from reviewgauge.metrics.texts.text_metric import VALUE, TextMetric, TextNormaliser, TextPair


@dataclass(frozen=True)
class ExactMatch(TextMetric):
    """1 where the text equals a phrasing of the reference, else 0; the mean is the share of exact matches.

    By default the ends are stripped and a run of white space counts as one blank. `ignore_case` and
    `ignore_punctuation` (what Unicode calls punctuation: `<`, `+` and emoji are symbols, and stay) forgive more;
    `variant="raw"` forgives nothing. Unicode forms are not unified: an accent that is a character of its own differs.
    """

    variant: Literal["", "raw"] = ""
    ignore_case: bool = False
    ignore_punctuation: bool = False

    def __post_init__(self) -> None:
        self._rule  # noqa: B018

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """1 or 0 each."""
        same = self._rule
        return [
            {VALUE: float(bool(hypothesis.strip()) and same(hypothesis) in {same(text) for text in references})}
            for hypothesis, references in pairs
        ]

    @property
    def _rule(self) -> TextNormaliser:
        return TextNormaliser(self.variant, self.ignore_case, self.ignore_punctuation)
