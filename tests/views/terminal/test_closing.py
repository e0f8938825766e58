"""The lines under a result."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reviewgauge.analysis.doctor.limits import SIZE
from reviewgauge.core.building import CardSection
from reviewgauge.core.reports.build_card import BuildCard
from reviewgauge.engine.score import ScoreTotals
from reviewgauge.stages.history.card import curve_section
from reviewgauge.stages.history.labels import OfferedLabel
from reviewgauge.views.terminal.closing import build_lines, measuring_line, score_line


@pytest.mark.parametrize(
    ("done", "words"), [(0, "0 reviews measured"), (1, "1 review measured"), (1234, "1,234 reviews m")]
)
def test_one_review_is_one_review(done: int, words: str) -> None:
    totals = ScoreTotals(metric="m", done=done, seconds=1.0)
    assert score_line(totals, estimated=False).startswith(words)
    assert measuring_line([totals], 1.0, estimated=False).startswith(words)


def test_a_build_says_how_many_labels_each_certainty_gives_over_all_histories() -> None:
    one, other = [OfferedLabel(1, 2020, 0.9), OfferedLabel(1, 2020, 0.65)], [OfferedLabel(1, 2024, 0.65)]
    histories = [curve_section(one, ": a"), curve_section(other, ": b")]
    words = "--set certainty=... 0.8: 1 changes, 90% of the labels should hold; 0.7: 1 changes"
    sections = (CardSection(by="build", title=SIZE), *histories)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    card = BuildCard(title="b", recipe="r", source="s", built=now, reviewgauge="1", cases=2, sections=sections)
    assert any(line.startswith(words) for line in build_lines("b", card, 0))
