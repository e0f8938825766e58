"""The issues that the change is linked to.

Source: "I" of ContextCRBench (arXiv:2511.07017), 2.2.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change


@dataclass(frozen=True)
class Issue(Context):
    """One excerpt an issue: title and body."""

    in_change: ClassVar[bool] = True

    def excerpts(self, change: Change, piece: Change) -> Iterator[Excerpt]:
        """The issues in their order; one without a word is left out."""
        for issue in change.issues:
            text = "\n\n".join(part.strip() for part in (issue.title, issue.body) if part.strip())
            if text:
                yield Excerpt(name=f"issue #{issue.number}", text=text)
