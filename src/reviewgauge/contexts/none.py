"""Nothing: the reviewer sees the code that it is asked about, and no more.

Source: the row "Base" of ContextCRBench (arXiv:2511.07017), "No context" of AACR-Bench (arXiv:2601.19494).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change


@dataclass(frozen=True)
class None_(Context):  # noqa: N801 - None is a keyword
    """No excerpt."""

    def excerpts(self, change: Change, piece: Change) -> Iterable[Excerpt]:
        """None."""
        return ()
