"""The lines under a result."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reviewgauge.analysis.doctor.limits import SIZE
from reviewgauge.core.building import CardSection
from reviewgauge.core.reports.build_card import BuildCard
from reviewgauge.engine.score import ScoreTotals
from reviewgauge.stages.history.card import more_section
from reviewgauge.views.terminal.closing import build_lines, measuring_line, score_line


@pytest.mark.parametrize(
    ("done", "words"), [(0, "0 reviews measured"), (1, "1 review measured"), (1234, "1,234 reviews m")]
)
def test_one_review_is_one_review(done: int, words: str) -> None:
    totals = ScoreTotals(metric="m", done=done, seconds=1.0)
    assert score_line(totals, estimated=False).startswith(words)
    assert measuring_line([totals], 1.0, estimated=False).startswith(words)


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (("",), "more labels: --set strict=false (up to 2 more), several repositories in one build"),
        ((": a", ": b"), "more labels: --set strict=false (up to 4 more)"),
    ],
)
def test_a_build_of_several_repositories_is_not_told_to_take_several(of: tuple[str, ...], words: str) -> None:
    histories = [more_section({"strict=false": {1, 2}, "horizon=365": set()}, name) for name in of]
    sections = (CardSection(by="build", title=SIZE), *histories)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    card = BuildCard(title="b", recipe="r", source="s", built=now, reviewgauge="1", cases=2, sections=sections)
    assert words in build_lines("b", card, 0)
