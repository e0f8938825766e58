"""Keep the first cases, for a look before the whole is paid for.

Source: this project; `review --limit N` adds this stage. A sample that figures are to be told from is `systematic`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.parameters import Positive
from reviewgauge.core.protocols import Stage, StageOutput


@dataclass(frozen=True)
class First(Stage):
    """Keep the first `cases` of the stream."""

    cases: Positive = 10

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        for position, item in enumerate(items, 1):
            yield item if position <= self.cases else self.drop(item.id, f"after the first {self.cases}")
