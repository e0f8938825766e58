"""The worked example of statistics.md gives the figures that the page prints."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from analysis_toys import BENCHMARK, Micro, make_cases, micro_scores
from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.analysis.stats.power import clusters_needed, detectable_difference
from reviewgauge.core.reports.leaderboard import Estimate
from reviewgauge.core.results import Score
from reviewgauge.engine.run.scored_run import ScoredRun

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "statistics.md").read_text(encoding="utf-8")
CASES = make_cases(12, repositories=3)


@pytest.fixture(scope="module")
def scores() -> list[Score]:
    rows = re.findall(r"^\| \d+ \| (\d)/(\d)/(\d) \| (\d)/(\d)/(\d) \|$", PAGE, flags=re.M)
    assert len(rows) == 12
    table = np.array(rows, dtype=np.float64)
    return micro_scores("careful", CASES, table[:, :3]) + micro_scores("chatty", CASES, table[:, 3:])


def shown(estimate: Estimate | None) -> str:
    assert estimate is not None and estimate.value is not None
    assert estimate.low is not None and estimate.high is not None
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def test_the_page_prints_what_the_code_gives(scores: list[Score]) -> None:
    board = leaderboard(ScoredRun(Micro(), CASES, scores, dataset="example", benchmark=BENCHMARK))
    systems = {row.system: row for row in board.systems}
    measures = ["precision", "recall", "f1"]
    table = compare(ScoredRun(Micro(), CASES, scores, dataset="example", benchmark=BENCHMARK), measures=measures)
    for c in table.comparisons:
        assert None not in (c.difference, c.low, c.high, c.p, c.p_holm, c.detectable)
        cells = [
            {"f1": "F1"}.get(c.measure, c.measure), shown(systems["careful"].estimate(c.measure)),
            shown(systems["chatty"].estimate(c.measure)), f"{c.difference:.3f} [{c.low:.3f}, {c.high:.3f}]",
            f"{c.p:.4f}", f"{c.p_holm:.4f}", f"{c.detectable:.3f}",
        ]  # fmt: skip
        assert f"| {' | '.join(cells)} |" in PAGE
    f1 = table.comparisons[2]
    assert f1.p == 22 / 4096
    assert f1.test == "paired sign flips, exact, all 4,096"


def test_the_page_counts_the_changes_that_half_the_difference_takes() -> None:
    one = detectable_difference(1.0, 12)
    assert one is not None
    error = 0.34 / one
    needed = clusters_needed(error, 12, 0.17)
    assert f"half of 0.34 takes {needed} changes" in " ".join(PAGE.split())
