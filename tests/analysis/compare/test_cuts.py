from __future__ import annotations

from datetime import date

import pytest

from analysis_toys import BENCHMARK, Mean, make_cases, mean_scores
from reviewgauge.analysis.compare.cuts import Cut, parse_cut
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.scored_run import ScoredRun


def test_scores_before_and_after_a_day_add_up_to_the_whole() -> None:
    cases = make_cases(6, created=["2024-01-01", "2025-03-31T10:00:00Z", "2025-04-01"])
    cases[5] = cases[5].model_copy(update={"facts": {}})
    board = leaderboard(
        ScoredRun(Mean(), cases, mean_scores("a", cases, [0, 1, 1, 0, 1, 0.5]), dataset="toys", benchmark=BENCHMARK),
        resamples=50,
        slices=["created<2025-03-31"],
    )
    found = {piece.value: (piece.n, piece.systems[0].estimates[0].value) for piece in board.slices}
    assert found == {
        "before 2025-03-31": (2, 0.0),
        "2025-03-31 and later": (3, 1.0),
        "(not stated)": (1, 0.5),
    }


def test_numbers_are_cut_too() -> None:
    cases = make_cases(4, lines=[10, 99, 100, 1000])
    cut = parse_cut("lines<100")
    assert cut == Cut("lines", 100.0)
    assert [cut.side(case) for case in cases] == ["below 100", "below 100", "100 and above", "100 and above"]


def test_a_slice_without_a_limit_is_no_cut_and_a_bad_one_is_named() -> None:
    assert parse_cut("language") is None
    assert parse_cut("created<2025-03-31") == Cut("created", date(2025, 3, 31))
    for limit in ("soon", "nan", "inf", "2025-02-30"):
        with pytest.raises(UserError, match=f"{limit} is neither a number nor a date"):
            parse_cut(f"created<{limit}")
    cases = make_cases(1, created=["yesterday"])
    with pytest.raises(UserError, match="case-00000: created='yesterday' is not a date"):
        Cut("created", date(2025, 1, 1)).side(cases[0])
