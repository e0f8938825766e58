from __future__ import annotations

import csv
import itertools
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.analysis.stats import agreement
from reviewgauge.analysis.stats.agreement import (
    AC1,
    AC2,
    ALPHA,
    COHEN,
    COHEN_LINEAR,
    COHEN_QUADRATIC,
    FLEISS,
    PERCENT,
    Measure,
    Resampling,
    Table,
    agree,
    coefficients,
    distances,
    within,
)
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.core.shares import wilson

NAN = float("nan")
EVERY = [PERCENT, within(1), FLEISS, *ALPHA.values(), AC1, *AC2.values()]
OF_TWO = [COHEN, COHEN_LINEAR, COHEN_QUADRATIC]
labels = st.sampled_from([NAN, NAN, 1.0, 2.0, 3.0, 5.0])
tables = (
    st.integers(2, 4)
    .flatmap(lambda raters: st.lists(st.lists(labels, min_size=raters, max_size=raters), min_size=1, max_size=9))
    .map(lambda rows: np.array(rows).T)
)

# Krippendorff, Computing Krippendorff's alpha-reliability (2011), section E: four observers, twelve units.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)
# Fleiss (1971), as tabled in many textbooks: ten items, fourteen raters, five categories (counts).
FLEISS_COUNTS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_own_example(level: agreement.Level, alpha: float) -> None:
    found = agree(KRIPPENDORFF, ALPHA[level])
    assert found.value == pytest.approx(alpha, abs=0.0006)
    assert found.n == 11  # one unit was judged once


def test_the_textbook_example_of_fleiss() -> None:
    rows = [[code for code, often in enumerate(counts) for _ in range(often)] for counts in FLEISS_COUNTS]
    found = agree(np.array(rows, dtype=np.float64).T, FLEISS)
    assert found.value == pytest.approx(0.210, abs=0.0005)


def test_kappas_by_hand() -> None:
    both = np.array([[1, 1, 2, 2, 3, 3, 3, 1, 2, 3], [1, 2, 2, 2, 3, 3, 1, 1, 2, 3]], dtype=np.float64)
    assert agree(both, PERCENT).value == pytest.approx(0.8)
    assert agree(both, within(1)).value == pytest.approx(0.9)
    chance = (3 * 3 + 3 * 4 + 4 * 3) / 100
    assert agree(both, COHEN).value == pytest.approx((0.8 - chance) / (1 - chance))
    expected = np.array([3, 3, 4])[:, None] * np.array([3, 4, 3]) / 100
    for measure, power in ((COHEN_LINEAR, 1), (COHEN_QUADRATIC, 2)):
        apart = np.abs(np.subtract.outer(range(3), range(3))) ** power
        observed = (1 + 2**power) / 10
        found = agree(both, measure)
        assert found.value == pytest.approx(1 - observed / (expected * apart).sum())
    shares = np.array([6, 7, 7]) / 20
    assert agree(both, FLEISS).value == pytest.approx((0.8 - (shares**2).sum()) / (1 - (shares**2).sum()))
    by_chance = (shares * (1 - shares)).sum() / 2
    assert agree(both, AC1).value == pytest.approx((0.8 - by_chance) / (1 - by_chance))


def _pairs(values: Numbers) -> list[list[tuple[float, float]]]:
    """Of each item with two labels or more, every ordered pair of them."""
    known = [[float(v) for v in item if not np.isnan(v)] for item in values.T]
    return [list(itertools.permutations(item, 2)) for item in known if len(item) > 1]


@given(tables)
def test_alpha_is_what_its_definition_says(values: Numbers) -> None:
    """Krippendorff (2011): pairs within units against all pairs of pairable values, loop by loop."""
    within_units = _pairs(values)
    pairable = [a for item in within_units for a, _ in item[:: max(1, _raters(item) - 1)]]
    often = Counter(pairable)
    below = {v: sum(n for u, n in often.items() if u < v) + often[v] / 2 for v in often}
    rules: dict[str, Callable[[float, float], float]] = {
        "nominal": lambda a, b: float(a != b),
        "ordinal": lambda a, b: (below[a] - below[b]) ** 2,
        "interval": lambda a, b: (a - b) ** 2,
    }
    for level, distance in rules.items():
        found = agree(values, ALPHA[level])
        if len(often) < 2:
            assert found.value is None and found.reason
            continue
        n = len(pairable)
        observed = sum(distance(a, b) / (_raters(item) - 1) for item in within_units for a, b in item) / n
        expected = sum(distance(a, b) for a, b in itertools.permutations(pairable, 2)) / (n * (n - 1))
        assert found.value == pytest.approx(1 - observed / expected)


def _raters(pairs: list[tuple[float, float]]) -> int:
    """How many labels make this many ordered pairs."""
    return round((1 + math.sqrt(1 + 4 * len(pairs))) / 2)


@given(tables, st.integers(0, 2**32 - 1))
def test_a_weight_is_the_same_as_repeating_the_item(values: Numbers, seed: int) -> None:
    often = np.random.default_rng(seed).integers(0, 4, values.shape[1])
    categories = [1.0, 2.0, 3.0, 5.0]
    whole, repeated = Table(values, categories), Table(np.repeat(values, often, axis=1), categories)
    measures = [*EVERY, *(OF_TWO if values.shape[0] == 2 else [])]
    (expected,) = coefficients([(repeated, measures)])
    if whole.undefined:
        assert all(c.figure.value is None for c in expected)
        return
    two = np.stack([often, np.ones(often.size)])[:, whole.index].astype(np.float64)
    for measure, coefficient in zip(measures, expected, strict=True):
        drawn = measure.of(whole)(two)[0]
        if coefficient.figure.value is None:
            assert np.isnan(drawn)
        else:
            assert drawn == pytest.approx(coefficient.figure.value, abs=1e-12)


@given(tables)
def test_no_coefficient_is_ever_nan_or_above_one(values: Numbers) -> None:
    for coefficient in coefficients([(Table(values), EVERY)])[0]:
        figure = coefficient.figure
        assert figure.reason if figure.value is None else np.isfinite(figure.value) and figure.value <= 1
        assert coefficient.items == figure.n == sum(len(item) > 0 for item in _pairs(values))


def test_full_agreement_is_exactly_one() -> None:
    values = np.array([[0.1, 0.2, 0.7, 0.2]] * 3)
    for coefficient in coefficients([(Table(values), EVERY)])[0]:
        assert coefficient.figure.value == 1.0
    for coefficient in coefficients([(Table(values[:2]), OF_TWO)])[0]:
        assert coefficient.figure.value == 1.0


def test_what_is_undefined_says_why() -> None:
    alone = np.array([[1.0, 2.0, NAN], [NAN, NAN, NAN]])
    apart = np.array([[1.0, 2.0, NAN], [NAN, NAN, 3.0]])
    same = np.full((3, 4), 4.0)
    for values, words in (
        (np.full((2, 3), NAN), "there are no labels"),
        (np.zeros((2, 0)), "there are no labels"),
        (alone, "only one rater: agreement needs two"),
        (apart, "no item has two raters"),
    ):
        for coefficient in coefficients([(Table(values), EVERY)])[0]:
            assert (coefficient.figure.value, coefficient.figure.reason) == (None, words)
    for measure in (FLEISS, *ALPHA.values(), AC1):
        (found,) = coefficients([(Table(same), [measure])])[0]
        assert found.figure.value is None
        assert found.figure.reason == "every label is 4, so agreement beyond chance is undefined"
    assert agree(same[:2], COHEN).value is None
    assert agree(same, PERCENT).value == 1.0
    assert agree(same, AC1, [1, 2, 3, 4, 5]).value == 1.0  # the scale says what else could have been given
    (found,) = coefficients([(Table(same), [COHEN])])[0]
    assert found.figure.reason == "Cohen's kappa needs exactly two raters, and there are 3"


def test_a_rater_who_gave_one_value_always_has_a_kappa_of_0_that_says_so() -> None:
    values = np.array([[NAN, 5.0, 5.0, 5.0, 5.0], [3.0, 5.0, 4.0, 5.0, NAN]])
    table = Table(values, raters=("Ada", "Bo"))
    for coefficient in coefficients([(table, OF_TWO)], Resampling(np.arange(5), Resampler(5, 100, 0)))[0]:
        assert (coefficient.figure.value, coefficient.figure.low) == (0.0, None)
        assert coefficient.figure.reason == "Ada always chose 5, so kappa is 0 whatever the other rater chose"
    named = Table(values, [3, 4, 5], names=("low", "mid", "high"), raters=("Ada", "Bo"))
    assert "Ada always chose high" in coefficients([(named, [COHEN])])[0][0].figure.reason


def test_intervals_resample_items_and_clusters_of_them() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, 120)
    values = np.where(rng.random((3, 120)) < 0.7, truth, rng.integers(1, 6, (3, 120))).astype(np.float64)
    values[rng.random((3, 120)) < 0.2] = NAN
    items = Resampling(np.arange(120), Resampler(120, 500, 0))
    table = Table(values)
    for coefficient in coefficients([(table, EVERY)], items)[0]:
        figure = coefficient.figure
        assert figure.value is not None and figure.low is not None and figure.high is not None
        assert figure.low < figure.value < figure.high
        drawn = [
            coefficients([(Table(values[:, np.repeat(np.arange(120), w.astype(int))], table.categories), [m])])[0][0]
            for m in EVERY
            if m.name == coefficient.name
            for w in next(items.resampler.weights())[:40]
        ]
        assert sum(figure.low <= (d.figure.value or NAN) <= figure.high for d in drawn) >= 34
    tenfold = np.repeat(values[:, :12], 10, axis=1)
    by_item = agree(tenfold, ALPHA["nominal"], resampling=Resampling(np.arange(120), Resampler(120, 500, 0)))
    by_case = agree(tenfold, ALPHA["nominal"], resampling=Resampling(np.arange(120) // 10, Resampler(12, 500, 0)))
    assert None not in (by_item.low, by_item.high, by_case.low, by_case.high)
    assert (by_case.high or 0) - (by_case.low or 0) > 2 * ((by_item.high or 0) - (by_item.low or 0))
    one = agree(values, ALPHA["nominal"], resampling=Resampling(np.zeros(120, dtype=np.int64), Resampler(1, 10, 0)))
    assert one.value is not None and (one.low, one.reason) == (None, "only one cluster, so no interval")


@pytest.mark.parametrize("n", [2, 40])
def test_full_agreement_on_few_items_is_not_certain(n: int) -> None:
    values = np.tile(np.arange(n) % 2 + 1.0, (2, 1))
    found = coefficients([(Table(values), EVERY)], Resampling(np.arange(n), Resampler(n, 200, 0)))[0]
    for coefficient in found:
        figure = coefficient.figure
        assert figure.value == pytest.approx(1.0)
        if coefficient.name in ("percent agreement", "within 1"):
            assert (figure.low, figure.high) == pytest.approx(wilson(n, n))
        else:
            assert figure.low is None and figure.reason


def test_only_items_that_were_judged_twice_make_an_interval_of_a_share() -> None:
    values = np.array([[1.0, 2.0, 1.0, *[2.0] * 37], [1.0, 2.0, 1.0, *[NAN] * 37]])
    figure = agree(values, PERCENT, resampling=Resampling(np.arange(40), Resampler(40, 200, 0)))
    assert (figure.value, figure.n) == (1.0, 3)
    assert (figure.low, figure.high) == pytest.approx(wilson(3, 3))
    thirds = np.array([[1.0] * 30, [1.0] * 30, [2.0] * 30])
    two_of_three = agree(thirds, PERCENT, resampling=Resampling(np.arange(30), Resampler(30, 200, 0)))
    assert two_of_three.low is not None and two_of_three.high is not None
    assert two_of_three.low < 1 / 3 < two_of_three.high


def test_a_pair_keeps_the_items_that_both_judged() -> None:
    values = np.array([[1.0, 2.0, NAN, 1.0], [1.0, NAN, 2.0, 2.0], [NAN, NAN, NAN, 1.0]])
    table = Table(values, raters=("a", "b", "c"))
    pair = table.pair(0, 1)
    assert (pair.items, pair.raters, [*pair.index]) == (2, ("a", "b"), [0, 3])
    weights = Resampling(np.arange(4), Resampler(4, 50, 0))
    for one, two in zip(*coefficients([(pair, EVERY), (Table(values[:2][:, [0, 3]], [1, 2]), EVERY)]), strict=True):
        assert one.figure.value == two.figure.value
    assert table.pair(1, 2).items == 1
    assert coefficients([(Table(values[1:, :3]).pair(0, 1), [PERCENT])], weights)[0][0].figure.value is None


def test_the_weights_are_gwets() -> None:
    """Gwet (2014), chapter 3: quadratic, linear and ordinal weights of four categories, less one."""
    four = np.array([1.0, 2.0, 3.0, 4.0])
    assert distances(four, "linear")[0] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert distances(four, "quadratic")[0] == pytest.approx([0, 1 / 9, 4 / 9, 1])
    assert distances(four, "ordinal")[0] == pytest.approx([0, 1 / 6, 3 / 6, 1])
    assert distances(np.array([1.0, 2.0, 9.0]), "linear")[0] == pytest.approx([0, 1 / 8, 1])
    assert distances(np.array([7.0]), "quadratic").tolist() == [[0.0]]


@pytest.mark.parametrize("tolerance", [0.0, 0.5, 3.0])
def test_many_distinct_values_agree_within_a_tolerance_as_few_do(tolerance: float) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(4, 100))
    values[rng.random((4, 100)) < 0.3] = NAN
    shares = [np.mean([abs(a - b) <= tolerance for a, b in item]) for item in _pairs(values)]
    assert agree(values, within(tolerance)).value == pytest.approx(np.mean(shares))


def test_tables_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="raters x items"):
        Table(np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="finite"):
        Table(np.array([[1.0, np.inf]]))
    with pytest.raises(ValueError, match="7 is not one of the categories"):
        Table(np.array([[1.0, 7.0]]), [1, 2])
    with pytest.raises(ValueError, match="must not be negative"):
        within(-1)


def test_measures_have_the_names_of_the_field() -> None:
    measures: list[Measure] = [*EVERY, *OF_TWO]
    assert [m.name for m in measures[:4]] == [
        "percent agreement", "within 1", "Fleiss' kappa", "Krippendorff's alpha (nominal)",
    ]  # fmt: skip
    assert len({m.name for m in measures}) == len(measures)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def _code(row: dict[str, str]) -> float:
    said = next(text for name, text in row.items() if name.startswith("Correctness")).strip()
    return float(said) if said else NAN
