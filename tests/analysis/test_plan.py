from __future__ import annotations

import numpy as np
import pytest

from analysis_toys import BENCHMARK, Mean, Micro, failed, make_cases, score
from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.plan import Question, plan
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.sign_flip import flip_test
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case
from reviewgauge.core.reports.plan import ChangePlan, PairPlan
from reviewgauge.core.results import FailureKind, Score
from reviewgauge.engine.run.scored_run import ScoredRun

NAMES = ("tp", "fp", "fn")


def scores_of(metric: Mean | Micro, system: str, cases: list[Case], table: Numbers) -> list[Score]:
    """Scores from a table of changes x attempts x parts."""
    names = NAMES if isinstance(metric, Micro) else ("value",)
    return [
        score(metric, system, case, dict(zip(names, map(float, row), strict=True)), attempt=attempt + 1)
        for case, rows in zip(cases, table, strict=True)
        for attempt, row in enumerate(rows)
    ]


def mean_tables(generator: np.random.Generator, n: int, k: int, gap: float = 0.0) -> tuple[Numbers, Numbers]:
    """Two systems whose difference has a standard deviation of .15 between changes and of .15 within."""
    level = generator.normal(0.5, 0.2, n)
    own = level + generator.normal(0, 0.15 / np.sqrt(2), (2, n)) + np.array([[gap], [0.0]])
    drawn = own[:, :, None] + generator.normal(0, 0.15 / np.sqrt(2), (2, n, k))
    return drawn[0, :, :, None], drawn[1, :, :, None]


def micro_tables(
    generator: np.random.Generator, n: int, k: int, recalls: tuple[float, float]
) -> tuple[Numbers, Numbers]:
    """Two systems with half of their findings in common, and attempts that differ in half of theirs."""
    findings = generator.integers(1, 6, n)
    where = np.repeat(np.arange(n), findings)
    hard = generator.uniform(size=where.size)
    tables = []
    for recall in recalls:
        rank = np.where(generator.uniform(size=where.size) < 0.5, generator.uniform(size=where.size), hard)
        loose = generator.uniform(size=where.size) < 0.5
        now = [np.where(loose, generator.uniform(size=where.size) < recall, rank < recall) for _ in range(k)]
        hits = np.stack([np.bincount(where, weights=hit, minlength=n) for hit in now], axis=1)
        wrong = generator.poisson(1.5, (n, k))
        tables.append(np.stack([hits, wrong, findings[:, None] - hits], axis=2).astype(np.float64))
    return tables[0], tables[1]


def make_plan(metric: Mean | Micro, tables: tuple[Numbers, Numbers], question: Question, **more: object) -> ChangePlan:
    cases = make_cases(len(tables[0]), repositories=3)
    found = scores_of(metric, "one", cases, tables[0]) + scores_of(metric, "two", cases, tables[1])
    given = {"systems": ("one", "two"), **more}
    return plan(ScoredRun(metric, cases, found, benchmark=BENCHMARK), question, **given)  # type: ignore[arg-type]


def changes(pair: PairPlan, attempts: int) -> int:
    found = next(row.changes for row in pair.rows if row.attempts == attempts)
    assert found is not None
    return found


def power(metric: Mean | Micro, tables: list[tuple[Numbers, Numbers]]) -> float:
    """How often the test of `compare` finds the difference in these studies."""
    names = NAMES if isinstance(metric, Micro) else ("value",)
    found = 0
    for seed, (one, two) in enumerate(tables):
        measure = metric.headline
        test = flip_test(
            metric,
            names,
            one.mean(axis=1),
            two.mean(axis=1),
            np.ones(len(one)),
            measures=[measure],
            draws=399,
            seed=seed,
        )
        found += (test[measure].p or 0.0) <= 0.05
    return found / len(tables)


@pytest.mark.parametrize("attempts", [1, 3])
@pytest.mark.slow
def test_a_study_of_the_planned_size_finds_a_difference_in_a_mean_four_times_in_five(attempts: int) -> None:
    pilot = mean_tables(np.random.default_rng(1), 1_000, 3)
    planned = changes(make_plan(Mean(), pilot, Question(0.06)).pairs[0], attempts)
    assert planned == pytest.approx({1: 100, 3: 67}[attempts], rel=0.08), "2.80**2 x (.0225 + .0225 / k) / .06**2"
    studies = [mean_tables(np.random.default_rng([2, trial]), planned, attempts, gap=0.06) for trial in range(500)]
    assert 0.75 <= power(Mean(), studies) <= 0.85, "0.8, give or take 2.8 standard errors of 500 trials"


@pytest.mark.slow
def test_a_study_of_the_planned_size_finds_a_difference_in_f1_about_four_times_in_five() -> None:
    recalls = (0.45, 0.36)
    large = [t.mean(axis=(0, 1)) for t in micro_tables(np.random.default_rng(3), 200_000, 1, recalls)]
    f1 = [2 * t[0] / (2 * t[0] + t[1] + t[2]) for t in large]
    pilot = micro_tables(np.random.default_rng(4), 1_000, 3, recalls)
    planned = changes(make_plan(Micro(), pilot, Question(f1[0] - f1[1])).pairs[0], 3)
    studies = [micro_tables(np.random.default_rng([5, trial]), planned, 3, recalls) for trial in range(500)]
    assert 0.72 <= power(Micro(), studies) <= 0.85, "the test of F1 is careful, so a little less is expected"


def test_what_the_changes_at_hand_detect_is_what_compare_says() -> None:
    tables = micro_tables(np.random.default_rng(6), 100, 1, (0.45, 0.36))
    cases = make_cases(100, repositories=3)
    found = scores_of(Micro(), "one", cases, tables[0]) + scores_of(Micro(), "two", cases, tables[1])
    table = compare(ScoredRun(Micro(), cases, found, dataset="made", benchmark=BENCHMARK), pairs=[("one", "two")])
    said = table.comparisons[0].detectable
    assert said is not None
    planned = make_plan(Micro(), tables, Question(said))
    row = planned.pairs[0].rows[0]
    assert row.detectable == pytest.approx(said, rel=0.04)
    assert row.changes == pytest.approx(100, rel=0.08)


def test_one_attempt_is_planned_by_changes_only_and_says_so() -> None:
    pair = make_plan(Mean(), mean_tables(np.random.default_rng(7), 40, 1), Question(0.05)).pairs[0]
    assert [row.attempts for row in pair.rows] == [1]
    assert pair.within_first is None and pair.within_second is None
    assert "by changes only" in pair.warnings[0]


def test_more_attempts_take_fewer_changes_down_to_what_lies_between_them() -> None:
    pair = make_plan(Mean(), mean_tables(np.random.default_rng(8), 200, 4), Question(0.03)).pairs[0]
    needed = [row.changes for row in pair.rows]
    assert needed == sorted(needed, reverse=True)  # type: ignore[type-var]
    floor = 2.8016**2 * pair.between**2 / 0.03**2
    assert changes(pair, 10) > floor
    assert [row.judgements for row in pair.rows] == [2 * k * changes(pair, k) for k in (1, 2, 3, 5, 10)]


def test_attempts_of_a_system_that_never_varies_are_not_planned() -> None:
    one, two = mean_tables(np.random.default_rng(9), 60, 3)
    fixed = np.repeat(two[:, :1], 3, axis=1)
    pair = make_plan(Mean(), (one, fixed), Question(0.03)).pairs[0]
    assert pair.within_second == 0
    assert [row.judgements for row in pair.rows] == [(k + 1) * changes(pair, k) for k in (1, 2, 3, 5, 10)]
    single = make_plan(Mean(), (one, two[:, :1]), Question(0.03)).pairs[0]
    assert single.within_second is None
    assert "two has one attempt" in single.warnings[0]
    assert [row.judgements for row in single.rows] == [(k + 1) * changes(single, k) for k in (1, 2, 3, 5, 10)]
    both = make_plan(Mean(), (np.repeat(one[:, :1], 2, axis=1), fixed), Question(0.03)).pairs[0]
    assert [row.attempts for row in both.rows] == [1]
    assert "never differ" in both.warnings[0]


def test_unbalanced_attempts_and_failures_are_counted_not_scored() -> None:
    one, two = mean_tables(np.random.default_rng(11), 30, 3)
    cases = make_cases(30, repositories=3)
    found = scores_of(Mean(), "one", cases, one) + scores_of(Mean(), "two", cases, two)
    broken = [s for s in found if not (s.system == "one" and s.attempt == 3 and s.case < "case-00010")]
    broken += [failed(Mean(), "one", case, FailureKind.TIMEOUT, attempt=3) for case in cases[:10]]
    made = plan(ScoredRun(Mean(), cases, broken, benchmark=BENCHMARK), Question(0.05), systems=("one", "two"))
    pair = made.pairs[0]
    assert (pair.changes, pair.attempts_second) == (30, 3)
    assert pair.attempts_first == pytest.approx(80 / 30)
    assert any("fewer attempts" in text for text in pair.warnings)
    assert any("some attempts failed" in text for text in made.warnings)


def test_repositories_are_the_units_where_there_are_twenty() -> None:
    generator = np.random.default_rng(14)
    cases = make_cases(120, repositories=24)
    shared = np.tile(generator.normal(0, 0.3, 24), 5)
    one = (shared + generator.normal(0, 0.1, 120))[:, None, None]
    found = scores_of(Mean(), "one", cases, one) + scores_of(Mean(), "two", cases, np.zeros((120, 1, 1)))
    made = plan(ScoredRun(Mean(), cases, found, benchmark=BENCHMARK), Question(0.1))
    row = made.pairs[0].rows[0]
    assert row.repositories is not None
    assert row.changes == row.repositories * 5
    variance = one[:, 0, 0].reshape(5, 24).mean(axis=0).var(ddof=1)
    assert row.repositories == np.ceil(2.8016**2 * variance / 0.1**2) + 2


def test_one_system_alone_is_refused() -> None:
    one, _ = mean_tables(np.random.default_rng(15), 20, 1)
    cases = make_cases(20, repositories=3)
    with pytest.raises(UserError, match="only one was measured"):
        plan(ScoredRun(Mean(), cases, scores_of(Mean(), "one", cases, one), benchmark=BENCHMARK), Question(0.05))


def test_systems_that_never_differ_give_no_plan() -> None:
    one, _ = mean_tables(np.random.default_rng(16), 30, 1)
    pair = make_plan(Mean(), (one, one + 0.1), Question(0.05)).pairs[0]
    assert pair.rows == () and pair.error is None
    assert "never varies" in pair.reason


def test_a_measure_that_is_undefined_gives_its_reason() -> None:
    silent = np.tile([0.0, 0.0, 2.0], (30, 1, 1))
    other = micro_tables(np.random.default_rng(17), 30, 1, (0.4, 0.4))[0]
    made = make_plan(Micro(), (silent, other), Question(0.05), measure="precision")
    assert made.pairs[0].reason == "precision is undefined for one of the systems"
    assert made.typical is None


def test_all_pairs_with_the_leader_and_the_one_in_the_middle() -> None:
    generator = np.random.default_rng(18)
    cases = make_cases(60, repositories=3)
    found = []
    for name, spread in (("best", 0.05), ("near", 0.1), ("middle", 0.3), ("far", 0.6)):
        values = generator.normal(0.2 + (name == "best"), spread, (60, 1, 1))
        found += scores_of(Mean(), name, cases, values)
    made = plan(ScoredRun(Mean(), cases, found, benchmark=BENCHMARK), Question(0.05))
    assert {pair.first for pair in made.pairs} == {"best"} and len(made.pairs) == 3
    assert made.typical is not None and made.pairs[made.typical].second == "middle"


@pytest.mark.parametrize(("question", "said"), [
    ({"detect": 0.0}, "detect must be positive, got 0"),
    ({"detect": float("nan")}, "detect must be positive, got nan"),
    ({"detect": 0.1, "power": 1.0}, "power"),
    ({"detect": 0.1, "power": 0.01}, "power"),
])  # fmt: skip
def test_what_cannot_be_asked_is_refused(question: dict[str, float], said: str) -> None:
    with pytest.raises(UserError, match=said):
        Question(**question)  # type: ignore[arg-type]


def test_shares_and_names_are_checked() -> None:
    tables = mean_tables(np.random.default_rng(19), 30, 1)
    with pytest.raises(UserError, match="detect must be at most 1 for a share"):
        make_plan(Mean(), tables, Question(3.0))
    with pytest.raises(UserError, match="there is no measure 'recal'"):
        make_plan(Mean(), tables, Question(0.1), measure="recal")
    with pytest.raises(UserError, match="there is no system 'three'"):
        make_plan(Mean(), tables, Question(0.1), systems=("one", "three"))


def test_a_pilot_that_saw_no_variance_between_changes_is_not_believed_too_far() -> None:
    generator = np.random.default_rng(2)
    one, two = (generator.normal(0, 0.3, (24, 3, 1)) for _ in range(2))
    pair = make_plan(Mean(), (one, two), Question(0.05)).pairs[0]
    assert pair.between == 0
    assert any("look too good" in text for text in pair.warnings)


def test_an_impossible_number_of_changes_is_no_number() -> None:
    pair = make_plan(Mean(), mean_tables(np.random.default_rng(20), 30, 1), Question(1e-7)).pairs[0]
    assert pair.rows[0].changes is None and pair.rows[0].judgements is None
