"""reference/contexts.md: its specs are contexts."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from reviewgauge.reviewers.reading.context_text import COMBINATIONS, load_contexts

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "contexts.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (?:Base|No context|BM25|Embedding)[+\w]* \| `(\w+)` \| `(.+)` \|$", PAGE, re.MULTILINE)


def test_the_combinations_of_the_papers_are_contexts() -> None:
    assert len(ROWS) == 8 + 3
    assert [name for name, _ in ROWS] == list(COMBINATIONS)
    found = [load_contexts(ast.literal_eval(row)) for _, row in ROWS]
    assert [load_contexts(name) for name in COMBINATIONS] == found
    assert len(set(found)) == 8 + 2  # "none" stands in both
