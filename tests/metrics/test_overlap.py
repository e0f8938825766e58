"""The overlap of rare words, and its golden figure on GradedReviews."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from scipy.stats import spearmanr

import text_metrics as tm
from graded_pairs import grades, pairs
from reviewgauge.metrics.overlap import KEYWORDS, Overlap
from reviewgauge.metrics.texts.text_metric import TextPair
from reviewgauge.models.text.lexical import FEATURES


@pytest.mark.slow
def test_rules_for_every_text_metric() -> None:
    found = [tm.value(Overlap(), said, wanted) for said in (*tm.BLANK, *tm.ODD) for wanted in tm.ODD]
    assert all(0 <= value <= 1 for value in found)
    assert all(tm.value(Overlap(), said, "Fix the lock") == 0 for said in tm.BLANK)
    assert all(tm.value(Overlap(), text, text) == 1 for text in tm.ODD)


def test_rare_words_count_and_common_ones_do_not() -> None:
    reference = "Please make sure that this is done: the semaphore of the parser thread leaks when it throws."
    rare, common = "semaphore leaks in the parser thread", "please make sure that this is done when it can be"
    assert tm.value(Overlap(), rare, reference) > tm.value(Overlap(), common, reference)


@given(tm.texts, tm.references)
def test_batch_is_one_by_one_and_the_best_reference_counts(said: str, wanted: tuple[str, ...]) -> None:
    metric = Overlap()
    together = metric.segments([TextPair(said, wanted), *(TextPair(said, (text,)) for text in wanted)])
    assert together[0][KEYWORDS] == max(parts[KEYWORDS] for parts in together[1:])
    assert together[0] == metric.segments([TextPair(said, wanted)])[0]
    assert set(FEATURES) < set(together[0])


def test_a_megabyte_beside_a_short_reference() -> None:
    long = "release the semaphore here please " * 30_000
    assert tm.value(Overlap(), long, "release the semaphore") > 0.5


def test_graded_reviews(shared_data: Path) -> None:
    """Own figure: Spearman of `keywords` on all 5,164 rows, no label used."""
    found = Overlap().segments([TextPair(pair.hypothesis, (pair.reference,)) for pair in pairs(shared_data)])
    rho = spearmanr([parts[KEYWORDS] for parts in found], grades(shared_data))[0]
    assert rho == pytest.approx(0.401, abs=0.003)
