"""Does a study of the planned size find the difference as often as it was planned to?

A pilot is made, a study planned from it, and studies of that size made with a true difference of exactly what was
asked for; the share in which `reviewgauge compare` finds it is the power. docs/guides/compare.md sums its tables up
(about four minutes on one core):

    python benchmarks/plan_power.py [--trials 2000]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reviewgauge.analysis.planning.plan import plan
from reviewgauge.analysis.planning.study import Question
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.sign_flip import flip_test
from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Change, Review
from reviewgauge.core.reports.plan import PairPlan
from reviewgauge.core.results import Score
from reviewgauge.core.specs import signature
from reviewgauge.engine.run.scored_run import ScoredRun

POWER, DRAWS, BENCHMARK = 0.8, 499, "b" * 64
Maker = Callable[[np.random.Generator, int, int], tuple[Numbers, Numbers]]


@dataclass(frozen=True)
class Mean(Metric):
    """The mean of one number a change."""

    headline: ClassVar[str] = "value"
    names: ClassVar[tuple[str, ...]] = ("value",)

    def parts(self, case: Case, review: Review) -> Measured | str:
        return "the numbers are made up here"


@dataclass(frozen=True)
class Micro(Metric):
    """Micro-averaged F1 of counts that are already there."""

    headline: ClassVar[str] = "f1"
    names: ClassVar[tuple[str, ...]] = ("tp", "fp", "fn")

    def parts(self, case: Case, review: Review) -> Measured | str:
        return "the counts are made up here"

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        tp = aggregate.total("tp")
        return {"f1": aggregate.ratio(2 * tp, 2 * tp + aggregate.total("fp") + aggregate.total("fn"))}


# --- made benchmarks: changes x attempts x parts of two systems ----------------------------------------------------


def make_means(gap: float, between: float, within: float) -> Maker:
    """Scores around a change's own level: systems differ by `gap` on average, by `between` from change to change."""

    def make(generator: np.random.Generator, changes: int, attempts: int) -> tuple[Numbers, Numbers]:
        level = generator.normal(0.5, 0.2, changes)
        own = generator.normal(0, between / np.sqrt(2), (2, changes)) + np.array([[gap], [0.0]]) + level
        drawn = own[:, :, None] + generator.normal(0, within / np.sqrt(2), (2, changes, attempts))
        return drawn[0, :, :, None], drawn[1, :, :, None]

    return make


def make_counts(recalls: tuple[float, float], false: float, unlike: float, unsure: float) -> Maker:
    """Hits and false comments; 1 to 5 findings a change, each as hard for both systems.

    A finding has a chance of its own to be hit by a system in an attempt, `unlike` says how far the two systems'
    chances go apart and `unsure` (0 to 1) how far a chance is from yes or no.
    """

    def make(generator: np.random.Generator, changes: int, attempts: int) -> tuple[Numbers, Numbers]:
        findings = generator.integers(1, 6, changes)
        where = np.repeat(np.arange(changes), findings)
        hard = generator.uniform(size=where.size)
        found = []
        for recall in recalls:
            apart = generator.uniform(size=where.size) < unlike
            rank = np.where(apart, generator.uniform(size=where.size), hard)  # uniform, alike where not apart
            sure = rank < recall
            loose = generator.uniform(size=where.size) < unsure
            hits = np.zeros((changes, attempts))
            for attempt in range(attempts):
                now = np.where(loose, generator.uniform(size=where.size) < recall, sure)
                hits[:, attempt] = np.bincount(where, weights=now, minlength=changes)
            noise = generator.gamma(2.0, false / 2.0, changes)
            wrong = generator.poisson(noise[:, None], (changes, attempts))
            found.append(np.stack([hits, wrong, findings[:, None] - hits], axis=2).astype(np.float64))
        return found[0], found[1]

    return make


def true_difference(metric: Metric, make: Maker) -> float:
    """The difference on very many changes."""
    tables = make(np.random.default_rng(99), 200_000, 1)
    one, two = (table.sum(axis=(0, 1)) for table in tables)
    if isinstance(metric, Mean):
        return float((one - two)[0] / 200_000)
    f1 = [2 * t[0] / (2 * t[0] + t[1] + t[2]) for t in (one, two)]
    return float(f1[0] - f1[1])


# --- pilot, plan, study --------------------------------------------------------------------------------------------


def make_plan(metric: Metric, tables: Sequence[Numbers], detect: float, attempts: int, comparisons: int) -> PairPlan:
    """The plan that `reviewgauge plan` makes of a pilot."""
    changes, tried = tables[0].shape[:2]
    cases = [Case(id=f"{i:06d}", change=Change(repo="a/b")) for i in range(changes)]
    names = Mean.names if isinstance(metric, Mean) else Micro.names
    scores = [
        Score(
            case=case.id,
            system=system,
            attempt=attempt + 1,
            metric=signature(metric),
            benchmark=BENCHMARK,
            parts=dict(zip(names, map(float, table[at, attempt]), strict=True)),
        )
        for system, table in zip(("first", "second"), tables, strict=True)
        for at, case in enumerate(cases)
        for attempt in range(tried)
    ]
    question = Question(detect, power=POWER, comparisons=comparisons, attempts=(attempts,))
    run = ScoredRun(metric, cases, scores, benchmark=BENCHMARK)
    found = plan(run, question, systems=("first", "second"), resamples=200)
    return found.pairs[0]


def power_of(
    metric: Metric, make: Maker, changes: int, attempts: int, *, level: float, trials: int, seed: int
) -> float:
    """How often the test of `reviewgauge compare` finds the difference in a study of this size."""
    names = Mean.names if isinstance(metric, Mean) else Micro.names
    hits = 0
    for trial in range(trials):
        one, two = (t.mean(axis=1) for t in make(np.random.default_rng([seed, trial]), changes, attempts))
        test = flip_test(
            metric, names, one, two, np.ones(changes), measures=[metric.headline], draws=DRAWS, seed=trial
        )[metric.headline]
        hits += test.p is not None and test.p <= level
    return hits / trials


MAKERS: Mapping[str, tuple[Metric, Maker]] = {
    "mean, half of the spread in attempts": (Mean(), make_means(0.06, 0.15, 0.15)),
    "mean, nearly all between changes": (Mean(), make_means(0.06, 0.2, 0.05)),
    "F1 .47 against .40, alike and unsure": (Micro(), make_counts((0.45, 0.36), 1.5, 0.2, 0.8)),
    "F1 .47 against .40, unlike and sure": (Micro(), make_counts((0.45, 0.36), 1.5, 0.8, 0.1)),
}


def print_large_pilots(trials: int) -> None:
    """Power of studies that were planned from a pilot large enough to know the variances."""
    print("| made benchmark | true difference | attempts | comparisons | changes planned | power |")
    print("|---|---|---|---|---|---|")
    for name, (metric, make) in MAKERS.items():
        true = true_difference(metric, make)
        pilot = make(np.random.default_rng(5), 2_000, 3)
        for attempts, comparisons in ((1, 1), (3, 1), (1, 5)):
            planned = make_plan(metric, pilot, abs(true), attempts, comparisons).rows[-1].changes
            assert planned is not None
            level = 0.05 / comparisons
            power = power_of(metric, make, planned, attempts, level=level, trials=trials, seed=attempts)
            print(f"| {name} | {true:.3f} | {attempts} | {comparisons} | {planned:,} | {power:.1%} |", flush=True)


def print_small_pilots(trials: int) -> None:
    """Plans from pilots as people have them: how far they lie apart, and how often their range holds the truth."""
    print("\n| made benchmark | right number | pilot | planned: median | 5% to 95% of plans | range holds it | power |")
    print("|---|---|---|---|---|---|---|")
    for name, (metric, make) in MAKERS.items():
        true = abs(true_difference(metric, make))
        right = make_plan(metric, make(np.random.default_rng(5), 5_000, 3), true, 3, 1).rows[-1].changes
        assert right is not None
        for size in (20, 30, 60, 120):
            planned, held, found = [], 0, 0
            for trial in range(trials):
                row = make_plan(metric, make(np.random.default_rng([7, size, trial]), size, 3), true, 3, 1).rows[-1]
                assert row.changes is not None and row.low is not None and row.high is not None
                planned.append(row.changes)
                held += row.low <= right <= row.high
                found += power_of(metric, make, row.changes, 3, level=0.05, trials=1, seed=1000 + trial) > 0
            low, mid, high = np.quantile(planned, [0.05, 0.5, 0.95])
            ends = f"{low:.0f} to {high:.0f}"
            shares = f"{held / trials:.1%} | {found / trials:.1%}"
            print(f"| {name} | {right} | {size} | {mid:.0f} | {ends} | {shares} |", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--trials", type=int, default=2_000)
    trials: int = options.parse_args().trials
    print_large_pilots(trials)
    print_small_pilots(max(1, trials // 2))


if __name__ == "__main__":
    main()
