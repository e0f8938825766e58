"""What is compared with people: measures of metrics, and trivial baselines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from judged_toys import Shared, case, study
from reviewgauge.analysis.validity.report import Evidence, ValiditySettings
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.scored import Scored, baselines
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import signature


@dataclass(frozen=True)
class Three(Metric):
    """A metric with a measure that is called like the dimension of the study."""

    headline: ClassVar[str] = "rel"
    units: ClassVar[dict[str, str]] = {"grade": "points"}
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"grade"})

    def parts(self, case: Case, review: Review) -> Measured:
        words = float(len(review.comments[0].body.split())) if review.comments else 0.0
        return Measured(parts={"rel": words, "grade": -2 * words, "other": 1.0})


def three_scores() -> list[Score]:
    made, metric = study(20), Three()
    cases = {one.id: one for one in made.cases}
    return [
        Score(
            case=o.case,
            system=o.system,
            metric=signature(metric),
            benchmark="",
            parts=metric.parts(cases[o.case], o.review).parts if o.review else None,
        )
        for o in made.outcomes
    ]


def test_the_measure_that_is_called_like_a_dimension_is_compared_with_it() -> None:
    scored = Scored.of(Three(), three_scores(), ["grade", "taste"])
    assert (scored.measure, scored.unit, scored.less_is_better) == ("rel", "share", False)
    own = scored.on("grade")
    assert (own.measure, own.unit, own.less_is_better) == ("grade", "points", True)
    assert {key: -2 * float(value) for key, value in scored.values.items()} == own.values
    assert scored.on("taste") is scored, "there is no such measure"
    made = study(20)
    bench, settings = made.bench(), ValiditySettings(resamples=20, folds=3)
    (found,) = Evidence(bench, tuple(made.humans()), (scored,), settings, dataset="toy", benchmark="b").report().metrics
    assert (found.measure, found.unit, found.less_is_better) == ("grade", "points", True)


def table(review: str, patch: str | None) -> ReviewTable:
    change = Change(repo="o/r", files=(ChangedFile(path="a.py", patch=patch),) if patch else ())
    one = Review(case="c", system="s", comments=(Comment(id="1", body=review),))
    made = case(0).model_copy(update={"id": "c", "change": change})
    return ReviewTable.of([made], [Outcome(case="c", system="s", review=one)])


def test_baselines_are_what_they_are_called() -> None:
    found = baselines(table("Close it. Does `Close` fail?", "+close(it)\n-open(that)"))
    assert {one.metric: one.values["c", "s", 1] for one in found} == {
        "review length": 28.0,
        "number of sentences": 2.0,
        "number of words": 5.0,
        "words of the diff": 0.5,  # close and it of close, it, open, that
    }
    assert all(one.baseline for one in found)


def test_without_a_diff_there_is_no_share_of_it() -> None:
    assert [one.metric for one in baselines(table("a", None))] == [
        "review length",
        "number of sentences",
        "number of words",
    ]


def test_a_metric_without_scores_has_no_values() -> None:
    assert Scored.of(Shared(), [], ["grade"]).values == {}


@pytest.mark.parametrize("dimension", ["grade", "anything"])
def test_a_baseline_is_the_same_in_every_dimension(dimension: str) -> None:
    (first, *_) = baselines(study(3).bench())
    assert first.on(dimension) is first
