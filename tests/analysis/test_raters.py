from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reviewgauge.analysis.raters import AgreementSettings, LabelFilter, agreement_report
from reviewgauge.analysis.stats.agreement import ALPHA, Table, agree
from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Scale, Subject, SubjectKind
from reviewgauge.core.reports.agreement import Coefficient, DimensionAgreement
from reviewgauge.datasets.crscore_study import CrscoreStudy
from reviewgauge.datasets.graded_reviews import GradedReviews

MODELS = ("gpt", "gemini")
QUICK = AgreementSettings(resamples=50)


def label(case: str, rater: str, value: Fact, dimension: str = "severity", **more: object) -> Label:
    subject = Subject(kind=SubjectKind.REVIEW, case=case, system="bot")
    kind = RaterKind.MODEL if rater in MODELS else RaterKind.HUMAN
    fields = {"subject": subject, "rater": rater, "rater_kind": kind, "dimension": dimension, "value": value}
    return Label.model_validate({**fields, **more})


def made(raters: tuple[str, ...], cases: int = 40, seed: int = 0) -> list[Label]:
    """Raters who mostly agree on a severity of 1 to 10, each of whom skips some cases."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, 10, cases)
    return [
        label(f"case-{at}", rater, int(np.clip(truth[at] + rng.integers(-1, 2), 1, 10)))
        for at in range(cases)
        for rater in raters
        if rng.random() < 0.9
    ]


def only(labels: list[Label], **options: object) -> DimensionAgreement:
    (found,) = agreement_report(labels, source="mine", settings=QUICK, **options).dimensions  # type: ignore[arg-type]
    return found


def named(coefficients: tuple[Coefficient, ...]) -> dict[str, float | None]:
    return {c.name: c.figure.value for c in coefficients}


def test_humans_and_models_stand_in_one_matrix() -> None:
    labels = made(("gpt", "Ada", "Bo", "gemini"))
    found = only(labels)
    assert found.kinds == {"Ada": "human", "Bo": "human", "gpt": "model", "gemini": "model"}
    assert [(p.first, p.second) for p in found.pairs] == [
        *(("Ada", "Bo"), ("Ada", "gpt"), ("Ada", "gemini"), ("Bo", "gpt"), ("Bo", "gemini"), ("gpt", "gemini"))
    ]
    people = [one for one in labels if one.rater in ("Ada", "Bo")]
    alone = named(only(people).coefficients)
    assert named(found.pairs[0].coefficients)["Krippendorff's alpha (ordinal)"] == pytest.approx(
        alone["Krippendorff's alpha (ordinal)"]
    )
    assert named(found.coefficients)["Krippendorff's alpha (ordinal), humans only"] == pytest.approx(
        alone["Krippendorff's alpha (ordinal)"]
    )
    assert "percent agreement, models only" in named(found.coefficients)
    assert only(labels, chosen=LabelFilter(kinds=("human",))).coefficients == only(people).coefficients


def test_every_coefficient_of_numbers_is_there_and_right() -> None:
    labels = made(("Ada", "Bo", "Cy"))
    found = only(labels, scales={"severity": Scale(low=1, high=10)})
    values = np.full((3, 40), np.nan)
    for one in labels:
        values["ABC".index(one.rater[0]), int(one.subject.case[5:])] = float(one.value)
    twice = values[:, (~np.isnan(values)).sum(axis=0) > 1]
    by_name = named(found.coefficients)
    for level in ("nominal", "ordinal", "interval"):
        expected = agree(twice, ALPHA[level]).value
        assert by_name[f"Krippendorff's alpha ({level})"] == pytest.approx(expected)
    assert [*by_name] == [
        *("percent agreement", "within 1", "Fleiss' kappa", "Krippendorff's alpha (nominal)"),
        *("Krippendorff's alpha (ordinal)", "Krippendorff's alpha (interval)", "Gwet's AC1", "Gwet's AC2 (quadratic)"),
    ]
    for coefficient in found.coefficients:
        figure = coefficient.figure
        assert figure.value is not None and figure.low is not None and figure.high is not None
        assert figure.low <= figure.value <= figure.high
        assert coefficient.items == twice.shape[1] == found.judged_twice
    assert found.labels + sum(found.left_out.values()) == len(labels)


def test_the_scale_says_what_could_have_been_given() -> None:
    labels = [label(f"c{at}", rater, 4 + (at % 2)) for at in range(20) for rater in ("Ada", "Bo")]
    labels[0] = label("c0", "Ada", 5)
    scale = Scale(low=1, high=5)
    seen, whole = only(labels), only(labels, scales={"severity": scale})
    assert (whole.scale, seen.scale) == (scale, None)
    assert "within 1" not in named(seen.coefficients)  # of two values no order can be told
    values = np.array([[4.0 + (at % 2) for at in range(20)] for _ in range(2)])
    values[0, 0] = 5
    assert named(whole.coefficients)["Gwet's AC1"] != named(seen.coefficients)["Gwet's AC1"]
    assert Table(values, [1, 2, 3, 4, 5]).categories.size == 5
    outside = only([*labels, label("c0", "Cy", 4.5)], scales={"severity": scale})
    assert outside.warnings[0].startswith("1 labels are off the steps of the scale")


def test_words_and_yes_or_no_have_the_coefficients_of_categories() -> None:
    words = [label(f"c{at}", r, ("logic", "style")[at % 3 == 0], "type") for at in range(30) for r in ("Ada", "Bo")]
    words[0] = label("c0", "Ada", "logic", "type")
    found = only(words)
    assert [c.name for c in found.coefficients] == [
        *("percent agreement", "Cohen's kappa", "Fleiss' kappa", "Krippendorff's alpha (nominal)", "Gwet's AC1")
    ]
    assert named(found.coefficients)["percent agreement"] == pytest.approx(29 / 30)
    flags = [label(one.subject.case, one.rater, one.value == "logic", "hit") for one in words]
    assert named(only(flags).coefficients) == named(found.coefficients)
    codes = [
        label(one.subject.case, one.rater, 7 if one.value == "logic" else 1 + at % 2) for at, one in enumerate(words)
    ]
    assert "within 1" in named(only(codes).coefficients)
    settings = AgreementSettings(resamples=20, nominal=("severity",))
    (nominal,) = agreement_report(codes, source="mine", settings=settings).dimensions
    assert [c.name for c in nominal.coefficients] == [c.name for c in found.coefficients]
    with pytest.raises(UserError, match="words and numbers, such as 'logic' and 3"):
        only([*words, label("c1", "Cy", 3, "type")])


def test_many_distinct_values_are_no_categories() -> None:
    rng = np.random.default_rng(0)
    labels = [label(f"c{at}", r, float(at + rng.normal())) for at in range(60) for r in ("Ada", "Bo")]
    assert [*named(only(labels).coefficients)] == [
        *("within 1", "Krippendorff's alpha (ordinal)", "Krippendorff's alpha (interval)")
    ]


def test_consensus_is_left_out_and_counted() -> None:
    labels = made(("Ada", "Bo"))
    agreed = [label(f"case-{at}", "both", 3, consensus=True) for at in range(40)]
    found = only([*labels, *agreed])
    assert found.left_out["consensus"] == 40
    assert found.coefficients == only(labels).coefficients
    with pytest.raises(UserError, match=r"mine has consensus labels only \(40\)"):
        only(agreed)
    report = agreement_report([*labels, *(a.model_copy(update={"dimension": "type"}) for a in agreed)], source="mine")
    assert [d.dimension for d in report.dimensions] == ["severity"]
    assert report.warnings == ("type has no labels to compare: 40 consensus",)


def test_graded_reviews_has_consensus_labels_only(shared_data: Path) -> None:
    _, labels = GradedReviews(path=str(shared_data / "graded-reviews")).recorded()
    with pytest.raises(UserError, match=r"consensus labels only \(5,164\)"):
        agreement_report(labels, source="graded_reviews")


def test_items_that_one_rater_judged_are_left_out_and_counted() -> None:
    both = [label(f"c{at}", rater, at % 4) for at in range(8) for rater in ("Ada", "Bo")]
    more = [label(f"d{at}", "Ada", 3) for at in range(100)] + [label("e", "Cy", 1)]
    found = only([*both, *more])
    assert (found.labels, found.items, found.judged_twice) == (16, 109, 8)
    assert found.left_out == {"on items with one rater": 101}
    assert found.coefficients == only(both).coefficients
    assert "left out: Cy, who shares no item with another rater" in found.warnings
    apart = only([*more, label("f", "Bo", 1)])
    assert {c.figure.reason for c in apart.coefficients} == {"no item has two raters"}
    alone = only([label("c", "Ada", 1), label("d", "Ada", 1)])
    assert {c.figure.reason for c in alone.coefficients} == {"only one rater: agreement needs two"}
    assert (alone.pairs, alone.warnings) == ((), ())


def test_two_labels_of_one_rater() -> None:
    labels = made(("Ada", "Bo"))
    again = [*labels, labels[0]]
    assert only(again).left_out["the same label twice"] == 1
    assert only(again).coefficients == only(labels).coefficients
    other = labels[0].model_copy(update={"value": 1 if labels[0].value != 1 else 2})
    with pytest.raises(UserError, match=r"Ada judged case-0 \(bot\) twice in severity, as \d+ and as \d.*round"):
        only([*labels, other])
    with pytest.raises(UserError, match=r"choose one batch: --batch two"):
        only([*labels, other.model_copy(update={"batch": "two"})])
    chosen = LabelFilter(batches=("two",))
    assert only([*labels, other.model_copy(update={"batch": "two"})], chosen=chosen).labels == 1


def test_a_later_round_is_no_second_opinion() -> None:
    first = [label(f"c{at}", rater, at % 5, round="1") for at in range(20) for rater in ("Ada", "Bo")]
    second = [label(f"c{at}", rater, (at + 1) % 5, round="2") for at in range(20) for rater in ("Ada", "Bo")]
    found = only([*first, *second])
    assert found.judged_twice == 40
    assert named(found.coefficients)["percent agreement"] == 1.0
    assert found.warnings[0].startswith("labels of 2 rounds are combined")
    assert [(b.batch, b.items) for b in found.batches] == [("1", 20), ("2", 20)]
    crossed = [one.model_copy(update={"round": one.rater}) for one in first]
    assert only(crossed).judged_twice == 0
    assert only([*first, *second], chosen=LabelFilter(rounds=("2",))).left_out == {"of another round": 40}


def test_agreement_by_batch_is_in_the_order_of_the_labels() -> None:
    labels = [
        label(f"{batch}-{at}", rater, at % 4 if rater == "Ada" or at >= odd else 3 - at % 4, batch=batch)
        for batch, odd in (("warm-up", 12), ("main", 4), ("late", 0))
        for at in range(20)
        for rater in ("Ada", "Bo")
    ]
    found = only([*labels, *(label(f"x{at}", "Ada", 1, batch="Ada's") for at in range(3))])
    assert [(b.batch, b.items) for b in found.batches] == [("warm-up", 20), ("main", 20), ("late", 20)]
    shares = [named(b.coefficients)["percent agreement"] for b in found.batches]
    assert shares == [pytest.approx(0.4), pytest.approx(0.8), 1.0]
    (late,) = agreement_report(labels, source="mine", chosen=LabelFilter(batches=("late",)), settings=QUICK).dimensions
    assert named(late.coefficients)["Krippendorff's alpha (ordinal)"] == 1.0
    assert (late.batches, late.left_out) == ((), {"of another batch": 80})


def test_a_rater_who_gave_one_value_always_is_named() -> None:
    labels = made(("Ada", "Bo"))
    labels += [label(f"case-{at}", "Cy", 5) for at in range(40)]
    found = only(labels)
    assert any(warning.startswith("Cy gave 5 in all 39 labels") for warning in found.warnings)
    pair = next(p for p in found.pairs if p.second == "Cy")
    kappa = next(c.figure for c in pair.coefficients if c.name == "Cohen's kappa")
    assert kappa.value == 0 and kappa.reason == "Cy always chose 5, so kappa is 0 whatever the other rater chose"


def test_what_is_about_one_case_is_resampled_together() -> None:
    rng = np.random.default_rng(0)
    labels = []
    for case in range(10):
        apart = bool(rng.integers(2))
        for comment in range(12):
            subject = Subject(kind=SubjectKind.COMMENT, case=f"c{case}", system="bot", comment=f"{comment}")
            values = (comment % 2 == 0, (comment % 2 == 0) is not apart)
            labels += [
                label("c", rater, value, "useful", subject=subject)
                for rater, value in zip(("Ada", "Bo"), values, strict=True)
            ]
    found = only(labels)
    share = found.coefficients[0].figure
    assert share.low is not None and share.high is not None and share.high - share.low > 0.3
    assert any("there are only 10: with fewer than 20" in warning for warning in found.warnings)


def test_names_that_no_label_has_are_refused() -> None:
    labels = made(("Ada", "Bo"))
    for chosen, words in (
        (LabelFilter(dimensions=("tone",)), "no label of mine has the dimension 'tone' (there are: severity)"),
        (LabelFilter(batches=("1",)), "no label of mine has the batch '1' (there are: none)"),
        (LabelFilter(rounds=("1",)), "no label of mine has the round '1' (there are: none)"),
        (LabelFilter(kinds=("model",)), "no label of mine has the rater kind 'model' (there are: human)"),
    ):
        with pytest.raises(UserError) as raised:
            only(labels, chosen=chosen)
        assert str(raised.value) == words
    with pytest.raises(UserError, match="the dimension 'tone'"):
        agreement_report(labels, source="mine", settings=AgreementSettings(nominal=("tone",)))
    with pytest.raises(UserError, match=r"severity has a label beyond 1e\+15"):
        only([*labels, label("case-1", "Cy", 10**400)])
    with pytest.raises(UserError, match="mine has no labels"):
        only([])
    with pytest.raises(UserError, match="Ada is a human in one label and a model in another"):
        only([*labels, label("case-1", "Ada", 1, rater_kind="model")])
    mixed = [*labels, *(label("case-1", "Cy", 1, round="2") for _ in range(1))]
    with pytest.raises(UserError, match="no label of mine is left to compare: 1 of another round"):
        agreement_report([*mixed[-1:], label("x", "Ada", 1, "tone", round="3")], source="mine",
                         chosen=LabelFilter(rounds=("3",), dimensions=("severity",)))  # fmt: skip
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(UserError, match="tolerance"):
            AgreementSettings(tolerance=wrong)
    with pytest.raises(UserError, match="resamples must not be negative, got -1"):
        AgreementSettings(resamples=-1)


def test_no_tolerance_and_no_resamples() -> None:
    settings = AgreementSettings(tolerance=0, resamples=0)
    (found,) = agreement_report(made(("Ada", "Bo")), source="mine", settings=settings).dimensions
    assert "within 0" not in named(found.coefficients)
    assert all(c.figure.low is None and c.figure.value is not None for c in found.coefficients)


def test_crscore_as_published(shared_data: Path) -> None:
    """CRScore: alpha .8868/.8505/.8806 (section 4.2) on its last batch, and kappa .804 (section 4.1)."""
    data = CrscoreStudy(path=str(shared_data / "crscore"))
    _, labels = data.recorded()
    report = agreement_report(
        labels, source="crscore_study", scales=data.scales(), settings=AgreementSettings(resamples=0)
    )
    found = {one.dimension: one for one in report.dimensions}
    alpha = "Krippendorff's alpha (ordinal)"
    for dimension, published, on_all in (("con", 0.8868, 0.8167), ("comp", 0.8505, 0.7859), ("rel", 0.8806, 0.8158)):
        batch = next(b for b in found[dimension].batches if b.batch == "800-899")
        assert batch.items == 90
        assert round(named(batch.coefficients)[alpha] or 0, 4) == published
        assert found[dimension].judged_twice == 190
        assert round(named(found[dimension].coefficients)[alpha] or 0, 4) == on_all
    coded = next(b for b in found["accuracy"].batches if b.batch == "395-494")
    assert (coded.items, round(named(coded.coefficients)["Cohen's kappa"] or 0, 4)) == (100, 0.8043)


@pytest.mark.drill
@pytest.mark.parametrize("value", [lambda n: float(n % 5), float, lambda n: f"word {n}"])
def test_many_raters_and_many_values_take_memory_by_the_label(value: Callable[[int], Fact]) -> None:
    """A table of raters x items, of items x values or of all pairs of raters would have 400 million cells and more."""
    labels = [label(f"c{n // 2}", f"r{n}", value(n)) for n in range(20_000)]
    tracemalloc.start()
    found = agreement_report(labels, source="crowd", settings=AgreementSettings(resamples=20)).dimensions[0]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 300e6
    assert len(found.pairs) == 25 * 24 // 2
    assert "compared one by one: the 25 raters with the most labels, of 20,000" in found.warnings
