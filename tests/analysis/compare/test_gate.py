from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from analysis_toys import BENCHMARK, Errors, Mean, Micro, failed, make_cases, mean_scores, micro_scores, score
from reviewgauge.analysis.compare.gate import gate
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.reports.gate import Gate, GateVerdict
from reviewgauge.core.results import Outcome, Score
from reviewgauge.engine.run.scored_run import ScoredRun


def ruled(
    scores: list[Score],
    cases: list[Case],
    metric: Metric | None = None,
    outcomes: Sequence[Outcome] = (),
    **more: object,
) -> Gate:
    settings = {"margin": 0.05, "measure": "", "resamples": 2000, "candidate": "new", "baseline": "old", **more}
    margins = {settings.pop("measure"): settings.pop("margin")}
    run = ScoredRun(metric or Mean(), cases, scores, dataset="toys", benchmark=BENCHMARK, outcomes=outcomes)
    return gate(run, margins=margins, **settings)  # type: ignore[arg-type]


def pair(new: Numbers, old: Numbers, metric: Metric | None = None) -> tuple[list[Score], list[Case]]:
    cases = make_cases(len(new))
    return [*mean_scores("new", cases, new, metric), *mean_scores("old", cases, old, metric)], cases


@pytest.mark.parametrize(("shift", "noise", "verdict"), [
    (0.0, 0.03, "not worse"), (0.2, 0.03, "not worse"), (-0.02, 0.03, "not worse"), (-0.2, 0.03, "worse"),
    (-0.05, 0.03, "worse"), (-0.02, 0.3, "cannot tell"), (0.02, 0.5, "cannot tell"),
])  # fmt: skip
def test_the_verdict_follows_the_interval(shift: float, noise: float, verdict: str) -> None:
    rng = np.random.default_rng(7)
    old = rng.uniform(0.3, 0.7, 60)
    new = old + shift + rng.normal(0, noise, 60)
    new -= (new - old).mean() - shift
    found = ruled(*pair(new, old))
    assert found.verdict == verdict
    assert found.difference == pytest.approx(shift)


def test_a_difference_within_the_margin_that_is_surely_there_is_named() -> None:
    old = np.linspace(0.3, 0.7, 60)
    found = ruled(*pair(old - np.where(np.arange(60) % 2, 0.019, 0.021), old))
    assert found.verdict is GateVerdict.NOT_WORSE
    assert "a little worse" in found.reason


def test_where_less_is_better_more_is_worse() -> None:
    old = np.linspace(0.3, 0.7, 40)
    scores, cases = pair(old + 0.2, old, Errors())
    assert ruled(scores, cases, Errors()).verdict is GateVerdict.WORSE
    scores, cases = pair(old - 0.2, old, Errors())
    found = ruled(scores, cases, Errors())
    assert found.verdict is GateVerdict.NOT_WORSE
    assert found.count("won") == 40


def test_identical_reviews_are_not_worse_even_without_a_margin() -> None:
    scores, cases = pair(np.linspace(0.3, 0.7, 30), np.linspace(0.3, 0.7, 30))
    said = [Comment(id=f"c{n}", body=f"the lock {n} is never released") for n in range(30)]
    outcomes = [
        Outcome(case=case.id, system=name, review=Review(case=case.id, system=name, comments=(one,)))
        for name in ("new", "old")
        for case, one in zip(cases, said, strict=True)
    ]
    found = ruled(scores, cases, outcomes=outcomes, margin=0.0)
    assert (found.verdict, found.count("tied")) == (GateVerdict.NOT_WORSE, 30)
    assert ruled(scores, cases, outcomes=outcomes[1:], margin=0.0).verdict is GateVerdict.CANNOT_TELL


def test_two_that_find_nothing_cannot_be_told() -> None:
    found = ruled(*pair(np.zeros(30), np.zeros(30)))
    assert found.verdict is GateVerdict.CANNOT_TELL
    assert "neither of the two is better than a baseline that finds nothing" in found.reason
    better = np.where(np.arange(30) % 2, 0.2, 0.0)
    assert ruled(*pair(better, np.zeros(30))).verdict is GateVerdict.NOT_WORSE


def test_reviews_that_the_candidate_lacks_count_as_worst() -> None:
    cases = make_cases(24)
    scores = [*mean_scores("old", cases, [0.5] * 24), *mean_scores("new", cases[:6], [0.9, 0.8, 0.9, 0.8, 0.9, 0.8])]
    found = ruled(scores, cases)
    assert (found.verdict, found.failed, found.n) == (GateVerdict.CANNOT_TELL, 18, 6)
    assert "has none scored on 18 cases" in found.reason
    few = ruled([*mean_scores("new", cases, [0.9] * 24), *mean_scores("old", cases[:6], [0.3, 0.4] * 3)], cases)
    assert few.reason == "only 6 of 24 cases were scored for both"


def test_failures_of_the_candidate_alone_cannot_hide_a_loss() -> None:
    cases = make_cases(40)
    scores = [*mean_scores("old", cases, [0.9] * 40), *mean_scores("new", cases[:30], [0.92] * 30)]
    scores += [failed(Mean(), "new", case) for case in cases[30:]]
    found = ruled(scores, cases)
    assert (found.verdict, found.failed) == (GateVerdict.CANNOT_TELL, 10)
    assert found.low_if_worst is not None
    assert found.low_if_worst < -0.05
    few = [*mean_scores("old", cases, [0.5] * 40), *mean_scores("new", cases[1:], [0.9] * 39)]
    few.append(failed(Mean(), "new", cases[0]))
    assert ruled(few, cases).verdict is GateVerdict.NOT_WORSE


@pytest.mark.parametrize(("every", "new", "reason"), [
    (2, 0.9, "the candidate failed in 20 of 60 attempts"),
    (5, 0.5, "not worse on what was scored, but it failed in 8 of 48 attempts and has none scored on 0 cases"),
    (20, 0.9, "the whole interval lies within the margin"),
])  # fmt: skip
def test_attempts_that_failed_beside_others_are_counted_and_said(every: int, new: float, reason: str) -> None:
    """Their cases count by the mean of the other attempts, which hides them."""
    cases = make_cases(40)
    scores = [
        *mean_scores("old", cases, [0.5 + 0.001 * at for at in range(40)]),
        *mean_scores("new", cases, [new] * 40),
    ]
    scores += [failed(Mean(), "new", case, attempt=2) for case in cases[::every]]
    found = ruled(scores, cases, margin=0.06)
    assert found.reason.startswith(reason)
    n = len(cases[::every])
    assert f"the candidate failed in {n} of {40 + n} attempts, on {n} cases" in found.warnings


def test_a_metric_that_counts_comments_needs_not_have_the_guards() -> None:
    cases = make_cases(12)
    scores = [
        score(Mean(), name, case, {"value": 0.5 + at / 50, "comments": 2.0})
        for name in ("new", "old")
        for at, case in enumerate(cases)
    ]
    assert [check.measure for check in ruled(scores, cases).checks] == ["value"]


def test_cases_won_and_lost_add_up_and_clean_ones_count() -> None:
    cases = make_cases(4)
    old = np.array([[1, 0, 1], [1, 0, 0], [0, 0, 0], [2, 1, 0]], dtype=float)
    new = np.array([[2, 0, 0], [0, 1, 1], [0, 1, 0], [2, 1, 0]], dtype=float)
    found = ruled([*micro_scores("new", cases, new), *micro_scores("old", cases, old)], cases, Micro(), measure="f1")
    assert {c.case: c.outcome for c in found.cases} == {
        "case-00000": "won",
        "case-00001": "lost",
        "case-00002": "lost",  # one false comment on a change with nothing to find
        "case-00003": "tied",
    }
    assert found.candidate_value == pytest.approx(2 * 4 / (2 * 4 + 3 + 1))
    assert found.candidate_value is not None
    by_hand = found.candidate_value - 2 * 4 / (2 * 4 + 2 + 1)
    assert next(c.gain for c in found.cases if c.case == "case-00002") == pytest.approx(by_hand)


def test_a_case_on_which_attempts_contradict_each_other_is_unstable() -> None:
    cases = make_cases(3)
    old = mean_scores("old", cases, [0.5, 0.5, 0.5])
    table = {1: [0.9, 0.9, 0.2], 2: [0.2, 0.8, 0.1]}
    new = [
        score(Mean(), "new", case, {"value": value}, attempt=attempt)
        for attempt, values in table.items()
        for case, value in zip(cases, values, strict=True)
    ]
    found = ruled([*new, *old], cases)
    assert {c.case: (c.outcome, c.unstable) for c in found.cases} == {
        "case-00000": ("won", True),
        "case-00001": ("won", False),
        "case-00002": ("lost", False),
    }
    assert (found.unstable, found.attempts) == (1, (2, 1))


def test_what_cannot_be_gated_is_refused_or_said() -> None:
    scores, cases = pair(np.array([0.5, 0.6, 0.7]), np.array([0.5, 0.6, 0.7]))
    with pytest.raises(UserError, match=r"a margin of -0\.1 is below 0"):
        ruled(scores, cases, margin=-0.1)
    with pytest.raises(UserError, match="a margin of 2 lets everything pass"):
        ruled(scores, cases, margin=2)
    with pytest.raises(UserError, match="the same system"):
        ruled(scores, cases, candidate="old")
    with pytest.raises(UserError, match="there is no measure 'f9'"):
        ruled(scores, cases, measure="f9")
    with pytest.raises(UserError, match="there is no system 'newer'"):
        ruled(scores, cases, candidate="newer")
    alone = ruled([s for s in scores if s.case == "case-00000"], cases)
    assert (alone.verdict, alone.low) == (GateVerdict.CANNOT_TELL, None)
    assert "1 of 3 cases were scored for both" in " ".join(alone.warnings)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_handful_of_cases_on_one_side_is_no_verdict(n: int) -> None:
    old = np.linspace(0.3, 0.7, n)
    for shift in (-0.2, 0.0, 0.2):
        found = ruled(*pair(old + shift, old))
        assert found.verdict is GateVerdict.CANNOT_TELL
        assert found.reason == f"{n} clusters are too few for a verdict: 6 are the least"
    assert ruled(*pair(np.linspace(0.5, 0.6, 6), np.full(6, 0.3))).verdict is GateVerdict.NOT_WORSE


def test_an_interval_without_width_passes_nobody() -> None:
    found = ruled(*pair(np.full(8, 0.5), np.full(8, 0.5)))
    assert (found.low, found.high, found.verdict) == (0.0, 0.0, GateVerdict.CANNOT_TELL)
    assert "the interval has no width" in found.reason


def test_too_few_resamples_are_refused() -> None:
    with pytest.raises(UserError, match="5 resamples have no tails"):
        ruled(*pair(np.full(8, 0.5), np.full(8, 0.5)), resamples=5)


def test_systems_on_different_cases_cannot_be_told() -> None:
    cases = make_cases(4)
    found = ruled([*mean_scores("new", cases[:2], [1, 1]), *mean_scores("old", cases[2:], [1, 1])], cases)
    assert (found.verdict, found.n, found.difference) == (GateVerdict.CANNOT_TELL, 0, None)


@pytest.mark.parametrize("n", [15, 40])
@pytest.mark.drill
def test_a_candidate_that_is_just_too_bad_passes_as_rarely_as_promised(n: int) -> None:
    """At a true difference of -margin, "not worse" should come out in 2.5% of the studies; in 250, at most 5%."""
    rng = np.random.default_rng(n)
    passed = worse_when_equal = 0
    for _ in range(250):
        old = rng.uniform(0, 1, n)
        noise = rng.normal(0, 0.2, n)
        passed += ruled(*pair(old - 0.1 + noise, old), margin=0.1, resamples=400).verdict is GateVerdict.NOT_WORSE
        worse_when_equal += ruled(*pair(old + noise, old), margin=0.0, resamples=400).verdict is GateVerdict.WORSE
    assert passed / 250 <= 0.05
    assert worse_when_equal / 250 <= 0.05


def test_more_cases_are_asked_for_by_the_width_of_the_interval() -> None:
    rng = np.random.default_rng(3)
    old = rng.uniform(0, 1, 30)
    found = ruled(*pair(old + rng.normal(0, 0.3, 30), old), margin=0.05)
    assert found.verdict is GateVerdict.CANNOT_TELL
    assert found.needed is not None
    assert found.low is not None
    assert found.high is not None
    assert found.difference is not None
    half = (found.high - found.low) / 2
    reach = found.difference + 0.05 if found.difference > -0.05 else -found.difference
    assert found.needed == pytest.approx(30 * (half / reach) ** 2, abs=1)
