"""How often intervals hold the truth, and tests raise a false alarm or find a difference, where the truth is known.

It prints the tables of docs/explanation/statistics.md (about two minutes):

    python benchmarks/interval_quality.py [--trials 2000] [--martian FILE]

FILE is an `evaluations.json` of Martian's code-review-benchmark: real counts of real tools, drawn again and again.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import ClassVar

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import Resampler, percentile_interval, resampled_measures
from reviewgauge.analysis.stats.sign_flip import flip_test
from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Review

NAMES = ("tp", "fp", "fn")
CHANGES = (10, 20, 30, 60, 200)
DRAWS = 499
Pair = tuple[Numbers, Numbers]
Maker = Callable[[np.random.Generator, int], Pair]


@dataclass(frozen=True)
class Micro(Metric):
    """Micro-averaged precision and F1 of counts that are already there."""

    headline: ClassVar[str] = "f1"

    def parts(self, case: Case, review: Review) -> Measured | str:
        return "the counts are made up here"

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        tp, said = aggregate.total("tp"), aggregate.total("tp") + aggregate.total("fp")
        return {
            "precision": aggregate.ratio(tp, said),
            "f1": aggregate.ratio(2 * tp, said + tp + aggregate.total("fn")),
        }


# --- made benchmarks: rows of hits, false comments and misses ------------------------------------------------------


def make_reviews(generator: np.random.Generator, changes: int, precision: float, recall: float) -> Numbers:
    """A reviewer with this true precision and recall; 1 to 5 findings a change."""
    findings = generator.integers(1, 6, changes)
    hit = generator.binomial(findings, recall)
    false = generator.poisson(findings * recall * (1 - precision) / precision)
    return np.stack([hit, false, findings - hit], axis=1).astype(np.float64)


def make_uneven(generator: np.random.Generator, changes: int, precision: float, recall: float) -> Numbers:
    """The same with huge and tiny changes, hits that come together and bursts of false comments."""
    findings = np.ceil(generator.lognormal(0.7, 1.0, changes)).astype(int)
    hit = generator.binomial(findings, generator.beta(2 * recall, 2 * (1 - recall), changes))
    mean = np.exp(1.2) + 0.5  # of findings, near enough: both systems of a pair are off by the same share
    false = generator.poisson(mean * recall * (1 - precision) / precision * generator.gamma(0.5, 2.0, changes))
    return np.stack([hit, false, findings - hit], axis=1).astype(np.float64)


def make_pair(one: tuple[float, float], two: tuple[float, float], uneven: bool = False) -> Maker:
    """Two systems given as (precision, recall)."""
    make = make_uneven if uneven else make_reviews
    return lambda generator, changes: (make(generator, changes, *one), make(generator, changes, *two))


def make_rare(hits: float, quiet: float, noisy: float) -> Maker:
    """Equal true F1, `hits` expected in all, and so many false comments a change."""

    def make(generator: np.random.Generator, changes: int) -> Pair:
        findings = generator.integers(1, 6, changes)
        f1 = 2 * hits / (changes * (quiet + noisy + 6))
        rows = []
        for false in (quiet, noisy):
            hit = generator.binomial(findings, f1 * (false + 3) / (3 * (2 - f1)))
            rows.append(np.stack([hit, generator.poisson(false, changes), findings - hit], axis=1).astype(np.float64))
        return rows[0], rows[1]

    return make


EQUAL: Mapping[str, Maker] = {
    "two like systems, precision and recall 0.5": make_pair((0.5, 0.5), (0.5, 0.5)),
    "precision 0.25, recall 0.90 against 0.39, 0.39": make_pair((0.25, 0.9), (0.3913, 0.3913)),
    "precision 0.10, recall 0.60 against 0.90, 0.095": make_pair((0.1, 0.6), (0.9, 0.0951)),
    "0.25, 0.90 against 0.39, 0.39, huge and tiny changes": make_pair((0.25, 0.9), (0.3913, 0.3913), uneven=True),
    "1 hit expected in all, 1 and 1 false a change": make_rare(1, 1, 1),
    "3 hits expected, 0.05 and 6 false a change": make_rare(3, 0.05, 6),
    "6 hits expected, 0.05 and 6 false a change": make_rare(6, 0.05, 6),
    "6 hits expected, 0 and 20 false a change": make_rare(6, 0, 20),
    "20 hits expected, 0 and 20 false a change": make_rare(20, 0, 20),
}
UNEQUAL: Mapping[str, Maker] = {
    "0.65, 0.65 against 0.50, 0.50 (F1 + 0.15)": make_pair((0.65, 0.65), (0.5, 0.5)),
    "noisy and better: 0.35, 0.90 against 0.39, 0.39 (F1 + 0.11)": make_pair((0.35, 0.9), (0.3913, 0.3913)),
    "quiet and better: 0.60, 0.50 against 0.20, 0.90 (F1 + 0.22)": make_pair((0.6, 0.5), (0.2, 0.9)),
}


# --- what is counted -----------------------------------------------------------------------------------------------


def coverage(changes: int, trials: int) -> float:
    """The share of 95% intervals that hold the true F1."""
    generator = np.random.default_rng(changes)
    held = 0
    for trial in range(trials):
        rows = make_reviews(generator, changes, 0.5, 0.4)
        draws = resampled_measures(Micro(), NAMES, rows[None], np.ones((1, changes)), Resampler(changes, 1000, trial))
        low, high, _ = percentile_interval(draws.of("f1", 0), 0.95)
        held += low is not None and high is not None and low <= 4 / 9 <= high
    return held / trials


def swap_p(first: Numbers, second: Numbers, seed: int) -> float:
    """Swapping what the two systems said, change by change: the usual test of F1, which we do not use."""
    swaps = np.random.default_rng(seed).integers(0, 2, (DRAWS + 1, len(first))).astype(np.float64)
    swaps[0] = 0  # the data themselves
    moved = swaps @ (second - first)

    def f1(totals: Numbers) -> Numbers:
        found: Numbers = 2 * totals[:, 0] / (2 * totals[:, 0] + totals[:, 1] + totals[:, 2])
        return found

    gaps = np.abs(f1(first.sum(axis=0) + moved) - f1(second.sum(axis=0) - moved))
    return float((gaps >= gaps[0] - 1e-12).mean())


def called_different(pair: Pair, seed: int) -> Counter[str]:
    """Which tests say p <= 0.05."""
    tests = flip_test(Micro(), NAMES, *pair, np.ones(len(pair[0])), measures=["f1"], draws=DRAWS, seed=seed)
    p = tests["f1"].p
    return Counter({"ours": p is not None and p <= 0.05, "swaps": swap_p(*pair, seed) <= 0.05})


def disagreement(pair: Pair, seed: int) -> Counter[str]:
    """Where the p-value and the 95% interval of the difference say different things, and how clearly."""
    ones = np.ones((2, len(pair[0])))
    draws = resampled_measures(Micro(), NAMES, np.stack(pair), ones, Resampler(len(pair[0]), 1000, seed))
    low, high, _ = percentile_interval(draws.of("f1", 0) - draws.of("f1", 1), 0.95)
    p = flip_test(Micro(), NAMES, *pair, ones[0], measures=["f1"], draws=DRAWS, seed=seed)["f1"].p
    if p is None or low is None or high is None:
        return Counter({"no answer": 1})
    inside, clearly = low <= 0 <= high, min(-low, high) > (high - low) / 10
    return Counter({
        "p <= 0.05, 0 in the interval": p <= 0.05 and inside,
        "the same, clearly in it": p <= 0.05 and clearly,
        "p > 0.05, 0 not in the interval": p > 0.05 and not inside,
    })  # fmt: skip


def rates(
    count: Callable[[Pair, int], Counter[str]], make: Maker, changes: int, trials: int, salt: int = 1
) -> Mapping[str, float]:
    """Shares of `trials` made pairs."""
    generator = np.random.default_rng([changes, salt])
    found: Counter[str] = Counter()
    for trial in range(trials):
        found.update(count(make(generator, changes), trial))
    return {name: value / trials for name, value in found.items()}


# --- Martian's tools -----------------------------------------------------------------------------------------------


def read_martian(path: Path) -> Numbers:
    """Counts of every tool (tools x changes x 3)."""
    changes = json.loads(path.read_text(encoding="utf-8"))
    tools = sorted({tool for found in changes.values() for tool in found})
    return np.array([[[change[tool][n] for n in NAMES] for change in changes.values()] for tool in tools], dtype=float)


def draw_changes(one: Numbers, two: Numbers) -> Maker:
    """Two real tools on changes drawn from the real ones."""

    def make(generator: np.random.Generator, changes: int) -> Pair:
        drawn = generator.integers(0, len(one), changes)
        return one[drawn].copy(), two[drawn].copy()

    return make


def level(one: Numbers, two: Numbers) -> Maker:
    """The same with hits of the better tool turned into misses and false comments until the true F1 is equal."""
    f1 = [2 * t[0] / (2 * t[0] + t[1] + t[2]) for t in (one.sum(axis=0), two.sum(axis=0))]
    make_drawn = draw_changes(one, two)

    def make(generator: np.random.Generator, changes: int) -> Pair:
        pair = make_drawn(generator, changes)
        better = pair[int(f1[1] > f1[0])]
        lost = generator.binomial(better[:, 0].astype(int), 1 - min(f1) / max(f1))
        better += lost[:, None] * np.array([-1, 1, 1])
        return pair

    return make


def print_martian(path: Path, trials: int) -> None:
    """Over all pairs of tools: differences found, false alarms, and disagreements of p-value and interval."""
    tools = read_martian(path)
    pairs = list(combinations(range(len(tools)), 2))
    each = max(1, trials // 40)
    for changes in CHANGES[:4]:
        for title, change, count in (
            ("found", draw_changes, called_different),
            ("false alarms", level, called_different),
            ("disagreement", draw_changes, disagreement),
        ):
            shares = [rates(count, change(tools[a], tools[b]), changes, each, 12 * a + b) for a, b in pairs]
            mean = {name: np.mean([share.get(name, 0.0) for share in shares]) for name in shares[0]}
            print(f"{changes:4} changes  {title}: " + ", ".join(f"{n} {v:.1%}" for n, v in mean.items()), flush=True)


def print_row(title: str, make: Maker, trials: int) -> None:
    """One line: our test and the swaps, by number of changes."""
    found = [rates(called_different, make, changes, trials) for changes in CHANGES]
    for name in ("ours", "swaps"):
        print(f"{title:62}{name:6}" + "".join(f"{share[name]:8.1%}" for share in found), flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--trials", type=int, default=2000)
    options.add_argument("--martian", type=Path)
    asked = options.parse_args()
    trials: int = asked.trials
    print(f"{trials} trials\n{'changes':68}" + "".join(f"{n:8}" for n in CHANGES))
    print(f"{'interval holds the truth':68}" + "".join(f"{coverage(n, trials):8.1%}" for n in CHANGES))
    print("\nequal true F1: called different")
    for title, make in EQUAL.items():
        print_row(title, make, trials)
    print("\nunequal true F1: called different")
    for title, make in UNEQUAL.items():
        print_row(title, make, trials)
    if asked.martian:
        print("\nMartian's tools, all pairs")
        print_martian(asked.martian, trials)


if __name__ == "__main__":
    main()
