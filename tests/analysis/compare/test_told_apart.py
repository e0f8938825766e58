"""McNemar's test on defects and their twins: only who sees the difference counts, and one host is one cluster."""

from __future__ import annotations

from functools import cache

import pytest
from scipy.stats import binomtest

import twin_pairs
from reviewgauge.analysis.compare.compare import compare, mcnemar, told_apart
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.records import Case, Comment
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.views.comparisons import comparison_table
from twin_pairs import path_of, say, told

HOSTS = twin_pairs.hosts(10)


def oracle(case: Case) -> list[Comment]:
    return told(case, ["defect"])


def half(case: Case) -> list[Comment]:
    return told(case, ["defect"], at=[4])


def everywhere(case: Case) -> list[Comment]:
    return told(case, ["defect", "twin"])


def other_half_and_noise(case: Case) -> list[Comment]:
    return [*told(case, ["defect"], at=[8]), say(1, "Hm.", path_of(case), "n")]


@cache
def run() -> ScoredRun:
    return twin_pairs.scored_run(
        HOSTS, {"oracle": oracle, "half": half, "everywhere": everywhere, "other": other_half_and_noise}
    )


@pytest.mark.parametrize(("first", "second", "alone"), [
    ("oracle", "half", (10, 0)), ("half", "oracle", (0, 10)), ("half", "other", (10, 10)),
    ("everywhere", "half", (0, 10)), ("oracle", "oracle", (0, 0)),
])  # fmt: skip
def test_discordant_pairs_are_tested_exactly(first: str, second: str, alone: tuple[int, int]) -> None:
    found = mcnemar(told_apart(run()), first, second)
    assert found is not None and (found.pairs, found.only_first, found.only_second) == (20, *alone)
    assert found.p == (pytest.approx(binomtest(alone[0], sum(alone)).pvalue) if sum(alone) else None)


def test_other_metrics_and_systems_have_none() -> None:
    assert mcnemar(told_apart(run()), "oracle", "nobody") is None
    twins_only = twin_pairs.scored_run([c for c in HOSTS if c.facts["arm"] == "twin"], {"oracle": oracle})
    assert not told_apart(twins_only)


def test_a_comparison_of_twins_says_how_many_pairs_only_one_tells_apart() -> None:
    table = compare(run(), pairs=[("oracle", "half")], resamples=200)
    assert table.clustered_by == "host" and table.comparisons[0].clusters == 10
    assert table.comparisons[0].mcnemar is not None
    assert comparison_table(table).notes[-1] == (
        "McNemar: of 20 defects, 10 by oracle alone, 0 by half alone, are told from their twin, exact p = .002"
    )
    assert leaderboard(run(), resamples=100).clustered_by == "host"


def test_the_difference_of_two_d_primes_is_tested_by_exchanging_results() -> None:
    """No slope describes a d′ where all is found and nothing alarmed: results are exchanged host by host."""
    (one,) = compare(run(), pairs=[("oracle", "everywhere")], resamples=500).comparisons
    assert one.test == "results exchanged pair by pair, exact, all 1,024"
    assert one.p == pytest.approx(2 / 1024)
    (same,) = compare(run(), pairs=[("half", "half")], resamples=500).comparisons
    assert same.p == 1
