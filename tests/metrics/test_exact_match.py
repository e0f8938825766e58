"""The same text, and what counts as the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from graded_pairs import grades, pairs
from reviewgauge.metrics.exact_match import ExactMatch
from reviewgauge.metrics.texts.text_metric import TextPair
from text_metrics import check_rules, read, value


def test_rules() -> None:
    check_rules(ExactMatch(), most=1)


@pytest.mark.parametrize(("said", "wanted", "same"), [
    ("Fix this.", "Fix this.", 1), (" Fix\n\tthis. ", "Fix this.", 1), ("fix this.", "Fix this.", 0),
    ("Fix this", "Fix this.", 0), ("👍", "👎", 0), ("!!!", " !!! ", 1), ("e\u0301", "é", 0),
])  # fmt: skip
def test_what_is_the_same(said: str, wanted: str, same: int) -> None:
    assert value(ExactMatch(), said, wanted) == same


def test_any_phrasing_will_do_and_the_mean_is_a_share() -> None:
    metric = ExactMatch()
    assert value(metric, "Use a set", "Use a list", "Use a set") == 1
    pairs_of = [TextPair("a", ("a",)), TextPair("b", ("a",)), TextPair("", ("a",)), TextPair("a", ("a", "c"))]
    assert read(metric, metric.segments(pairs_of)) == {"mean": 0.5}


def test_a_comment_of_1_mb() -> None:
    huge = "please look at this again " * 40_000
    assert value(ExactMatch(), huge, "please") == 0
    assert value(ExactMatch(), huge, huge.strip()) == 1


def test_graded_reviews_figure(shared_data: Path) -> None:
    """Spearman with the grade on all 5,164 rows of GradedReviews, recomputed; the paper has none."""
    rows = [TextPair(row.hypothesis, (row.reference,)) for row in pairs(shared_data)]
    scores = [parts["value"] for parts in ExactMatch().segments(rows)]
    assert sum(scores) == 35
    assert spearmanr(scores, np.array(grades(shared_data))).statistic == pytest.approx(0.2836, abs=0.0005)
