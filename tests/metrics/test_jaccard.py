"""The words that two comments share."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from graded_pairs import grades, pairs
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import load
from reviewgauge.metrics.jaccard import Jaccard, Stem
from reviewgauge.metrics.texts.text_metric import TextPair
from text_metrics import check_rules, value

STEMS: tuple[Stem, ...] = ("light", "porter", "none")
SETTINGS = [Jaccard(stem=s, stop_words=w, split=p) for s, w, p in product(STEMS, (True, False), (True, False))]


@pytest.mark.parametrize("metric", [SETTINGS[0], SETTINGS[5], SETTINGS[-1]], ids=str)
def test_rules(metric: Jaccard) -> None:
    check_rules(metric, most=1)


@pytest.mark.parametrize(("spec", "said", "wanted", "share"), [
    ("jaccard", "Release the lock", "the lock is released", 1),
    ("jaccard(stem='none')", "Release the lock", "the lock is released", 1 / 3),
    ("jaccard(stop_words=False)", "Release the lock", "the lock is released", 3 / 4),
    ("jaccard", "rename userId", "rename user_id", 1),
    ("jaccard(split=False)", "rename userId", "rename user_id", 1 / 3),
    ("jaccard(stem='porter', split=False)", "relational databases", "relate the database", 1),
    ("jaccard", "lock lock lock", "lock", 1),  # a set: how often does not matter
    ("jaccard", "is it that", "is it this", 2 / 4),  # nothing but stop words, so they count
    ("jaccard(nothing_left='zero')", "is it that", "is it that", 0),
    ("jaccard(nothing_left='zero')", "this lock", "that lock", 1),
    ("jaccard", "👍🎉", "👍", 1 / 2),  # no word, so marks count
    ("jaccard", "変数", "変更", 1 / 3),
    ("jaccard", "```python\nx = user_id\n```", "python user", 2 / 4),
])  # fmt: skip
def test_shares(spec: str, said: str, wanted: str, share: float) -> None:
    assert value(load(Metric, spec), said, wanted) == pytest.approx(share)


def test_the_closest_phrasing_counts() -> None:
    assert value(Jaccard(), "close file", "open socket", "close file handle") == pytest.approx(2 / 3)


@pytest.mark.parametrize(("spec", "spearman"), [
    ("jaccard", 0.375),
    ("jaccard(nothing_left='zero')", 0.3716),
    ("jaccard(stem='porter', split=False)", 0.4041),
    ("jaccard(stem='none', stop_words=False)", 0.2734),
])  # fmt: skip
def test_graded_reviews_figures(shared_data: Path, spec: str, spearman: float) -> None:
    """Spearman with the grade on all 5,164 rows of GradedReviews, recomputed; the paper has none.

    A first computation of the stemmed, stop-free Jaccard gave .370; `nothing_left='zero'`, which gives two exact
    matches made of stop words 0, comes within .002 of it, and not giving them 0 makes the difference to .375.
    """
    metric = load(Metric, spec)
    assert isinstance(metric, Jaccard)
    found = metric.segments([TextPair(row.hypothesis, (row.reference,)) for row in pairs(shared_data)])
    scores = [parts["value"] for parts in found]
    assert spearmanr(scores, np.array(grades(shared_data))).statistic == pytest.approx(spearman, abs=0.0005)
