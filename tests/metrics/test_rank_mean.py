"""Mean ranks: invariant to any rising map, joint, and no label needed."""

from __future__ import annotations

import pytest

import text_metrics as tm
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.specs import load, signature
from reviewgauge.metrics.rank_mean import RankMean
from reviewgauge.metrics.texts.text_metric import TextPair

REFERENCE = ("Release the lock in a finally block.",)
SAID = ("Release the lock in a finally block.", "The lock is not released.", "", "Rename this.", "Rename this.")


def items(said: tuple[str, ...]) -> list[tuple[Case, Review]]:
    return [tm.item(TextPair(text, REFERENCE)) for text in said]


def ranks(metric: RankMean, said: tuple[str, ...] = SAID) -> list[float]:
    return [found.parts["value"] for found in metric.parts_many(items(said)) if isinstance(found, Measured)]


def test_ranks_of_one_metric() -> None:
    assert ranks(RankMean(("jaccard",))) == pytest.approx([0.9, 0.7, 0.3, 0.3, 0.3])


def test_less_is_better_is_turned_round() -> None:
    similar, apart = ranks(RankMean(("chrf", "edit"))), ranks(RankMean(("chrf",)))
    assert similar[0] == apart[0] == 0.9
    assert ranks(RankMean(("edit", "edit"))) == ranks(RankMean(("edit",)))


def test_it_is_joint_and_alone_the_middle() -> None:
    metric = load(Metric, "rank_mean(metrics=('jaccard', 'chrf'))")
    assert metric.joint
    assert load(Metric, signature(metric)) == metric
    case, review = items(SAID)[0]
    alone = metric.parts(case, review)
    assert isinstance(alone, Measured)
    assert alone.parts == {"value": 0.5}


def test_a_case_without_reference_takes_no_rank() -> None:
    case, review = items(SAID)[0]
    bare = case.model_copy(update={"references": ()})
    metric = RankMean(("jaccard",))
    first, *rest = metric.parts_many([(bare, review), *items(SAID)])
    assert first == "the case has no reference comment"
    assert [found.parts["value"] for found in rest if isinstance(found, Measured)] == ranks(metric)


def test_no_metric_is_refused() -> None:
    with pytest.raises(UserError, match="needs metrics"):
        RankMean(()).pins()
