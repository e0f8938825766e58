"""Keep every k-th case, from a start that the seed or the user chooses.

Source: GradedReviews (arXiv:2501.05176), section 4.1, takes one of 13 of 16,780 reviews and gets 1,291 (`every=13,
start=1`): positions 1, 14, 27 and so on. Its text prints "1st, 14th, 28th". The count does not tell the start: those
from 1 to 10 give 1,291, those from 11 to 13 give 1,290. Nor does the published file, whose rows are numbered anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.stages.sampling.draws import draw_key


@dataclass(frozen=True)
class Systematic(Stage):
    """Keep position `start` (counted from 1; 0: the seed chooses one) and every `every`-th after it.

    The order is that of the stream, so a pattern in it that repeats with the same period ends up in the sample.
    """

    every: int = 13
    start: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.every < 1 or not 0 <= self.start <= self.every:
            raise ValueError("systematic needs every of 1 or more, and a start from 1 to every (0: by the seed)")

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        first = (self.start or 1 + draw_key(self.seed, "start") % self.every) - 1
        for position, item in enumerate(items):
            if position % self.every == first:
                yield item
            else:
                yield self.drop(item.id, "not drawn", f"position {position + 1}")
        figures = {"start": first + 1, "every": self.every}
        context.report(CardSection(by="systematic", title="Where the sample began", figures=figures))
