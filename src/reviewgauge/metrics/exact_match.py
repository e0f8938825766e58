"""Exact match: the review says the reference, word for word.

Source: Tufano et al., "Using Pre-Trained Models to Boost Code Review Automation", ICSE 2022, and the code review
papers since, which call it EM or perfect predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviewgauge.core.results import Parts
from reviewgauge.metrics.texts.text_metric import VALUE, TextMetric, TextPair, one_spaced


@dataclass(frozen=True)
class ExactMatch(TextMetric):
    """1 where the text equals a phrasing of the reference, else 0; the mean is the share of exact matches.

    The ends are stripped and a run of white space counts as one blank. Unicode forms are not unified: an accent that is
    a character of its own differs.
    """

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """1 or 0 each."""
        return [
            {VALUE: float(bool(hypothesis.strip()) and one_spaced(hypothesis) in map(one_spaced, references))}
            for hypothesis, references in pairs
        ]
