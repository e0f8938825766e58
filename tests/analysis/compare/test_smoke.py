from __future__ import annotations

import numpy as np
import pytest

from analysis_toys import BENCHMARK, Mean, make_cases, mean_scores, score
from reviewgauge.analysis.compare.smoke import smoke
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case
from reviewgauge.core.reports.gate import SmokeSet
from reviewgauge.core.results import Score
from reviewgauge.engine.run.scored_run import ScoredRun


def picked(scores: list[Score], cases: list[Case], count: int) -> SmokeSet:
    return smoke(ScoredRun(Mean(), cases, scores, dataset="toys", benchmark=BENCHMARK), count=count)


def test_cases_that_go_with_ability_are_picked_before_those_that_do_not() -> None:
    cases = make_cases(30)
    rng = np.random.default_rng(1)
    scores = []
    for ability, system in enumerate("abcdef"):
        telling = np.full(10, ability / 5)  # the better the system, the more it finds
        same = np.full(10, 0.5)
        chance = rng.integers(0, 2, 10)
        scores += mean_scores(system, cases, [*telling, *same, *chance])
    found = picked(scores, cases, 10)
    assert {c.case for c in found.cases} == {case.id for case in cases[:10]}
    assert found.cases[0].separation > 0


def test_a_case_that_flips_between_attempts_is_picked_after_one_that_does_not() -> None:
    cases = make_cases(3)
    scores = []
    for system, ability in (("weak", 0.2), ("middling", 0.5), ("strong", 0.8)):
        for attempt, wobble in ((1, -0.2), (2, 0.2)):
            for case, value in zip(cases, [ability, ability + wobble, 0.5], strict=True):
                scores.append(score(Mean(), system, case, {"value": value}, attempt=attempt))
    found = picked(scores, cases, 2)
    assert [c.case for c in found.cases] == ["case-00000", "case-00001"]
    assert found.cases[0].noise == pytest.approx(0)
    assert (found.cases[1].noise or 0) > 0


def test_of_two_systems_the_cases_that_set_them_apart_most_are_picked() -> None:
    cases = make_cases(12)
    gaps = np.linspace(0, 0.9, 12)
    found = picked([*mean_scores("new", cases, gaps), *mean_scores("old", cases, np.zeros(12))], cases, 4)
    assert [c.case for c in found.cases] == [case.id for case in cases[:-5:-1]]


def test_of_two_systems_a_case_that_flips_is_worth_less_than_one_that_does_not() -> None:
    cases = make_cases(4)
    scores = []
    for system, value in (("old", 0.2), ("new", 0.6)):
        for attempt, wobble in ((1, -0.3), (2, 0.3)):
            for case, own in zip(cases, [value, value + wobble, value, 0.5], strict=True):
                scores.append(score(Mean(), system, case, {"value": own}, attempt=attempt))
    assert [c.case for c in picked(scores, cases, 3).cases] == ["case-00000", "case-00002", "case-00001"]


def test_clean_changes_keep_their_share() -> None:
    cases = [case.model_copy(update={"verdict": True}) if i % 4 == 0 else case for i, case in enumerate(make_cases(40))]
    scores = mean_scores("a", cases, np.linspace(0, 1, 40)) + mean_scores("b", cases, np.zeros(40))
    found = picked(scores, cases, 20)
    assert sum(case.clean for case in found.cases) == 5
    assert "picked from two systems" in found.warnings[0]


def test_too_little_to_pick_from_is_an_error() -> None:
    cases = make_cases(5)
    one = mean_scores("a", cases, range(5))
    with pytest.raises(UserError, match="it takes two systems"):
        picked(one, cases, 2)
    with pytest.raises(UserError, match="5 cases were scored for all systems, fewer than 6"):
        picked(one + mean_scores("b", cases, range(5)), cases, 6)
