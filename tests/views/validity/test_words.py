from __future__ import annotations

import pytest

import validity_toys as toys
from reviewgauge.analysis.stats.classification import TREE
from reviewgauge.core.document import Value
from reviewgauge.core.reports.validity import (
    Calibrated,
    Correlations,
    MetricDifference,
    MetricValidity,
    RowSet,
    ValidityReport,
)
from reviewgauge.views.validity import words

ROWS = RowSet(name="all rows", rows=100, clusters=25, clustered_by="reference")


def metric(
    label: str, value: float | None, wide: float | None = 0.05, n: int = 100, *, dimension: str = "grade",
    fake: bool = False, measure: str = "mean", signature: str = "", reason: str = "all scores are equal",
) -> MetricValidity:  # fmt: skip
    known = value is not None and wide is not None
    figure = Value(
        value=value, low=value - wide if known else None, high=value + wide if known else None, n=n,  # type: ignore[operator]
        reason="" if value is not None else reason,
    )  # fmt: skip
    part = Correlations(rows=ROWS, pearson=figure, spearman=figure, kendall=figure)
    return MetricValidity(
        metric=signature or f"{label}()", label=label, measure=measure, unit="share", dimension=dimension,
        fake=fake, correlations=(part,),
    )  # fmt: skip


def report(*metrics: MetricValidity, gaps: dict[str, Value] | None = None) -> ValidityReport:
    """`gaps`: what the best is better by than the metric of that label, on the rows of both."""
    pairs = tuple(
        MetricDifference(
            dimension="grade", metric="best()", measure="mean", other=f"{label}()", other_measure="mean",
            value=0.5, other_value=0.4, difference=gap,
        )
        for label, gap in (gaps or {}).items()
    )  # fmt: skip
    return ValidityReport(
        dataset="d", benchmark="b" * 64, cases=25, reviews=100, labels=(), metrics=metrics, differences=pairs,
        resamples=1000, seed=0,
    )  # fmt: skip


def gap(value: float, low: float) -> Value:
    return Value(value=value, low=low, high=2 * value - low, n=80)


def test_the_best_is_named_with_its_interval_and_the_next_beside_it() -> None:
    gaps = {"bleu": gap(0.29, 0.2), "rouge": gap(0.23, 0.2)}
    said = words.trust(report(metric("bleu", 0.22), metric("best", 0.51), metric("rouge", 0.28), gaps=gaps), "grade")
    assert said == (
        "best agrees best with people on grade: Spearman .510 [.460, .560] over 100 rows; "
        "rouge comes next with .280 [.230, .330]. On the rows of both it is better by .230 [.200, .260], and it is "
        "better than all others."
    )


def test_intervals_that_overlap_do_not_leave_the_order_open_where_the_difference_is_sure() -> None:
    both = metric("best", 0.3), metric("rouge", 0.28)
    assert "better by .020 [.010, .030]" in words.trust(report(*both, gaps={"rouge": gap(0.02, 0.01)}), "grade")


def test_intervals_apart_leave_it_open_where_the_difference_is_not() -> None:
    three = metric("bleu", 0.1), metric("best", 0.5), metric("chrf", 0.2)
    said = words.trust(report(*three, gaps={"bleu": gap(0.4, 0.1), "chrf": gap(0.3, -0.01)}), "grade")
    assert said.endswith("On the rows of both it cannot be told from chrf.")
    assert words.trust(report(*three), "grade").endswith("it cannot be told from chrf and bleu.")


def test_the_baseline_is_compared_too() -> None:
    length = metric("length", 0.25).model_copy(update={"baseline": True})
    three = metric("best", 0.5), metric("chrf", 0.2), length
    said = words.trust(report(*three, gaps={"chrf": gap(0.3, 0.1), "length": gap(0.25, -0.1)}), "grade")
    assert said.endswith("it cannot be told from length.")


def test_each_pair_has_a_line() -> None:
    shown = words.paired(report(metric("best", 0.5), metric("chrf", 0.2), gaps={"chrf": gap(0.1, 0.05)}), "grade")
    assert shown == ["best less chrf: .100 [.050, .150] (.500 and .400 on 80 rows)"]


def test_other_rows_are_said() -> None:
    assert "b comes next with .200 [.150, .250] over 90 rows" in words.trust(
        report(metric("a", 0.5), metric("b", 0.2, n=90)), "grade"
    )


@pytest.mark.parametrize("wide", [0.05, None])
def test_an_interval_that_holds_0_recommends_nothing(wide: float | None) -> None:
    value = 0.04 if wide else -0.04
    said = words.trust(report(metric("a", value, wide), metric("b", -0.3, wide)), "grade")
    assert said.startswith("None can be trusted on grade: the best, a, has")
    assert words.remarks(report(metric("a", value, wide)), "grade") == []


def test_an_interval_below_0_goes_against_people() -> None:
    said = words.trust(report(metric("mine", -0.348, 0.04)), "grade")
    assert said.endswith("mine, has Spearman -.348 [-.388, -.308] over 100 rows, so it goes against people.")


def test_a_metric_below_the_length_of_the_review_is_not_recommended() -> None:
    length = metric("review length (baseline)", 0.374).model_copy(update={"baseline": True})
    said = words.trust(report(length, metric("bleu", 0.2)), "grade")
    assert said.startswith("None beats the baseline on grade: the best, bleu, has Spearman .200")
    assert "review length (baseline) has .374 [.324, .424]" in said
    better = report(length, metric("combined", 0.58))
    assert words.trust(better, "grade").startswith("combined agrees best")
    assert words.remarks(better, "grade")[-1].startswith("For comparison: review length (baseline) has Spearman .374")


def test_the_lead_over_the_best_baseline_is_that_of_the_best_metric() -> None:
    length = metric("length", 0.3).model_copy(update={"baseline": True})
    made = report(metric("best", 0.5), metric("chrf", 0.4), length, gaps={"length": gap(0.2, 0.1)})
    other = made.differences[0].model_copy(update={"metric": "chrf()", "difference": gap(0.1, 0.05)})
    made = made.model_copy(update={"differences": (*made.differences, other)})
    assert words.remarks(made, "grade")[-1].endswith("it is better by .200 [.100, .300].")
    assert words.paired(made, "grade")[1].startswith("chrf less length: .100")


def test_where_the_mean_falls_from_grade_to_grade() -> None:
    rows = toys.report(toys.KINDS[:1], rows=60).metrics[0].grades[:1]
    up = [rows[0].model_copy(update={"grade": g, "mean": toys.figure(v, 9)}) for g, v in ((1, 0.1), (2, 0.4), (3, 0.3))]
    plain = metric("a", 0.5).model_copy(update={"grades": tuple(up)})
    assert words.falls(plain) == [(2, 3)]
    assert words.falls(plain.model_copy(update={"less_is_better": True})) == [(1, 2)]


def test_undefined_and_fake_scores_are_never_best() -> None:
    said = words.trust(report(metric("a", 0.9, fake=True), metric("b", None), metric("c", 0.3)), "grade")
    assert said.startswith("c agrees best")
    assert said.endswith("1 with fake scores is not compared.")
    assert words.trust(report(metric("b", None)), "grade") == (
        "No metric has a defined correlation with grade here: all scores are equal."
    )
    assert "the scores are fake" in words.trust(report(metric("b", 0.9, fake=True)), "grade")


def test_without_intervals_nothing_is_sure() -> None:
    assert "Without intervals" in words.trust(report(metric("a", 0.5, None), metric("b", 0.2, None)), "grade")


def test_many_rivals_are_counted() -> None:
    metrics = [metric(name, 0.3) for name in "abcdefg"]
    assert "cannot be told from b, c and 4 more" in words.trust(report(*metrics), "grade")


def test_each_dimension_has_its_own_answer() -> None:
    both = report(metric("a", 0.5, dimension="x"), metric("b", 0.2, dimension="x"), metric("b", 0.4, dimension="y"))
    assert words.dimensions(both) == ["x", "y"]
    assert words.trust(both, "x").startswith("a agrees best with people on x")
    assert words.trust(both, "y").startswith("b agrees best with people on y")


def test_names_stay_apart() -> None:
    same = report(
        metric("rouge", 0.2, measure="rouge1"), metric("rouge", 0.3, measure="rougeL"),
        metric("bleu", 0.1, signature="bleu(1)"), metric("bleu", 0.1, signature="bleu(2)"), metric("chrf", 0.1),
    )  # fmt: skip
    assert list(words.names(same).values()) == ["rouge rouge1", "rouge rougeL", "bleu(1)", "bleu(2)", "chrf"]


@pytest.mark.slow
def test_cautions_are_said_once_with_whom_they_concern() -> None:
    made = toys.awkward(systems=4)
    said = words.cautions(made)
    assert len(said) == len(set(said))
    assert any(text.startswith("consensus labels, not independent ones") for text in said)
    assert f"figures of calibrated scores (floor and ordinal): {toys.USED_LABELS}" in said
    assert any("the scores are fake" in text and text.startswith(toys.LONG) for text in said)
    assert all(warning in said for warning in made.warnings)


def test_the_remarks_hold_the_figures_of_the_best_metric() -> None:
    made = toys.report(rows=600)
    best = words.best_first(made, "grade")[0]
    said = " ".join(words.remarks(made, "grade"))
    sweep, tree = words.main_sweep(best), words.classifier(best, TREE)
    assert sweep is not None
    assert sweep.cut == 2
    assert tree is not None
    assert words.coefficient(sweep.auc.value) in said
    assert f"lets a decision tree predict {words.coefficient(tree.accuracy.value)} of the grades" in said
    assert "ranks 4 systems" in said
    assert best.ends is not None
    without = words.with_bounds(best.ends.spearman)
    assert (
        "It puts 12 reviews (2.0%) to which people gave 1 among its highest scores, and 2 reviews (0.3%) to which they "
        f"gave 5 among its lowest; without these, Spearman is {without}."
    ) in said
    floor = words.calibrated(best, "floor")
    assert floor is not None
    assert f"reaches Spearman {words.with_bounds(floor.spearman)} after floor calibration" in said


def test_a_mean_within_folds_is_not_set_against_the_correlation_on_all_rows() -> None:
    plain = metric("rouge", 0.5)
    high = Value(value=0.9, low=0.8, high=0.95, n=100)
    ordinal = Calibrated(method="ordinal", folds=10, grouped_by="reference", spearman=high)
    made = report(plain.model_copy(update={"calibrated": (ordinal,)}))
    assert "calibration" not in " ".join(words.remarks(made, "grade"))


def test_what_is_to_be_minded_of_the_best_metric_stands_first() -> None:
    best = metric("a", 0.5).model_copy(update={"estimate_note": "an estimate", "warnings": ("it saw these labels",)})
    assert words.remarks(report(best, metric("b", 0.2)), "grade")[:2] == [
        "Note: an estimate.",
        "Note: it saw these labels.",
    ]


def test_why_a_figure_is_missing_is_said_once_a_reason() -> None:
    said = words.undefined([metric("a", None), metric("b", None)], words.names(report(metric("a", 0), metric("b", 0))))
    assert said == ["a and b: Spearman, Kendall, Pearson undefined: all scores are equal"]
