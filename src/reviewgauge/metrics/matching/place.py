"""How much the place of a comment says about whether it raises a finding: Bayes' rule over what happens by chance.

A comment on 3 labelled of 200 changed lines says much, one on 10 of 12 little. Chance is fitted on AACR-Bench
(arXiv:2601.19494): 25,138 pairs of *different* comments on one change, of which 3.4% stand on the same lines; spans
thrown at random on the changed lines would in 3.5%. They meet oftener where their words are alike, since both speak of
the code that stands there. Out of fold by repository the log loss falls from .148 to .128 (`benchmarks/place.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from reviewgauge.core.records import ChangedFile, Comment, Span
from reviewgauge.core.results import Pair
from reviewgauge.judges.pairs.fixes import MENDED
from reviewgauge.judges.pairs.lexical_model import sigmoid
from reviewgauge.repo.diff.diffs import count_changed

ON_THE_LINES = 0.85
"""P(on the lines | the same finding). Of 30 experts' comments on labelled defects 27 were."""
ELSEWHERE = 0.05
"""P(in another file | the same finding)."""
ALL_PAIRS = 0.08
"""The share of the pairs of a comment and a finding of one change that are the same, where the random chance is usual;
it grows with the root of that chance, as a small change has less to speak of. Chosen on the experts' comments on three
repositories (`benchmarks/experts.py`)."""
WITHOUT_PLACE = 0.2
"""The same for a fix and a comment of which one has no lines. Chosen on the same comments without their lines: of 30,
23 are credited, and empty words count nothing."""
BY_CHANCE = (0.004, 0.722, 0.221)
"""logit P(on the lines | another finding): a constant, by the log of the random chance, by the logit of the words."""
LEAST_RANDOM, USUAL_RANDOM = 0.002, 0.035
"""The least random chance that was seen, and its mean, for changes whose lines are not at hand."""
MOST_LINES, MOST_SHARE = 10, 0.25
"""Lines of a comment, and their share of the changed ones, over both of which it stands nowhere in particular."""
USUAL_LENGTH = 3
"""Lines of a comment: the mean over AACR-Bench, 3.4."""
USUAL_SHARE = 0.25
"""The share of the changed lines that lie in a finding's file, where they are not at hand: as above."""


class ChangedLines:
    """How many lines of a change a comment could stand on, in all and by path."""

    def __init__(self, files: Sequence[ChangedFile]) -> None:
        self._of = {file.path: count_changed([file]) for file in files}
        self._all = sum(self._of.values())

    def weigh(
        self, probability: float, base_rate: float, comment: Comment, reference: Comment, place: Pair
    ) -> float | None:
        """A probability by words alone, with the place weighed in; None where there is nothing to weigh.

        Its odds times P(this place | the same finding) / P(this place | another one), at the rate of all pairs:
        `base_rate` is that of the pairs behind the probability. Of a fix and a comment without a place the rate alone
        is weighed in, else a bot that says "hi" and no line would be likelier to mean it than one that names a line.
        """
        if not 0 < probability < 1:
            return None
        words = probability / (1 - probability)
        if comment.span is None or reference.span is None:
            return _at(words, WITHOUT_PLACE, base_rate) if reference.origin in MENDED else None
        if place.located is None:
            return None
        random = self._random(comment.span, reference.span)
        constant, by_random, by_words = BY_CHANCE
        chance = min(ON_THE_LINES, sigmoid(constant + by_random * math.log(random) + by_words * math.log(words)))
        share = max(chance, self._share(reference.span.path))
        factor = ON_THE_LINES / chance
        if place.same_path and not place.located:  # other lines are never better than the right ones
            factor = min(factor, (1 - ON_THE_LINES - ELSEWHERE) / max(ELSEWHERE, share - chance))
        elif not place.located:
            factor = ELSEWHERE / max(ELSEWHERE, 1 - share)
        rate = ALL_PAIRS * math.sqrt(self._random(reference.span) / USUAL_RANDOM)  # not the comment's to choose
        return _at(words * factor, rate, base_rate)

    def tells_where(self, span: Span) -> bool:
        """Whether a comment with this span stands anywhere: not one on ten lines and a quarter of all that changed."""
        return _length(span) <= MOST_LINES or not self._all or _length(span) <= MOST_SHARE * self._all

    def _random(self, *spans: Span) -> float:
        """The chance that two spans of these lengths (a usual one, where one is given) meet on the changed lines."""
        if not self._all:
            return USUAL_RANDOM
        length = sum(map(_length, spans)) + USUAL_LENGTH * (2 - len(spans))
        return min(1.0, max(LEAST_RANDOM, (length + 1) / self._all))

    def _share(self, path: str) -> float:
        return self._of.get(path, 0) / self._all if self._all else USUAL_SHARE


def _at(odds: float, rate: float, base_rate: float) -> float:
    """The probability of odds that were found at `base_rate`, at another rate."""
    odds *= (rate / (1 - rate)) / (base_rate / (1 - base_rate))
    return odds / (1 + odds)


def _length(span: Span) -> int:
    return span.end - span.start + 1 if span.start is not None and span.end is not None else 1
