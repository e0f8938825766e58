"""Drop changes whose diff, or one of whose review comments, is excessively long.

Source: ContextCRBench's length constraints (arXiv:2511.07017, section 2.3.1): "excessively long (exceeding 1MB)". The
paper does not say whether that is a million bytes or 1,048,576; a million is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.protocols import Stage


@dataclass(frozen=True)
class DropLong(Stage):
    """Keep changes whose patches together, and each of whose comments, are at most `size` bytes of UTF-8."""

    size: int = 1_000_000

    @override
    def narrow(self, item: Candidate) -> Candidate | str:
        change = item.case.change
        if not change.has_diff:
            return "no diff at hand"
        if sum(_bytes(file.patch) for file in change.files if file.patch is not None) > self.size:
            return f"a diff of more than {self.size} bytes"
        bodies = [comment.body for comment in item.case.references]
        if item.pull is not None:
            bodies += [remark.body for thread in item.pull.threads for remark in thread.remarks]
        if any(_bytes(text) > self.size for text in bodies):
            return f"a review comment of more than {self.size} bytes"
        return item


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
