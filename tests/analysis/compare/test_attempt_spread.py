from __future__ import annotations

import math

import numpy as np
import pytest

from analysis_toys import BENCHMARK, Mean, Micro, failed, make_cases, score
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.leaderboard import AttemptSpread
from reviewgauge.core.results import Score
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.views.terminal.figures import spread_words


def spread_of(scores: list[Score], metric: Metric, cases: int) -> AttemptSpread | None:
    board = leaderboard(ScoredRun(metric, make_cases(cases), scores, dataset="made", benchmark=BENCHMARK), resamples=50)
    assert all(row.spread is None for piece in board.slices for row in piece.systems)
    return board.systems[0].spread


def scores_of(values: dict[int, list[float]]) -> list[Score]:
    cases = make_cases(max(values) + 1)
    return [
        score(Mean(), "s", cases[at], {"value": value}, attempt=attempt)
        for at, own in values.items()
        for attempt, value in enumerate(own, 1)
    ]


def test_worked_by_hand() -> None:
    """Two changes with the means .5 and 1, attempts at the first 0 and 1: within (.5 + 0) / 2, between .125 - .125."""
    found = spread_of(scores_of({0: [0.0, 1.0], 1: [1.0, 1.0]}), Mean(), 2)
    assert found is not None
    assert (found.n, found.repeated, found.attempts, found.reading, found.unit) == (2, 2, 4, "value", "share")
    assert found.within == pytest.approx(math.sqrt(0.25))
    assert found.between == pytest.approx(0.0, abs=1e-7)
    assert found.within_share == pytest.approx(1.0)
    assert found.again == pytest.approx(math.sqrt(0.25 / 2 / 2))


def test_attempts_that_agree_leave_all_variance_between_changes() -> None:
    found = spread_of(scores_of({0: [0.0, 0.0], 1: [1.0, 1.0], 2: [1.0, 1.0]}), Mean(), 3)
    assert found is not None
    assert (found.within, found.within_share, found.again) == (0.0, 0.0, 0.0)
    assert found.between == pytest.approx(math.sqrt(1 / 3))


def test_where_nothing_varies_there_is_no_share() -> None:
    found = spread_of(scores_of({0: [1.0, 1.0], 1: [1.0, 1.0]}), Mean(), 2)
    assert found is not None
    assert found.within_share is None


def test_one_attempt_each_or_one_scored_of_two_says_nothing() -> None:
    cases = make_cases(3)
    assert spread_of(scores_of({0: [0.0], 1: [1.0], 2: [1.0]}), Mean(), 3) is None
    broken = [*scores_of({0: [0.0], 1: [1.0], 2: [1.0]}), *(failed(Mean(), "s", case, attempt=2) for case in cases)]
    assert spread_of(broken, Mean(), 3) is None


@pytest.mark.slow
def test_simulated_studies_move_as_foretold() -> None:
    """The reading of whole studies, made again on the same changes, varies by `again`; for a micro-averaged F1 too."""
    generator = np.random.default_rng(3)
    cases, attempts = make_cases(60), 3
    chance = generator.beta(2, 2, len(cases))
    findings = generator.integers(1, 5, len(cases))

    def study() -> tuple[list[Score], float]:
        hit = generator.binomial(findings[:, None], chance[:, None], (len(cases), attempts))
        false = generator.poisson(1.0, (len(cases), attempts))
        made = [
            score(Micro(), "s", case, {"tp": float(h), "fp": float(f), "fn": float(findings[i] - h)}, attempt=k + 1)
            for i, case in enumerate(cases)
            for k, (h, f) in enumerate(zip(hit[i], false[i], strict=True))
        ]
        return made, float(2 * hit.sum() / (hit.sum() + false.sum() + findings.sum() * attempts))

    found = spread_of(study()[0], Micro(), len(cases))
    assert found is not None
    seen = float(np.std([study()[1] for _ in range(400)]))
    assert found.again == pytest.approx(seen, rel=0.25)
    assert found.within_share is not None
    assert 0.2 < found.within_share < 0.95


def test_the_words_name_reading_unit_and_counts() -> None:
    cases = make_cases(2)
    values = {0: [0.0, 1.0], 1: [1.0, 1.0]}
    board = leaderboard(ScoredRun(Mean(), cases, scores_of(values), dataset="made", benchmark=BENCHMARK), resamples=50)
    assert spread_words(board.systems[0]) == (
        "value would vary by .250 (SD) if all 4 attempts at 2 changes were repeated; "
        "100% of the variance lies between attempts, the rest between changes"
    )
    once = leaderboard(
        ScoredRun(Mean(), cases, scores_of({0: [0.0], 1: [1.0]}), dataset="d", benchmark=BENCHMARK), resamples=50
    )
    assert spread_words(once.systems[0]) == ""
