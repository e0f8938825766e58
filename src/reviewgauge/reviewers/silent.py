"""Says nothing: the baseline of recall, and what a team has without a reviewer.

A null baseline, as microsoft/BC-Bench#681 asks of every benchmark: silence must not score as perfect precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, Review


@dataclass(frozen=True)
class Silent(Reviewer):
    """Returns an empty review for every change. It needs no code."""

    needs_diff: ClassVar[bool] = False
    baseline: ClassVar[bool] = True

    def review(self, change: Change) -> Review:
        """A review without comments."""
        return Review(case=change.id or change.repo, system=self.system)
