from __future__ import annotations

import numpy as np
import pytest

from analysis_toys import Micro
from judged_toys import LIKERT, Missed, Shared, Study, case, label, review, study
from reviewgauge.analysis.validity.baselines import length_baseline
from reviewgauge.analysis.validity.human_values import human_values
from reviewgauge.analysis.validity.report import Evidence, ValiditySettings
from reviewgauge.analysis.validity.review_table import ReviewTable, RowFilter, join
from reviewgauge.analysis.validity.scored import Scored
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, Comment
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.core.results import NOT_STATED, Failure, FailureKind, Outcome, Score

ONE, TWO = review(0, "s", 3), review(1, "s", 2)


def score(of: Outcome, **more: object) -> Score:
    return Score.model_validate({"case": of.case, "system": of.system, "metric": "m", "benchmark": "b", **more})


def test_every_review_is_a_row_or_counted_with_its_reason() -> None:
    systems = ("tool", "msg", "unlabelled", "unscored", "broken", "crashed", "aside")
    outcomes = [review(0, system, 3) for system in systems]
    labels = [label(one, 3) for one in outcomes if one.system != "unlabelled"]
    labels.append(label(review(5, "tool", 3), 4))
    failure = Failure(kind=FailureKind.TIMEOUT, message="slow")
    more: dict[str, dict[str, object]] = {
        "broken": {"failure": failure, "reason": "the review failed"},
        "crashed": {"failure": failure, "reason": "the metric failed"},
        "aside": {"reason": "has no reference"},
    }
    scores = [
        score(one, **more.get(one.system, {"parts": {"share": 0.5}})) for one in outcomes if one.system != "unscored"
    ]
    bench = ReviewTable.of([case(0)], outcomes, ["msg"])
    (human,), _ = human_values(labels, {"grade": LIKERT})
    judged = join(bench, human, Scored.of(Shared(), scores).values)
    assert judged.n == 1
    assert (judged.system, judged.score.tolist(), judged.human.tolist()) == (["tool"], [0.5], [3.0])
    assert judged.left_out == {
        "written by people": 1,
        "no human label": 1,
        "not scored": 1,
        "the review failed": 1,
        "the metric failed": 1,
        "the metric does not apply: has no reference": 1,
        "labels on reviews that are not in the run": 1,
    }
    assert judged.n + sum(judged.left_out.values()) == len(outcomes) + 1


def test_a_row_is_the_headline_of_the_review_alone_and_undefined_is_no_row() -> None:
    scores = [score(ONE, parts={"tp": 1, "fp": 1, "fn": 0}), score(TWO, parts={"tp": 0, "fp": 0, "fn": 0})]
    found = Scored.of(Micro(), scores).values
    assert found["case-000", "s", 1] == pytest.approx(2 / 3), "its own F1, not that of the sums"
    assert found["case-001", "s", 1] == "f1 is undefined on the review alone"
    assert Scored.of(Micro(), []).values == {}


def test_rare_reasons_are_counted_together() -> None:
    outcomes = [review(number, "s", 2) for number in range(30)]
    scores = [score(one, reason=f"reason {min(number, 20)}") for number, one in enumerate(outcomes)]
    bench = ReviewTable.of([case(number) for number in range(30)], outcomes)
    (human,), _ = human_values([label(one, 2) for one in outcomes], {"grade": LIKERT})
    judged = join(bench, human, Scored.of(Shared(), scores).values)
    assert len(judged.left_out) == 7
    assert judged.left_out["the metric does not apply: other reasons"] == 15
    assert sum(judged.left_out.values()) == 30


def test_reviews_of_one_reference_are_one_cluster_wherever_it_stands() -> None:
    same = Comment(id="r", body="The file handle is never closed on error.")
    near = Comment(id="r", body="the file handle is never closed, on error")
    bodies = [same, near, None, None, Comment(id="r", body="Please rename the argument of this method")]
    cases = [
        Case(id=f"case-{n:03d}", change=Change(repo="o"), references=(body,) if body else ())
        for n, body in enumerate(bodies)
    ]
    outcomes = [review(n, system, 2) for n in range(5) for system in ("a", "b")]
    bench = ReviewTable.of(cases, outcomes)
    assert bench.cluster.tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 3, 3], "cases without a reference stand for themselves"
    assert bench.clusters == 4
    assert bench.known_facts == ["system"]


def test_facts_by_row() -> None:
    made = study(4)
    judged = join(made.bench(), made.humans()[0], Scored.of(Shared(), made.scores(Shared())).values)
    assert judged.fact("language")[:5] == ["java"] * 4 + ["python"]
    assert judged.fact("system")[:4] == ["best", "fair", "good", "weak"]
    assert set(judged.fact("size")) == {None}
    rows = judged.row_set("odd", np.arange(judged.n) % 2 == 1)
    assert (rows.rows, rows.clusters, rows.left_out) == (8, 4, {"not odd": 8})


def test_an_empty_run_has_no_rows() -> None:
    bench = ReviewTable.of([], [])
    (human,), _ = human_values([label(ONE, 2)], {"grade": LIKERT})
    judged = join(bench, human, {})
    assert judged.n == 0 and judged.left_out == {"labels on reviews that are not in the run": 1}


SMALL = ValiditySettings(resamples=60, folds=4, slices=("system", "language"))


def slice_of(made: Study, where: RowFilter | None, *, settings: ValiditySettings = SMALL) -> ValidityReport:
    bench, among = made.bench(), None
    if where is not None:
        bench = where.narrow(bench)
        among = {bench.keys[at] for at in bench.places}
    humans, _ = human_values(made.labels, {"grade": LIKERT}, among=among)
    scored = [Scored.of(metric, made.scores(metric)) for metric in (Shared(), Missed())]
    return Evidence(bench, tuple(humans), (*scored, length_baseline(bench)), settings, "toy", "b").report()


def asked(*words: str) -> RowFilter:
    found = RowFilter.of(words)
    assert found is not None
    return found


@pytest.mark.slow
def test_a_slice_has_the_figures_of_its_line_in_the_whole_report() -> None:
    made = study()
    whole = slice_of(made, None)
    for fact, value in (("system", "best"), ("language", "java")):
        part = slice_of(made, asked(f"{fact}={value}"))
        for one, other in zip(whole.metrics, part.metrics, strict=True):
            (line,) = [row for row in one.slices if (row.fact, row.value) == (fact, value)]
            assert other.correlations[0].spearman == line.spearman, "the same rows under the same resamples"


@pytest.mark.slow
def test_every_table_is_of_the_slice_and_what_is_outside_is_counted() -> None:
    part = slice_of(study(), asked("system=best", "language=java"))
    assert (part.dataset, part.cases, part.reviews) == ("toy where language = java and system = best", 30, 30)
    assert (part.labels[0].rows, sum(part.labels[0].distribution.values())) == (30, 30)
    assert part.labels[0].raters == {"ann": 30}
    for one in part.metrics:
        rows = one.correlations[0].rows
        assert (rows.rows, rows.left_out) == (30, {"not language = java and system = best": 210})
        assert sum(row.n for row in one.grades) == 30
        assert {row.system for row in (*one.over, *one.under)} == {"best"}
        assert {trait.n_all for trait in one.traits} == {30}
        assert one.ranking is None, "one system is in no order"


@pytest.mark.slow
def test_a_fact_that_is_named_twice_may_have_either_value() -> None:
    part = slice_of(study(), asked("system=best", "system=weak"))
    assert part.dataset == "toy where system = best or weak" and part.reviews == 120
    ranking = part.metrics[0].ranking
    assert ranking is not None and [point.system for point in ranking.systems] == ["best", "weak"]


def test_rows_without_the_fact_are_a_slice_too() -> None:
    cases = [case(0), case(1).model_copy(update={"facts": {}})]
    bench = ReviewTable.of(cases, [review(0, "one", 3), review(1, "one", 3)])
    assert asked(f"language={NOT_STATED}").narrow(bench).places.tolist() == [1]


def test_words_and_mappings_say_the_same() -> None:
    assert RowFilter.of({"system": "best", "stars": 5}) == RowFilter.of(["stars = 5", "system=best"])
    assert RowFilter.of("system=best") == RowFilter.of(["system=best", "system=best"])
    assert RowFilter.of("title=a=b") == RowFilter.of({"title": "a=b"})
    assert RowFilter.of(()) is None and RowFilter.of({}) is None


def test_folders_tell_slices_apart() -> None:
    assert asked("system=Auger").folder == "where-system-Auger"
    assert asked("system=b", "language=java", "language=c").folder == "where-language-c+java-system-b"
    odd = [asked("a-b=c"), asked("a=b-c"), asked("a=b c"), asked("a=b/c"), asked("a=../.."), asked(f"a={'x' * 300}")]
    odd.append(asked(f"a={'x' * 301}"))
    folders = [one.folder for one in odd]
    assert len(set(folders)) == len(odd)
    assert all(len(name) < 120 and "/" not in name and ".." not in name and " " not in name for name in folders)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("best",), "'best' is not FACT=VALUE"),
        (("=best",), "is not FACT=VALUE"),
        (("size=1",), r"no case has the fact 'size' \(there are: system, language\)"),
        (("system=Best",), r"no review has system = Best \(there are: best, fair, good, weak\)"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError, match=said):
        asked(*words).narrow(study(4).bench())


def test_many_values_are_counted_and_mixtures_may_be_empty() -> None:
    cases = [case(number, repo=f"r{number:02d}") for number in range(50)]
    bench = ReviewTable.of(cases, [review(number, ("a", "b")[number % 2], 3) for number in range(50)])
    with pytest.raises(UserError, match=r"r18, r19 and 30 more\)"):
        asked("repo=x").narrow(bench)
    with pytest.raises(UserError, match=r"no review has repo = r01 and system = a \(each condition has reviews"):
        asked("repo=r01", "system=a").narrow(bench)


def test_scale_and_rounds_are_those_of_all_labels() -> None:
    outcomes = [review(0, "one", 3), review(1, "one", 3)]
    labels = [
        label(outcomes[0], 5, round="first"),
        label(outcomes[1], 2, round="later"),
        label(outcomes[1], 1, round="first"),
    ]
    only = {("case-001", "one", 1)}
    ((human,), _) = human_values(labels, {}, among=only)
    assert (human.scale.low, human.scale.high) == (1, 5), "the range of all of them"
    assert human.of == {("case-001", "one", 1): 1.0} and human.left_out == {"labels of other rounds": 1}
    assert human.summary.distribution == {"1": 1} and human.summary.raters == {"ann": 1}
    found, notes = human_values(labels, {}, among={("case-009", "one", 1)})
    assert found == [] and notes == ["left out: grade, which has no labels by people on the selected reviews"]


def test_a_slice_has_other_inputs_than_the_whole() -> None:
    made = study(6)
    printed = []
    for where in (None, asked("system=best"), asked("system=good"), asked("language=java")):
        bench = made.bench() if where is None else where.narrow(made.bench())
        evidence = Evidence(bench, tuple(made.humans()), (), SMALL, "toy", "b")
        printed.append("".join(map(repr, evidence.inputs)))
    assert len(set(printed)) == 4


def test_clusters_are_those_of_the_whole() -> None:
    bench = study(8).bench()
    part = asked("system=best").narrow(bench)
    assert part.cluster is bench.cluster and part.clusters == bench.clusters
    assert np.unique(part.cluster[part.places]).size == 8
