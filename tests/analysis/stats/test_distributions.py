from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.stats.distributions import _Distances, density, grade_rows, ks_table


def test_a_row_for_each_grade() -> None:
    score = np.array([5.0, 1.0, 2.0, 3.0, 10.0, 7.0])
    human = np.array([2.0, 1.0, 1.0, 1.0, 1.0, 3.0])
    first, second, third = grade_rows(score, human, np.arange(6), Resampler(6, 400, 0))
    assert (first.grade, first.n, first.minimum, first.q1, first.q3, first.maximum) == (1, 4, 1, 1.75, 4.75, 10)
    assert (first.median.value, first.mean.value) == (2.5, 4.0)
    assert first.mean.low is not None and first.mean.high is not None and first.mean.low < 4 < first.mean.high
    assert (second.grade, second.n, second.density) == (2, 1, ())
    assert second.median.low is None and second.median.reason == "only one cluster, so no interval"
    assert third.mean.value == 7.0


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3)), min_size=1, max_size=25))
def test_a_resampled_median_is_that_of_the_repeated_rows(rows: list[tuple[int, int]]) -> None:
    cluster = np.array([c for _, c in rows])
    score = np.array([s for s, _ in rows], dtype=np.float64)
    resampler = Resampler(4, 40, 1)
    (found,) = grade_rows(score, np.ones(len(rows)), cluster, resampler)
    drawn = [np.repeat(score, row[cluster].astype(int)) for chunk in resampler.weights() for row in chunk]
    medians, means = ([f(d) for d in drawn if d.size] for f in (np.median, np.mean))
    if found.median.low is not None:
        assert (found.median.low, found.median.high) == pytest.approx(tuple(np.quantile(medians, (0.025, 0.975))))
        assert (found.mean.low, found.mean.high) == pytest.approx(tuple(np.quantile(means, (0.025, 0.975))))
    else:
        assert len(set(cluster.tolist())) == 1 or len(medians) < 38


def test_a_density_is_one_in_all_and_empty_where_all_are_equal() -> None:
    values = np.random.default_rng(0).normal(3, 2, 500)
    points = density(values)
    x, y = np.array(points).T
    assert len(points) == 64
    assert (x[0], x[-1]) == pytest.approx((values.min(), values.max()))
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.02)
    assert density(np.full(9, 0.1)) == () and density(np.array([1.0])) == ()
    assert density(np.array([-1e308, 1e308])) == ()
    assert all(math.isfinite(height) for _, height in density(np.array([0.0, 5e-324, 1e-320])))


def test_the_distance_of_two_grades() -> None:
    score = np.array([1.0, 2.0, 3.0, 3.0, 4.0, 9.0, 8.0])
    human = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0])
    cells = {(c.first, c.second): c for c in ks_table(score, human)}
    assert [*cells] == [(1, 2), (1, 3), (2, 3)]
    assert cells[1, 3].statistic == 1.0
    assert cells[1, 2].statistic == pytest.approx(2 / 3)
    assert (cells[1, 2].n_first, cells[1, 2].n_second) == (3, 2)
    assert cells[1, 3].p == pytest.approx(2 / math.comb(5, 2))  # two of ten orders are fully apart
    assert ks_table(score, np.ones(7)) == ()


def test_a_resampled_distance_is_that_of_the_repeated_rows() -> None:
    generator = np.random.default_rng(1)
    score, human = generator.integers(0, 12, 40).astype(float), generator.choice([1.0, 2.0, 4.0], 40, p=[0.6, 0.3, 0.1])
    weights = generator.integers(0, 4, (25, 40)).astype(float)
    weights[0, human == 4] = 0
    drawn = _Distances(score, human)(weights)
    assert np.isnan(drawn[0, 1:]).all() and np.isfinite(drawn[0, 0]), "a grade that was not drawn has no distance"
    for found, weight in zip(drawn[1:], weights[1:].astype(int), strict=True):
        repeated = ks_table(np.repeat(score, weight), np.repeat(human, weight))
        assert found == pytest.approx([cell.statistic for cell in repeated])


def test_a_distance_stands_with_an_interval_that_holds_it() -> None:
    generator = np.random.default_rng(2)
    human = np.repeat([1.0, 2.0, 3.0], [300, 100, 30])
    score = generator.normal(np.repeat([0.0, 0.0, 9.0], [300, 100, 30]))
    same, apart, _ = ks_table(score, human, np.arange(430), Resampler(430, 400, 0))
    assert same.low is not None and same.high is not None and 0 <= same.low < same.statistic <= same.high < 0.2
    assert same.low < 0.05, "two grades of one distribution: the noise of the resamples is taken off"
    assert (apart.low, apart.high) == (1.0, 1.0)


def test_no_interval_says_why() -> None:
    score, human = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, 1.0, 2.0])
    (one,) = ks_table(score, human, np.zeros(4, dtype=np.int64), Resampler(1, 50, 0))
    assert (one.low, one.high, one.reason) == (None, None, "only one cluster, so no interval")
    (rare,) = ks_table(score, human, np.arange(4), Resampler(4, 200, 0))
    assert rare.low is None and rare.reason.startswith("no interval: undefined in"), "the one row is often not drawn"
    (bare,) = ks_table(score, human)
    assert (bare.low, bare.high, bare.reason) == (None, None, "")


@pytest.fixture(scope="module")
def graded_bleu(shared_data: Path) -> tuple[Numbers, Numbers]:
    """The paper's own BLEU of every generated review, and its grade."""
    from openpyxl import load_workbook

    sheet = load_workbook(shared_data / "graded-reviews" / "dataset.xlsx", read_only=True).worksheets[0]
    rows = [row for row in sheet.iter_rows(min_row=2, values_only=True) if row[0] is not None]
    graded = [(_bleu(str(row[1]), str(row[at])), float(str(row[at + 1]))) for row in rows for at in (3, 5, 7, 9)]
    score, grade = np.array(graded).T
    return score, grade


@pytest.mark.slow
def test_ks_of_bleu_on_graded_reviews(graded_bleu: tuple[Numbers, Numbers]) -> None:
    """GradedReviews' KS table for BLEU: its figures recomputed from the public file, which holds 5,164 reviews."""
    score, grade = graded_bleu
    expected = [0.255, 0.346, 0.449, 1.0, 0.150, 0.309, 0.994, 0.214, 1.0, 0.974]
    cells = ks_table(score, grade)
    assert [(c.first, c.second) for c in cells][:5] == [(1, 2), (1, 3), (1, 4), (1, 5), (2, 3)]
    assert [c.statistic for c in cells] == pytest.approx(expected, abs=0.002)
    assert (cells[0].n_first, cells[0].n_second) == (4690, 323)


def test_medians_of_bleu_on_graded_reviews(graded_bleu: tuple[Numbers, Numbers]) -> None:
    score, grade = graded_bleu
    rows = grade_rows(score, grade, np.arange(grade.size) // 4, Resampler(grade.size // 4, 200, 0))
    assert [row.n for row in rows] == [4690, 323, 64, 48, 39]
    assert [row.median.value for row in rows[:4]] == pytest.approx([1.94, 5.12, 6.73, 9.29], abs=0.02)
    for row in rows[:4]:
        assert row.median.low is not None and row.median.high is not None and row.median.value is not None
        assert row.median.low < row.median.value < row.median.high


def _bleu(reference: str, hypothesis: str) -> float:
    """GradedReviews' BLEU, written a second time for this test: +1 smoothing beyond unigrams."""
    ref, hyp = (re.findall(r"\w+|[^\w\s]", text.lower().replace("_", " _ ")) for text in (reference, hypothesis))
    if not hyp:
        return 0.0
    logs = 0.0
    for n in range(1, 5):
        grams = [Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)) for tokens in (ref, hyp)]
        hits, total, extra = (grams[0] & grams[1]).total(), grams[1].total(), int(n > 1)
        logs += math.log((hits + extra) / (total + extra)) / 4 if hits + extra else -math.inf
    return 100 * math.exp(logs + min(0.0, 1 - (len(ref) + 1) / (len(hyp) + 1)))
