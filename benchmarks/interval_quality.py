"""How often intervals hold the truth and tests raise a false alarm, on made benchmarks where the truth is known.

It prints the tables of docs/statistics.md (about a minute):

    python benchmarks/interval_quality.py [--trials 2000]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reviewbench.analysis.bag import Numbers
from reviewbench.analysis.bootstrap import Resampler, percentile_interval, resampled_readings
from reviewbench.analysis.permutation import swap_test
from reviewbench.core.protocols import Bag, Measured, Metric
from reviewbench.core.records import Case, Review

NAMES = ("tp", "fp", "fn")
CHANGES = (10, 20, 30, 60, 200)


@dataclass(frozen=True)
class MicroF1(Metric):
    """Micro-averaged F1 of counts that are already there."""

    headline: ClassVar[str] = "f1"

    def parts(self, case: Case, review: Review) -> Measured | str:
        return "the counts are made up here"

    def combine(self, bag: Bag) -> Mapping[str, Numbers]:
        hits = 2 * bag.total("tp")
        return {"f1": bag.ratio(hits, hits + bag.total("fp") + bag.total("fn"))}


def make_reviews(generator: np.random.Generator, changes: int, precision: float, recall: float) -> Numbers:
    """Rows of hits, false comments and misses of a reviewer with this true precision and recall."""
    findings = generator.integers(1, 6, changes)
    hit = generator.binomial(findings, recall)
    false = generator.poisson(findings * recall * (1 - precision) / precision)
    return np.stack([hit, false, findings - hit], axis=1).astype(np.float64)


def coverage(changes: int, trials: int) -> float:
    """The share of 95% intervals that hold the true F1."""
    generator = np.random.default_rng(changes)
    held = 0
    for trial in range(trials):
        rows = make_reviews(generator, changes, 0.5, 0.4)
        draws = resampled_readings(MicroF1(), NAMES, rows[None], np.ones((1, changes)), Resampler(changes, 1000, trial))
        low, high, _ = percentile_interval(draws.of("f1", 0), 0.95)
        held += low is not None and high is not None and low <= 4 / 9 <= high
    return held / trials


def bare_p(first: Numbers, second: Numbers, draws: int, seed: int) -> float:
    """The same test on the bare difference, not divided by its standard error: what we do not use."""
    swaps = np.random.default_rng(seed).integers(0, 2, (draws, len(first))).astype(np.float64)
    swaps[0] = 0  # the data themselves
    moved = swaps @ (second - first)

    def f1(totals: Numbers) -> Numbers:
        found: Numbers = 2 * totals[:, 0] / (2 * totals[:, 0] + totals[:, 1] + totals[:, 2])
        return found

    gaps = np.abs(f1(first.sum(axis=0) + moved) - f1(second.sum(axis=0) - moved))
    return float((gaps >= gaps[0] - 1e-12).mean())


def alarms(changes: int, trials: int, one: tuple[float, float], two: tuple[float, float]) -> tuple[float, float]:
    """The shares of p <= 0.05 for two systems given as (precision, recall): bare, and ours."""
    generator = np.random.default_rng(changes + 1)
    bare = ours = 0
    for trial in range(trials):
        first, second = make_reviews(generator, changes, *one), make_reviews(generator, changes, *two)
        bare += bare_p(first, second, 500, trial) <= 0.05
        p = swap_test(MicroF1(), NAMES, first, second, np.ones(changes), readings=["f1"], draws=499, seed=trial).p["f1"]
        ours += p is not None and p <= 0.05
    return bare / trials, ours / trials


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trials", type=int, default=2000)
    trials: int = options.parse_args().trials
    print(f"{trials} trials; shares in percent")
    print("changes    held    unlike systems: bare    ours    equal systems: bare    ours")
    for changes in CHANGES:
        held = coverage(changes, trials)
        unlike = alarms(changes, trials, (0.25, 0.9), (0.3913, 0.3913))
        equal = alarms(changes, trials, (0.5, 0.5), (0.5, 0.5))
        print(f"{changes:7}{held:8.1%}{unlike[0]:23.1%}{unlike[1]:8.1%}{equal[0]:23.1%}{equal[1]:8.1%}", flush=True)


if __name__ == "__main__":
    main()
