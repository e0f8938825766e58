"""The lines under a result."""

from __future__ import annotations

import pytest

from reviewgauge.engine.score import ScoreTotals
from reviewgauge.views.terminal.closing import measuring_line, score_line


@pytest.mark.parametrize(
    ("done", "words"), [(0, "0 reviews measured"), (1, "1 review measured"), (1234, "1,234 reviews m")]
)
def test_one_review_is_one_review(done: int, words: str) -> None:
    totals = ScoreTotals(metric="m", done=done, seconds=1.0)
    assert score_line(totals, estimated=False).startswith(words)
    assert measuring_line([totals], 1.0, estimated=False).startswith(words)
