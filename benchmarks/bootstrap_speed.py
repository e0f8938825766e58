"""How long intervals take: our leaderboard beside scipy.stats.bootstrap on the same scores, in one run.

Both make 95% percentile intervals of micro-F1 for every system by resampling changes. Ours also makes the other
16 measures of `hits`, reads the score records, and pairs the systems. Run it with

    python benchmarks/bootstrap_speed.py [--cases 1000] [--systems 20] [--resamples 10000]
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator

import numpy as np
from scipy.stats import bootstrap

from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.core.records import Case, Change
from reviewgauge.core.results import Score
from reviewgauge.core.specs import signature
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.metrics.hits import Hits

METRIC = Hits(location="only")
BENCHMARK = "b" * 64


def counts(generator: np.random.Generator, cases: int, recall: float) -> Numbers:
    """Rows of hits, false comments and misses: 1 to 5 findings a change, precision one half."""
    findings = generator.integers(1, 6, cases)
    hit = generator.binomial(findings, recall)
    return np.stack([hit, generator.poisson(findings * recall), findings - hit], axis=1).astype(np.float64)


def make_scores(system: str, table: Numbers) -> Iterator[Score]:
    """The scores that `hits` would give for these counts."""
    for i, (hit, false, missed) in enumerate(table.tolist()):
        said, references = hit + false, hit + missed
        parts = {"changes": 1, "comments": said, "matched": hit, "duplicate": 0, "neutral": 0, "false": false}
        parts |= {"rejected": 0, "references": references, "hit": hit, "missed": missed, "right": hit, "said": said}
        parts |= {"soft_hit": hit, "soft_right": hit, "unsure": 0, "placed": said, "invalid": 0, "clean": 0}
        parts |= {"clean_quiet": 0, "line_hits": hit, "line_references": references, "line_said": said}
        yield Score(case=f"case-{i:05d}", system=system, metric=signature(METRIC), benchmark=BENCHMARK, parts=parts)


def f1(tp: Numbers, fp: Numbers, fn: Numbers, axis: int = -1) -> Numbers:
    hits = tp.sum(axis=axis)
    found: Numbers = 2 * hits / (2 * hits + fp.sum(axis=axis) + fn.sum(axis=axis))
    return found


def peak() -> float:
    """The largest memory that this process has had, in MB (Linux counts in KB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cases", type=int, default=1000)
    options.add_argument("--systems", type=int, default=20)
    options.add_argument("--resamples", type=int, default=10_000)
    told = options.parse_args()
    generator = np.random.default_rng(0)
    # Ten repositories are too few to resample, so every change is a cluster: the dear case.
    cases = [Case(id=f"case-{i:05d}", change=Change(repo=f"owner/repo-{i % 10}")) for i in range(told.cases)]
    tables = {f"system-{s:02d}": counts(generator, told.cases, 0.3 + s / 50) for s in range(told.systems)}
    scores = [score for system, table in tables.items() for score in make_scores(system, table)]
    before = peak()

    start = time.perf_counter()
    board = leaderboard(ScoredRun(METRIC, cases, scores, dataset="made", benchmark=BENCHMARK), resamples=told.resamples)
    ours = time.perf_counter() - start
    grown = peak() - before

    start = time.perf_counter()
    compare(ScoredRun(METRIC, cases, scores, dataset="made", benchmark=BENCHMARK), resamples=told.resamples)
    compared = time.perf_counter() - start

    start = time.perf_counter()
    widest = 0.0
    for system, table in tables.items():
        found = bootstrap(
            tuple(table.T),
            f1,
            n_resamples=told.resamples,
            paired=True,
            vectorized=True,
            method="percentile",
            batch=max(1, 2_000_000 // told.cases),
            rng=np.random.default_rng(0),
        ).confidence_interval
        row = next(row for row in board.systems if row.system == system).estimate("f1")
        assert row is not None and row.low is not None and row.high is not None
        widest = max(widest, abs(row.low - found.low), abs(row.high - found.high))
    peer = time.perf_counter() - start

    print(f"{told.cases:,} changes x {told.systems} systems x {told.resamples:,} resamples")
    print(f"leaderboard, 17 measures a system  {ours:8.2f} s   (+{grown:.0f} MB at its peak)")
    print(f"compare, leader against the others {compared:8.2f} s")
    print(f"scipy.stats.bootstrap, F1 alone    {peer:8.2f} s")
    print(f"scipy / leaderboard                {peer / ours:8.1f} times")
    print(f"largest gap between the two intervals' ends  {widest:.4f}")


if __name__ == "__main__":
    main()
