from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.validity.ranking import _rank_correlations, ranking
from reviewgauge.analysis.validity.sample import RowSample
from reviewgauge.core.labels import Scale

LIKERT = Scale(low=1, high=5)


def rows(
    human: dict[str, float], score: dict[str, float], per: int = 20, *, less: bool = False
) -> tuple[RowSample, list[str]]:
    """`per` cases, every system on each; values lie around those that are given."""
    generator = np.random.default_rng(0)
    system = [name for _ in range(per) for name in human]
    cluster = np.repeat(np.arange(per), len(human))
    values = np.array([human[name] for name in system])
    scores = np.array([score[name] for name in system]) + generator.normal(size=len(system)) * 0.001
    return RowSample(scores, values, values, cluster, Resampler(per, 100, 0), 0.95, less), system


def test_systems_stand_in_the_order_of_people_with_both_ranks() -> None:
    human = {"a": 1.0, "b": 3.0, "c": 5.0, "d": 2.0}
    sample, system = rows(human, {"a": 0.1, "b": 0.2, "c": 0.9, "d": 0.3})
    found = ranking(sample, system, LIKERT, left_out=["msg"])
    assert found is not None
    assert [(p.system, p.human.value, p.human_rank, p.metric_rank) for p in found.systems] == [
        ("c", 1.0, 1.0, 1.0),
        ("b", 0.5, 2.0, 3.0),
        ("d", 0.25, 3.0, 2.0),
        ("a", 0.0, 4.0, 4.0),
    ], "human values as (x - 1) / 4: CRScore, Table 10"
    assert found.spearman.value == pytest.approx(0.8)
    assert found.spearman.p == pytest.approx(8 / 24), "four systems: of all orders, not Student's .2"
    assert found.kendall.value == pytest.approx(2 / 3)
    assert found.left_out == ("msg",)
    assert all(p.human.n == 20 for p in found.systems)


def test_less_is_better_ranks_the_lowest_first() -> None:
    human = {"a": 1.0, "b": 3.0, "c": 5.0}
    sample, system = rows(human, {"a": 0.9, "b": 0.5, "c": 0.1}, less=True)
    found = ranking(sample, system, LIKERT)
    assert found is not None
    assert found.spearman.value == pytest.approx(1.0)
    assert [p.metric_rank for p in found.systems] == [1.0, 2.0, 3.0]
    assert found.systems[0].metric.value == pytest.approx(0.1, abs=0.01), "the mean itself keeps its sign"


def test_p_values_are_those_of_the_paper() -> None:
    """CRScore, Table 2: of 9 systems, Spearman .95 has p 8.7e-5 and Kendall .8889 has p 2.4e-4."""
    human = {name: 1 + at / 2 for at, name in enumerate("abcdefghi")}
    sample, system = rows(human, {name: float(at) for at, name in enumerate("badcefghi")})
    found = ranking(sample, system, LIKERT)
    assert found is not None
    assert found.kendall.value == pytest.approx(0.8889, abs=5e-5)
    assert found.kendall.p == pytest.approx(2.4e-4, rel=0.02)
    assert found.spearman.value == pytest.approx(0.9667, abs=5e-5)
    close, system = rows(human, {name: float(at) for at, name in enumerate("bcadefghi")})
    found = ranking(close, system, LIKERT)
    assert found is not None
    assert found.spearman.value == pytest.approx(0.95)
    assert found.spearman.p == pytest.approx(8.7e-5, rel=0.02)


def test_two_systems_are_no_ranking_and_equal_means_have_none() -> None:
    sample, system = rows({"a": 1.0}, {"a": 1.0})
    assert ranking(sample, system, LIKERT) is None
    sample, system = rows({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0})
    found = ranking(sample, system, LIKERT)
    assert found is not None and found.spearman.value is None
    assert "2 systems" in found.spearman.reason
    sample, system = rows({"a": 2.0, "b": 2.0, "c": 2.0}, {"a": 1.0, "b": 2.0, "c": 3.0})
    found = ranking(sample, system, LIKERT)
    assert found is not None
    assert found.kendall.reason == "the human means of all systems are equal"


@given(
    st.integers(3, 6).flatmap(
        lambda n: st.lists(
            st.tuples(
                st.lists(st.integers(0, 3), min_size=n, max_size=n), st.lists(st.integers(0, 3), min_size=n, max_size=n)
            ),
            min_size=1,
            max_size=5,
        )
    )
)
@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_correlations_of_many_resamples_are_scipys(draws: list[tuple[list[int], list[int]]]) -> None:
    first, second = (np.array([pair[at] for pair in draws], dtype=np.float64) for at in (0, 1))
    for name, function in (("spearman", spearmanr), ("kendall", kendalltau)):
        expected = [function(a, b).statistic for a, b in zip(first, second, strict=True)]
        np.testing.assert_allclose(_rank_correlations(name, first, second), expected, atol=1e-12)


def test_a_resample_without_a_system_is_undefined() -> None:
    first = np.array([[1.0, 2.0, np.nan], [1.0, 2.0, 3.0]])
    found = _rank_correlations("spearman", first, np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]))
    assert np.isnan(found[0]) and found[1] == pytest.approx(1.0)
