"""The same text, and what counts as the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import spearmanr

from graded_pairs import grades, pairs
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import load
from reviewgauge.metrics.exact_match import ExactMatch
from reviewgauge.metrics.texts.text_metric import TextPair
from text_metrics import check_rules, read, texts, value

SPECS = ("exact_match", "exact_match(variant='raw')", "exact_match(ignore_case=True, ignore_punctuation=True)")


@pytest.mark.parametrize("spec", SPECS)
def test_rules(spec: str) -> None:
    check_rules(load(Metric, spec), most=1)


@pytest.mark.parametrize(
    ("said", "wanted", "by_default", "raw", "forgiving"),
    [
        ("Fix this.", "Fix this.", 1, 1, 1),
        (" Fix\n\tthis. ", "Fix this.", 1, 0, 1),
        ("fix this", "Fix this.", 0, 0, 1),
        ("Fix-this!", "fix this", 0, 0, 0),  # taking a mark out does not part words
        ("don’t", "dont", 0, 0, 1),
        ("a < b", "a > b", 0, 0, 0),  # Unicode calls these symbols, not punctuation
        ("👍", "👎", 0, 0, 0),
        ("!!!", "???", 0, 0, 0),  # nothing else is left, so it counts
        ("!!!", " !!! ", 1, 0, 1),
        ("STRASSE", "straße", 0, 0, 1),
        ("e\u0301", "é", 0, 0, 0),
        ("修复", "修复。", 0, 0, 1),
    ],
)
def test_what_is_the_same(said: str, wanted: str, by_default: int, raw: int, forgiving: int) -> None:
    assert [value(load(Metric, spec), said, wanted) for spec in SPECS] == [by_default, raw, forgiving]


@given(texts.filter(str.strip), texts.filter(str.strip))
def test_symmetric_and_each_rule_forgives_more(a: str, b: str) -> None:
    for spec in SPECS:
        assert value(load(Metric, spec), a, b) == value(load(Metric, spec), b, a)
        assert value(load(Metric, spec), a, a) == 1
    raw, collapsed, forgiving = (value(load(Metric, SPECS[i]), a, b) for i in (1, 0, 2))
    assert raw == float(a == b) <= collapsed <= forgiving


def test_any_phrasing_will_do_and_the_mean_is_a_share() -> None:
    metric = ExactMatch()
    assert value(metric, "Use a set", "Use a list", "Use a set") == 1
    pairs_of = [TextPair("a", ("a",)), TextPair("b", ("a",)), TextPair("", ("a",)), TextPair("a", ("a", "c"))]
    assert read(metric, metric.segments(pairs_of)) == {"mean": 0.5}


def test_raw_and_forgiving_at_once_is_refused() -> None:
    with pytest.raises(UserError, match="do not apply"):
        load(Metric, "exact_match(variant='raw', ignore_case=True)")


def test_a_comment_of_1_mb() -> None:
    huge = "please look at this again " * 40_000
    assert value(ExactMatch(), huge, "please") == 0
    assert value(ExactMatch(ignore_punctuation=True), huge, huge.strip() + "!") == 1


def test_graded_reviews_figure(shared_data: Path) -> None:
    """Spearman with the grade on all 5,164 rows of GradedReviews, recomputed; the paper has none."""
    rows = [TextPair(row.hypothesis, (row.reference,)) for row in pairs(shared_data)]
    for metric in (ExactMatch(), ExactMatch(variant="raw")):
        scores = [parts["value"] for parts in metric.segments(rows)]
        assert sum(scores) == 35
        assert spearmanr(scores, np.array(grades(shared_data))).statistic == pytest.approx(0.2836, abs=0.0005)
