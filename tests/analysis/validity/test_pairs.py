from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from judged_toys import Missed, Shared, study
from reviewgauge.analysis.validity.report import Evidence, ValiditySettings
from reviewgauge.analysis.validity.sample import join
from reviewgauge.analysis.validity.scored import Scored, length_baseline
from reviewgauge.core.reports.validity import ValidityReport


def noisy(scored: Scored, name: str, share: float, seed: int = 0) -> Scored:
    """The same metric with `share` of its values swapped among each other: a little worse, and much like it."""
    rng = np.random.default_rng(seed)
    keys = [key for key in scored.values if rng.random() < share]
    mixed = {key: scored.values[keys[at]] for key, at in zip(keys, rng.permutation(len(keys)), strict=True)}
    return replace(scored, metric=name, label=name, values={**scored.values, **mixed})


def compared(*scored: Scored, baseline: bool = False) -> ValidityReport:
    made = study(80)
    bench = made.bench()
    settings = ValiditySettings(resamples=200, folds=4)
    every = (*scored, length_baseline(bench)) if baseline else scored
    return Evidence(bench, tuple(made.humans()), every, settings, dataset="toy", benchmark="b" * 64).report()


@pytest.fixture(scope="module")
def shared() -> Scored:
    return Scored.of(Shared(), study(80).scores(Shared()))


def test_twins_are_told_apart_although_their_intervals_overlap(shared: Scored) -> None:
    """Correlations of much the same scores rise and fall together."""
    found = compared(shared, noisy(shared, "worse", 0.06))
    one, two = (m.correlations[0].spearman for m in found.metrics)
    assert one.low is not None and two.high is not None and one.low < two.high
    (pair,) = found.differences
    assert (pair.metric, pair.other, pair.dimension) == (shared.metric, "worse", found.metrics[0].dimension)
    assert pair.value == pytest.approx(one.value) and pair.other_value == pytest.approx(two.value)
    assert pair.difference.value == pytest.approx((one.value or 0) - (two.value or 0))
    assert pair.difference.low is not None and pair.difference.low > 0
    assert pair.difference.n == one.n


def test_only_the_rows_of_both_count(shared: Scored) -> None:
    worse = noisy(shared, "worse", 0.4)
    gone = list(worse.values)[:100]
    fewer = replace(worse, values={key: value for key, value in worse.values.items() if key not in gone})
    (pair,) = compared(shared, fewer).differences
    made = study(80)
    (human,) = made.humans()
    kept = {key: value for key, value in shared.values.items() if key in fewer.values}
    judged = join(made.bench(), human, kept)
    assert pair.difference.n == judged.n < len(shared.values)
    assert pair.value == pytest.approx(spearmanr(judged.score, judged.human).statistic)


def test_the_best_meets_each_other_one_and_every_metric_the_baseline_but_no_fake(shared: Scored) -> None:
    fake = replace(noisy(shared, "fake", 0.01), fake=True)
    found = compared(noisy(shared, "worse", 0.3), fake, shared, baseline=True)
    assert [(pair.metric, pair.other) for pair in found.differences] == [
        (shared.metric, "worse"),
        (shared.metric, "review length"),
        ("worse", "review length"),
    ]


def test_less_is_better_is_turned(shared: Scored) -> None:
    turned = {key: value if isinstance(value, str) else -value for key, value in shared.values.items()}
    less = replace(shared, metric="less", label="less", values=turned, less_is_better=True)
    worse = noisy(shared, "worse", 0.3)
    assert compared(less, worse).differences[0].difference == compared(shared, worse).differences[0].difference


def test_a_constant_is_not_compared(shared: Scored) -> None:
    flat = replace(shared, metric="flat", label="flat", values=dict.fromkeys(shared.values, 1.0))
    assert compared(shared, flat).differences == ()
    assert compared(flat).differences == ()
    assert Scored.of(Missed(), study(80).scores(Missed())).values
