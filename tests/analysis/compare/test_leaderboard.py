from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis_toys import (
    BENCHMARK,
    Errors,
    Mean,
    Micro,
    failed,
    make_cases,
    mean_scores,
    micro_scores,
    review_counts,
    score,
)
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case
from reviewgauge.core.reports.leaderboard import AttemptSpread, Leaderboard, SystemSummary
from reviewgauge.core.results import CommentOutcome, CommentState, FailureKind, Matching, Score
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.views.figures import spread_words

STATES = st.sampled_from(["scored", "failed", "na", "missing"])


def board(scores: Sequence[Score], cases: Sequence[Case], metric: Metric | None = None, **more: object) -> Leaderboard:
    run = ScoredRun(metric or Mean(), cases, scores, dataset="made", benchmark=BENCHMARK)
    return leaderboard(run, **{"resamples": 200, **more})  # type: ignore[arg-type]


def names(rows: Sequence[SystemSummary]) -> list[str]:
    return [row.system for row in rows]


def scores_of(system: str, cases: Sequence[Case], states: Sequence[str], generator: np.random.Generator) -> list[Score]:
    found = []
    for case, state in zip(cases, states, strict=True):
        if state == "scored":
            found.append(score(Mean(), system, case, {"value": float(generator.integers(0, 2))}))
        elif state == "failed":
            found.append(failed(Mean(), system, case))
        elif state == "na":
            found.append(score(Mean(), system, case, None, reason="no references"))
    return found


def test_values_counts_and_order() -> None:
    cases = make_cases(4)
    scores = mean_scores("low", cases, [0, 0, 1, 0]) + mean_scores("high", cases, [1, 1, 1, 0])
    found = board(scores, cases)
    assert names(found.systems) == ["high", "low"]
    first = found.systems[0].estimates[0]
    assert (first.measure, first.value, first.n, first.clusters, first.unit) == ("value", 0.75, 4, 4, "share")
    assert (first.worst, first.best) == (0.75, 0.75)
    assert found.systems[0].parts == {"value": 3.0}
    assert (found.clustered_by, found.clusters, found.common, found.on_common) == ("change", 4, 4, ())
    assert (found.metric, found.headline, found.benchmark) == ("analysis_toys.Mean", "value", BENCHMARK)


@pytest.mark.parametrize(("value", "ends"), [(0, (0.0, 0.324)), (1, (0.676, 1.0))])
def test_a_share_that_no_draw_changes_has_an_interval_all_the_same(value: int, ends: tuple[float, float]) -> None:
    """Newcombe, Statistics in Medicine 17 (1998): Wilson's interval of 0 of n ends at 3.84 / (n + 3.84)."""
    estimate = board(mean_scores("a", make_cases(8), [value] * 8), make_cases(8)).systems[0].estimates[0]
    assert (estimate.low, estimate.high) == pytest.approx(ends, abs=0.001)


def test_less_is_better_where_the_metric_says_so() -> None:
    cases = make_cases(2)
    metric = Errors()
    scores = mean_scores("many", cases, [5, 5], metric) + mean_scores("few", cases, [1, 1], metric)
    scores.append(failed(metric, "broken", cases[0]))
    found = board(scores, cases, metric)
    assert names(found.systems) == ["few", "many", "broken"]
    broken = found.systems[-1].estimates[0]
    assert broken.value is None
    assert (broken.worst, broken.best) == (1.0, 0.0)


def test_a_measure_of_nothing_is_none_and_last() -> None:
    cases = make_cases(30)
    silent = np.tile([0.0, 0.0, 1.0], (30, 1))
    found = board(
        micro_scores("silent", cases, silent) + micro_scores("wrong", cases, silent[:, [0, 2, 1]]), cases, Micro()
    )
    row = next(row for row in found.systems if row.system == "silent")
    precision, recall, comments = (row.estimate(name) for name in ("precision", "recall", "comments"))
    assert precision is not None and recall is not None and comments is not None
    assert (precision.value, precision.low, precision.high) == (None, None, None)
    assert recall.value == 0
    assert comments.unit == "comments per change"
    assert row.estimate("no such measure") is None


@given(st.integers(1, 12).flatmap(lambda n: st.lists(st.lists(STATES, min_size=n, max_size=n), min_size=1, max_size=3)))
def test_coverage_adds_up(states: list[list[str]]) -> None:
    cases = make_cases(len(states[0]), language=["go", "python"])
    generator = np.random.default_rng(0)
    scores = [s for i, own in enumerate(states) for s in scores_of(f"system-{i}", cases, own, generator)]
    if not scores:
        with pytest.raises(UserError, match="no scores"):
            board(scores, cases)
        return
    found = board(scores, cases, slices=["language"], resamples=20)
    for row in [*found.systems, *found.on_common, *(row for piece in found.slices for row in piece.systems)]:
        assert row.cases == row.scored + row.failed + row.not_applicable + row.missing
        assert sum(row.failures.values()) == row.failed
        assert all(estimate.n == row.scored for estimate in row.estimates)
        assert row.cases >= 0
    for row in found.systems:
        own = states[int(row.system[-1])]
        assert [row.scored, row.failed, row.not_applicable, row.missing] == [
            own.count(state) for state in ("scored", "failed", "na", "missing")
        ]
    assert len({row.scored for row in found.on_common}) <= 1


@given(st.randoms(use_true_random=False))
def test_the_order_of_scores_and_cases_does_not_matter(random: object) -> None:
    generator = np.random.default_rng(1)
    cases = make_cases(9, language=["go", "python"])
    scores = [
        s
        for name in ("a", "b", "c")
        for s in scores_of(
            name, cases, [str(x) for x in generator.choice(["scored", "failed", "missing"], 9)], generator
        )
    ]
    expected = board(scores, cases, slices=["language"])
    shuffled, turned = list(scores), list(cases)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    random.shuffle(turned)  # type: ignore[attr-defined]
    assert board(shuffled, turned, slices=["language"]) == expected


def test_failures_are_bounded_and_never_zero() -> None:
    cases = make_cases(4)
    scores = mean_scores("a", cases[:3], [1, 1, 0])
    scores.append(failed(Mean(), "a", cases[3], FailureKind.REFUSAL))
    row = board(scores, cases).systems[0]
    estimate = row.estimates[0]
    assert estimate.value == pytest.approx(2 / 3)
    assert (estimate.worst, estimate.best) == (0.5, 0.75)
    assert row.failures == {"refusal": 1}


def test_bounds_of_the_score_go_before_those_of_the_metric() -> None:
    cases = make_cases(2)
    scores = mean_scores("a", cases[:1], [0])
    scores.append(failed(Mean(), "a", cases[1], bounds={"worst": {"value": -4.0}, "best": {"value": 4.0}}))
    estimate = board(scores, cases).systems[0].estimates[0]
    assert (estimate.worst, estimate.best) == (-2, 2)


def test_failures_that_nobody_bounds_leave_the_bounds_open() -> None:
    cases = make_cases(3)
    scores = [*micro_scores("a", cases[:2], np.ones((2, 3))), failed(Micro(), "a", cases[2])]
    found = board(scores, cases, Micro())
    estimate = found.systems[0].estimate("f1")
    assert estimate is not None and estimate.value is not None
    assert (estimate.worst, estimate.best) == (None, None)
    assert any("cannot be bounded" in text for text in found.warnings)


def test_attempts_are_averaged_before_anything_else() -> None:
    cases = make_cases(2)
    scores = mean_scores("a", cases, [1, 0])
    scores += [score(Mean(), "a", cases[0], {"value": 0.0}, attempt=2), failed(Mean(), "a", cases[1], attempt=2)]
    found = board(scores, cases)
    row = found.systems[0]
    assert (row.attempts, row.scored, row.failed, row.failures) == (2, 2, 0, {"timeout": 1})
    assert row.estimates[0].value == 0.25
    assert (row.estimates[0].worst, row.estimates[0].best) == (0.25, 0.5)
    assert any("some attempts failed" in text for text in found.warnings)


def test_differing_coverage_brings_the_common_cases() -> None:
    cases = make_cases(4)
    scores = mean_scores("whole", cases, [0, 0, 1, 1]) + mean_scores("half", cases[2:], [1, 0])
    found = board(scores, cases)
    assert found.common == 2
    assert names(found.systems) == ["half", "whole"]
    assert [(row.system, row.estimates[0].value, row.cases) for row in found.on_common] == [
        ("whole", 1.0, 2),
        ("half", 0.5, 2),
    ]
    assert any("2 of 4 cases were scored for every system" in text for text in found.warnings)
    assert any(text == "half: of 4 cases 2 not run or not scored" for text in found.warnings)
    apart = board(mean_scores("a", cases[:2], [1, 1]) + mean_scores("b", cases[2:], [1, 1]), cases)
    assert (apart.common, apart.on_common) == (0, ())


@given(st.integers(0, 10**6))
def test_slices_add_up_to_the_whole(seed: int) -> None:
    generator = np.random.default_rng(seed)
    words: list[str | int | bool] = ["go", 7, True]
    cases = [
        case.model_copy(update={"facts": {} if generator.random() < 0.2 else {"kind": words[generator.integers(3)]}})
        for case in make_cases(14, repositories=4)
    ]
    table = {name: review_counts(generator, 14, 0.5, 0.5) for name in ("a", "b")}
    scores = [
        s.model_copy(update={"facets": {"category": _split(s, generator)}})
        for name, rows in table.items()
        for s in micro_scores(name, cases, rows)
        if generator.random() < 0.9
    ]
    stated = any(case.facts for case in cases)
    found = board(scores, cases, Micro(), slices=["repo", "category", *(["kind"] if stated else [])], resamples=20)
    for fact in {piece.fact for piece in found.slices}:
        pieces = [piece for piece in found.slices if piece.fact == fact]
        if not pieces[0].facet:
            assert sum(piece.n for piece in pieces) == len({score.case for score in scores})
        for at, row in enumerate(found.systems):
            assert all(piece.systems[at].system == row.system for piece in pieces)
            for part, total in row.parts.items():
                assert sum(piece.systems[at].parts[part] for piece in pieces) == pytest.approx(total)


def _split(whole: Score, generator: np.random.Generator) -> dict[str, dict[str, float]]:
    """Every count of a score dealt out to three categories."""
    found: dict[str, dict[str, float]] = {}
    for part, count in (whole.parts or {}).items():
        for _ in range(int(count)):
            category = found.setdefault(f"category-{generator.integers(3)}", {})
            category[part] = category.get(part, 0.0) + 1
    return found


def test_slices_by_fact_are_named_and_ordered() -> None:
    facts: list[int | str] = [100, 9, 20]
    cases = [*make_cases(6, lines=facts, ok=[True, False]), Case(id="z", change=make_cases(1)[0].change)]
    found = board(mean_scores("a", cases, [1, 0, 0, 1, 0, 0, 1]), cases, slices=["lines", "ok"])
    assert [(piece.value, piece.n, piece.facet) for piece in found.slices] == [
        ("9", 2, False), ("20", 2, False), ("100", 2, False), ("(not stated)", 1, False), ("false", 3, False),
        ("true", 3, False), ("(not stated)", 1, False),
    ]  # fmt: skip
    assert found.slices[2].systems[0].estimates[0].value == 1
    with pytest.raises(UserError, match="lang") as raised:
        board(mean_scores("a", cases, [0] * 7), cases, slices=["lang"])
    assert raised.value.remedy == "there are: lines, ok, repo"


def test_a_facet_is_read_on_the_cases_where_it_occurs() -> None:
    cases = make_cases(3)
    facets = {"severity": {"high": {"tp": 1.0}}}
    scores = [
        score(Micro(), "a", cases[0], {"tp": 2.0, "fn": 1.0}, facets=facets),
        score(Micro(), "a", cases[1], {"tp": 0.0, "fn": 1.0}, facets={"severity": {"high": {"fn": 1.0}}}),
        failed(Micro(), "a", cases[2]),
    ]
    piece = board(scores, cases, Micro(), slices=["severity"]).slices[0]
    assert (piece.fact, piece.value, piece.facet, piece.n) == ("severity", "high", True, 2)
    recall = piece.systems[0].estimate("recall")
    assert recall is not None
    assert (recall.value, piece.systems[0].failed) == (0.5, 0)


def test_a_facet_is_averaged_over_attempts_too() -> None:
    cases = make_cases(1)
    facets = {"severity": {"high": {"tp": 1.0, "fn": 1.0}}}
    scores = [
        score(Micro(), "a", cases[0], {"tp": 1.0, "fn": 1.0}, attempt=1, facets=facets),
        score(Micro(), "a", cases[0], {"tp": 0.0, "fn": 0.0}, attempt=2),
    ]
    row = board(scores, cases, Micro(), slices=["severity"]).slices[0].systems[0]
    assert row.parts == {"tp": 0.5, "fn": 0.5}
    assert row.attempts == 2


def test_scores_that_do_not_belong_together_are_refused() -> None:
    cases = make_cases(2)
    scores = mean_scores("a", cases, [1, 0])
    other = scores[0].model_copy(update={"benchmark": "c" * 64, "system": "b"})
    with pytest.raises(UserError, match="b was scored on benchmark cccc"):
        board([*scores, other], cases)
    with pytest.raises(UserError, match=r"scores of analysis_toys.Micro do not compare with"):
        board([*scores, *micro_scores("b", cases, np.ones((2, 3)))], cases)
    with pytest.raises(UserError, match="not in the benchmark"):
        board(scores, cases[:1])
    with pytest.raises(UserError, match="two different scores"):
        board([*scores, *mean_scores("a", cases, [0, 0])], cases)
    with pytest.raises(UserError, match="which is not finite"):
        board(mean_scores("a", cases, [float("nan"), 1]), cases)
    with pytest.raises(UserError, match="no scores"):
        board([], cases)
    with pytest.raises(UserError, match="resamples"):
        board(scores, cases, resamples=0)


def test_a_repeated_score_counts_once_and_a_later_one_replaces_a_failure() -> None:
    cases = make_cases(2)
    scores = mean_scores("a", cases, [1, 0])
    assert board([*scores, *scores], cases) == board(scores, cases)
    found = board([failed(Mean(), "a", cases[0]), *scores], cases)
    assert (found.systems[0].scored, found.systems[0].failed) == (2, 0)
    assert any("1 failures were replaced" in text for text in found.warnings)


def test_fakes_pins_and_broken_identities_are_shown() -> None:
    cases = make_cases(2)
    matching = Matching(
        policy="greedy", comments=(CommentOutcome(comment="c", state=CommentState.FALSE),), broken=("hit = matched",)
    )
    scores = [
        score(Mean(), "a", cases[0], {"value": 1.0}, fake=True, pins={"weights": "1"}, matching=matching),
        score(Mean(), "a", cases[1], {"value": 1.0}, pins={"weights": "2", "scipy": "1.17"}, matching=matching),
    ]
    found = board(scores, cases)
    assert found.systems[0].fake
    assert any(text.startswith("a: fake") for text in found.warnings)
    assert found.pins == {"scipy": "1.17", "weights": "1 | 2"}
    assert any("made with different weights" in text for text in found.warnings)
    assert found.broken == {"hit = matched": 2}


def test_a_metric_that_applies_nowhere_says_so() -> None:
    cases = make_cases(2)
    found = board([score(Mean(), "a", case, None, reason="no references") for case in cases], cases)
    assert (found.systems[0].estimates, found.systems[0].not_applicable) == ((), 2)
    assert "no case was scored: there is no figure to show" in found.warnings


def test_the_result_survives_json() -> None:
    cases = make_cases(3, language=["go"])
    found = board(mean_scores("a", cases, [1, 0, 1]), cases, slices=["language"])
    assert Leaderboard.model_validate_json(found.model_dump_json()) == found


def test_measures_undefined_in_many_resamples_are_named() -> None:
    cases = make_cases(30)
    table = np.tile([0.0, 0.0, 1.0], (30, 1))
    table[0] = [1.0, 1.0, 0.0]
    found = board(micro_scores("a", cases, table), cases, Micro())
    precision = found.systems[0].estimate("precision")
    assert precision is not None
    assert (precision.value, precision.low, precision.high) == (0.5, None, None)
    assert any(text.startswith("no interval for precision of a: undefined in up to") for text in found.warnings)


def test_several_fakes_take_one_line() -> None:
    cases = make_cases(2)
    scores = [score(Mean(), name, case, {"value": 1.0}, fake=name != "c") for name in "abc" for case in cases]
    assert [text for text in board(scores, cases).warnings if "fake" in text] == [
        "a, b: fake, figures that came from a fake model"
    ]


def spread_of(scores: list[Score], metric: Metric, cases: int) -> AttemptSpread | None:
    board = leaderboard(ScoredRun(metric, make_cases(cases), scores, dataset="made", benchmark=BENCHMARK), resamples=50)
    assert all(row.spread is None for piece in board.slices for row in piece.systems)
    return board.systems[0].spread


def attempt_scores(values: dict[int, list[float]]) -> list[Score]:
    cases = make_cases(max(values) + 1)
    return [
        score(Mean(), "s", cases[at], {"value": value}, attempt=attempt)
        for at, own in values.items()
        for attempt, value in enumerate(own, 1)
    ]


def test_worked_by_hand() -> None:
    """Two changes with the means .5 and 1, attempts at the first 0 and 1: within (.5 + 0) / 2, between .125 - .125."""
    found = spread_of(attempt_scores({0: [0.0, 1.0], 1: [1.0, 1.0]}), Mean(), 2)
    assert found is not None
    assert (found.n, found.repeated, found.attempts, found.measure, found.unit) == (2, 2, 4, "value", "share")
    assert found.within == pytest.approx(math.sqrt(0.25))
    assert found.between == pytest.approx(0.0, abs=1e-7)
    assert found.within_share == pytest.approx(1.0)
    assert found.again == pytest.approx(math.sqrt(0.25 / 2 / 2))


def test_attempts_that_agree_leave_all_variance_between_changes() -> None:
    found = spread_of(attempt_scores({0: [0.0, 0.0], 1: [1.0, 1.0], 2: [1.0, 1.0]}), Mean(), 3)
    assert found is not None
    assert (found.within, found.within_share, found.again) == (0.0, 0.0, 0.0)
    assert found.between == pytest.approx(math.sqrt(1 / 3))


def test_where_nothing_varies_there_is_no_share() -> None:
    found = spread_of(attempt_scores({0: [1.0, 1.0], 1: [1.0, 1.0]}), Mean(), 2)
    assert found is not None
    assert found.within_share is None


def test_one_attempt_each_or_one_scored_of_two_says_nothing() -> None:
    cases = make_cases(3)
    assert spread_of(attempt_scores({0: [0.0], 1: [1.0], 2: [1.0]}), Mean(), 3) is None
    broken = [
        *attempt_scores({0: [0.0], 1: [1.0], 2: [1.0]}),
        *(failed(Mean(), "s", case, attempt=2) for case in cases),
    ]
    assert spread_of(broken, Mean(), 3) is None


@pytest.mark.drill
def test_simulated_studies_move_as_foretold() -> None:
    """The measure of whole studies, made again on the same changes, varies by `again`; for a micro-averaged F1 too."""
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


def test_the_words_name_measure_unit_and_counts() -> None:
    cases = make_cases(2)
    values = {0: [0.0, 1.0], 1: [1.0, 1.0]}
    board = leaderboard(
        ScoredRun(Mean(), cases, attempt_scores(values), dataset="made", benchmark=BENCHMARK), resamples=50
    )
    assert spread_words(board.systems[0]) == (
        "value would vary by .250 (SD) if all 4 attempts at 2 changes were repeated; "
        "100% of the variance lies between attempts, the rest between changes"
    )
    once = leaderboard(
        ScoredRun(Mean(), cases, attempt_scores({0: [0.0], 1: [1.0]}), dataset="d", benchmark=BENCHMARK), resamples=50
    )
    assert spread_words(once.systems[0]) == ""
