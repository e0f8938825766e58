from __future__ import annotations

import numpy as np
import pytest

from judged_toys import LIKERT, Missed, Shared, Study, case, label, review, study
from reviewgauge.analysis.validity.report import Evidence, Scored, ValiditySettings, length_baseline
from reviewgauge.analysis.validity.rows import ReviewTable, human_values
from reviewgauge.analysis.validity.subset import RowFilter
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.core.results import NOT_STATED

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


def test_a_slice_has_the_figures_of_its_line_in_the_whole_report() -> None:
    made = study()
    whole = slice_of(made, None)
    for fact, value in (("system", "best"), ("language", "java")):
        part = slice_of(made, asked(f"{fact}={value}"))
        for one, other in zip(whole.metrics, part.metrics, strict=True):
            (line,) = [row for row in one.slices if (row.fact, row.value) == (fact, value)]
            assert other.correlations[0].spearman == line.spearman, "the same rows under the same resamples"


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
    with pytest.raises(UserError, match=r"no review has repo = r01 and system = a \(each is there"):
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
    assert found == [] and notes == ["grade: people judged none of the reviews that were asked for: left out"]


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
