"""Title and description of the pull request.

Source: "P" of ContextCRBench (arXiv:2511.07017), 2.2.1. AACR-Bench's prompt shows both by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change


@dataclass(frozen=True)
class Pr(Context):
    """One excerpt; none where neither was written."""

    in_change: ClassVar[bool] = True

    def excerpts(self, change: Change, piece: Change) -> Iterator[Excerpt]:
        """Title and description, a blank line between them."""
        text = "\n\n".join(part.strip() for part in (change.title, change.description) if part.strip())
        if text:
            yield Excerpt(name="the pull request", text=text)
