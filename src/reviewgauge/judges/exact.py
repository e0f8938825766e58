"""Two comments raise the same thing only when they read the same, white space apart.

Source: own; for probes, tests and tools that repeat a reference word by word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.protocols import Judge
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import Verdict

_SAME = Verdict(probability=1.0, same=True, reason="the same text")
_OTHER = Verdict(probability=0.0, same=False, reason="another text")


@dataclass(frozen=True)
class Exact(Judge):
    """Equal bodies after runs of white space became one blank."""

    kind: ClassVar[str] = "judges"

    def judge(
        self, case: Case, comments: Sequence[Comment], references: Sequence[Comment], review: Review
    ) -> Sequence[Sequence[Verdict | None]]:
        """Probability 1 or 0 for every pair."""
        known = [reference.body.split() for reference in references]
        return [[_SAME if comment.body.split() == words else _OTHER for words in known] for comment in comments]
