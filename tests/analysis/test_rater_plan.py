from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from reviewgauge.analysis.plan import rater_plans
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.reports.plan import RaterPlan


def label(item: int, rater: str, value: float | str, system: str = "s", **more: object) -> Label:
    subject = Subject(kind=SubjectKind.REVIEW, case=f"case-{item:05d}", system=system)
    fields = {"subject": subject, "rater": rater, "dimension": "grade", "value": value}
    return Label.model_validate({**fields, **more})


def labels_of(table: Numbers, system: str = "s", **more: object) -> list[Label]:
    """Labels from items x raters; NaN: not judged."""
    return [
        label(item, f"rater-{rater}", float(value), system, **more)
        for item, row in enumerate(table)
        for rater, value in enumerate(row)
        if np.isfinite(value)
    ]


def ratings(items: int, raters: int, between: float, within: float, seed: int) -> Numbers:
    generator = np.random.default_rng(seed)
    drawn: Numbers = 3 + generator.normal(0, between, (items, 1)) + generator.normal(0, within, (items, raters))
    return drawn


def one_plan(labels: Iterable[Label]) -> RaterPlan:
    found = rater_plans(labels, source="made", resamples=400)
    assert len(found) == 1
    return found[0]


# Shrout and Fleiss (1979), Table 2: six targets, four judges. Their Table 4 gives ICC(1,1) = .17 and ICC(1,4) = .44.
SHROUT_FLEISS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7.0]])


def test_the_published_example_of_an_intraclass_correlation() -> None:
    found = one_plan(labels_of(SHROUT_FLEISS))
    assert found.icc.value is not None
    assert found.icc.value == pytest.approx(0.166, abs=0.0005)
    assert found.icc.low is not None and found.icc.high is not None
    k = 4 * found.icc.value / (1 + 3 * found.icc.value)
    assert k == pytest.approx(0.443, abs=0.0005)
    assert (found.items, found.judged_twice, found.labels) == (6, 6, 24)
    assert found.raters == {f"rater-{r}": 6 for r in range(4)}


@pytest.mark.slow
def test_the_mean_of_more_raters_is_as_reliable_as_spearman_and_brown_say() -> None:
    found = one_plan(labels_of(ratings(2_000, 2, 0.8, 0.6, seed=1)))
    rho = found.icc.value
    assert rho is not None
    assert rho == pytest.approx(0.64, abs=0.04)
    for row in found.rows:
        assert row.reliability == pytest.approx(row.raters * rho / (1 + (row.raters - 1) * rho))
    many = ratings(2_000, 10, 0.8, 0.6, seed=21)
    means = [many[:, :5].mean(axis=1), many[:, 5:].mean(axis=1)]
    seen = np.corrcoef(means)[0, 1]
    assert found.rows[3].reliability == pytest.approx(seen, abs=0.04), "two groups of five raters, correlated"
    assert found.raters_for == {"0.7": 2, "0.8": 3, "0.9": 6}, "w/(1-w) (1-rho)/rho with rho .64: 1.3, 2.3, 5.1"


def test_one_rater_an_item_tells_nothing_of_raters() -> None:
    found = one_plan(labels_of(ratings(50, 1, 0.8, 0.6, seed=5)))
    assert found.icc.value is None
    assert found.icc.text == "no item has two raters"
    assert found.rows == () and found.judged_twice == 0


def test_some_items_judged_twice_are_enough_and_said() -> None:
    table = ratings(400, 2, 0.8, 0.6, seed=6)
    table[100:, 1] = np.nan
    found = one_plan(labels_of(table))
    assert found.icc.value == pytest.approx(0.64, abs=0.1)
    assert "300 of 400 items have one rater" in found.warnings[0]
    assert "only two raters" in found.warnings[1]


def test_what_is_no_independent_number_is_left_out_and_counted() -> None:
    good = labels_of(ratings(20, 2, 0.8, 0.6, seed=7))
    odd = [
        label(0, "rater-0", 5.0, round="2"),
        label(1, "both", 4.0, consensus=True),
        label(2, "gpt", 1.0, rater_kind=RaterKind.MODEL),
        label(3, "rater-9", "good"),
    ]
    found = one_plan(good + odd)
    assert found.labels == 40
    assert found.left_out == {
        "later labels of the same rater": 1,
        "consensus labels": 1,
        "labels by models beside those by people": 1,
        "words, not numbers": 1,
    }
    models = [label(i, f"model-{r}", float(i % 2), rater_kind=RaterKind.MODEL) for i in range(20) for r in range(2)]
    assert one_plan(models).icc.value == 1, "where only models judged, they are the raters"


def test_raters_who_all_say_the_same_have_no_agreement_to_speak_of() -> None:
    found = one_plan(labels_of(np.ones((20, 2))))
    assert found.icc.value is None
    assert found.icc.text == "all ratings are equal"
    assert [row.reliability for row in found.rows] == [None] * 5
    assert found.raters_for == {}


def test_raters_who_agree_on_nothing_reach_no_reliability() -> None:
    table = np.tile([1.0, 5.0], (30, 1))
    table[::2] = [5.0, 1.0]
    found = one_plan(labels_of(table))
    assert found.icc.value == 0
    assert found.raters_for == {}


def test_a_number_too_large_to_be_a_grade_is_refused() -> None:
    with pytest.raises(UserError, match="rater-1 gave grade 1e\\+308 on case-00000, which is not a grade"):
        one_plan(labels_of(np.array([[1.0, 1e308], [2.0, 3.0]])))


def test_items_of_one_change_are_resampled_together() -> None:
    """40 changes, not 200 reviews: the interval of the correlation is wider than if each were on its own."""
    generator = np.random.default_rng(8)
    shared = np.repeat(generator.normal(0, 1, 40), 5)

    def planned(change: int) -> RaterPlan:
        return one_plan(
            label(item // change, f"rater-{r}", float(shared[item] + own), system=f"s{item % change}")
            for item in range(200)
            for r, own in enumerate(np.random.default_rng(item).normal(0, 0.7, 2))
        )

    wide, narrow = planned(5).icc, planned(1).icc
    assert wide.low is not None and wide.high is not None and narrow.low is not None and narrow.high is not None
    assert wide.value == pytest.approx(narrow.value) and wide.high - wide.low > 1.2 * (narrow.high - narrow.low)


def test_each_dimension_has_its_plan_and_no_labels_have_none() -> None:
    labels = labels_of(ratings(20, 2, 0.8, 0.6, 9)) + labels_of(ratings(20, 2, 0.8, 0.6, 10), dimension="clarity")
    assert [found.dimension for found in rater_plans(labels, source="made", resamples=10)] == ["clarity", "grade"]
    assert rater_plans([], source="made") == []
