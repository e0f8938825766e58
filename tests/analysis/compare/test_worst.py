from __future__ import annotations

import numpy as np

from analysis_toys import BENCHMARK, Errors, Micro, failed, make_cases, mean_scores, micro_scores
from reviewgauge.analysis.compare.leaderboard import worst_cases
from reviewgauge.engine.run.scored_run import ScoredRun


def test_the_cases_that_cost_the_most_come_in_their_order() -> None:
    cases = make_cases(5)[::-1]  # the benchmark's order is not that of the ids
    rows = np.array([[1, 0, 0], [0, 9, 0], [1, 0, 0], [0, 0, 3], [2, 0, 0]])  # tp, fp, fn; the second has no finding
    scores = [*micro_scores("a", cases, rows), *micro_scores("b", cases[:1], rows[:1]), failed(Micro(), "b", cases[1])]
    run = ScoredRun(Micro(), cases, scores, benchmark=BENCHMARK)
    assert worst_cases(run, 1) == [1]
    assert worst_cases(run, 2) == [1, 3]
    assert worst_cases(run, 0) == []
    assert worst_cases(run, 9) == [0, 1, 2, 3, 4]


def test_where_less_is_better_the_highest_cost_the_most() -> None:
    cases = make_cases(3)
    run = ScoredRun(Errors(), cases, mean_scores("a", cases, [1, 0, 5], Errors()), benchmark=BENCHMARK)
    assert worst_cases(run, 1) == [2]
