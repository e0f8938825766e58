"""The counts and measures of the hits metric: shares are shares, slices add up, bounds bound, missing is not zero."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Anchoring, Case, Change, Comment, Review, Severity, Span
from reviewgauge.core.results import NOT_STATED, Score
from reviewgauge.core.specs import signature
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.metrics.hits import Hits

CHANGE = Change(repo="shop")
LOCK = "The lock is never released when open_file raises"
FLAG = "The flag verbose has a name that says nothing"


def comment(name: str, body: str, **fields: object) -> Comment:
    return Comment.model_validate({"id": name, "body": body, **fields})


def case_of(*references: Comment, **fields: object) -> Case:
    return Case.model_validate({"id": "c", "change": CHANGE, "references": references, **fields})


def review_of(*comments: Comment) -> Review:
    return Review(case="c", system="s", comments=comments)


def measured(metric: Hits, case: Case, review: Review) -> Measured:
    found = metric.parts(case, review)
    assert isinstance(found, Measured), found
    return found


def read(metric: Hits, *parts: Mapping[str, float]) -> dict[str, float]:
    return {name: float(values[0]) for name, values in measures_of(metric, MatrixAggregate.of(parts)).items()}


METRICS = [
    Hits(judge="dice"),
    Hits(judge="dice", duplicates="false"),
    Hits(judge="dice", policy="greedy"),
    Hits(judge="dice", policy="any"),
    Hits(judge="dice", location="gate"),
    Hits(location="only"),
]
PUBLISHED = [
    Hits(judge="dice", policy="greedy", variant="aacr_ids"),
    Hits(judge="dice", policy="greedy", variant="martian"),
]


@st.composite
def situations(draw: st.DrawFn) -> tuple[Case, Review]:
    word = st.sampled_from(["lock", "flag", "leak", "null", "loop"])
    body = st.lists(word, min_size=1, max_size=4).map(" ".join)
    place = st.one_of(st.none(), st.integers(1, 9).map(lambda n: Span(path="a.py", start=n)))
    kinds = st.sampled_from([None, "defect", "security"])

    def some(prefix: str, least: int, most: int) -> tuple[Comment, ...]:
        count = draw(st.integers(least, most))
        return tuple(comment(f"{prefix}{i}", draw(body), span=draw(place), category=draw(kinds)) for i in range(count))

    return case_of(*some("r", 1, 4), neutral=some("n", 0, 1), rejected=some("x", 0, 1)), review_of(*some("c", 0, 5))


@pytest.mark.parametrize("metric", METRICS, ids=signature)
@given(situation=situations())
def test_every_share_lies_within_0_and_1(metric: Hits, situation: tuple[Case, Review]) -> None:
    measures = read(metric, measured(metric, *situation).parts)
    for name, value in measures.items():
        if metric.units.get(name, "share") == "share":
            assert np.isnan(value) or -1e-9 <= value <= 1 + 1e-9, (name, value)


@pytest.mark.parametrize("metric", [*METRICS, *PUBLISHED], ids=signature)
@given(situation=situations())
def test_the_slices_of_a_facet_add_up_to_the_whole(metric: Hits, situation: tuple[Case, Review]) -> None:
    found = measured(metric, *situation)
    counted = {
        "category": ("references", "hit", "missed", "hit_least", "hit_most"),
        "comment_category": ("comments", "matched", "unsure", "duplicate", "neutral", "false", "right", "said",
            "said_most"),
    }  # fmt: skip
    for facet, names in counted.items():
        for name in names:
            total = sum(parts.get(name, 0.0) for parts in found.facets.get(facet, {}).values())
            assert total == pytest.approx(found.parts[name]), (facet, name)


def test_one_comment_close_to_two_findings_is_at_most_one_right_comment() -> None:
    case = case_of(comment("g1", LOCK), comment("g2", "The lock leaks: release the lock if open_file raises an error"))
    metric = Hits()
    found = measured(metric, case, review_of(comment("a", f"{LOCK} an error, it leaks")))
    assert found.parts["hit"] > 1  # it may raise both
    assert read(metric, found.parts)["precision"] <= 1


@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_beta_weighs_recall_against_precision(beta: float) -> None:
    case = case_of(comment("g1", LOCK), comment("g2", FLAG), comment("g3", "Pages are counted from zero here"))
    metric = Hits(judge="exact", beta=beta)
    found = read(metric, measured(metric, case, review_of(comment("a", LOCK), comment("b", "Tests?"))).parts)
    assert [found["precision"], found["recall"]] == pytest.approx([1 / 2, 1 / 3])
    assert found[f"f{beta:g}"] == pytest.approx((1 + beta**2) / 6 / (beta**2 * 0.5 + 1 / 3))


def test_a_profile_that_counts_duplicates_counts_them_in_every_slice_too() -> None:
    case = case_of(comment("g", LOCK))
    twice = review_of(comment("a", LOCK, category="defect"), comment("b", LOCK, category="defect"))
    for metric, precision in ((Hits(), 1.0), (Hits(duplicates="false"), 0.5)):
        found = measured(metric, case, twice)
        assert read(metric, found.parts)["precision"] == precision
        assert read(metric, found.facets["comment_category"]["defect"])["precision"] == precision


def score_of(metric: Hits, case: Case, review: Review) -> Score:
    found = measured(metric, case, review)
    return Score(
        case=case.id,
        system=review.system,
        metric=signature(metric),
        benchmark="b",
        parts=found.parts,
        facets=found.facets,
        matching=found.matching,
    )


def test_what_does_not_state_its_category_is_a_slice_of_its_own_and_f1_is_undefined_there() -> None:
    metric = Hits(judge="exact")
    case = case_of(comment("g1", LOCK, category="defect"), comment("g2", FLAG))
    scores = [score_of(metric, case, review_of(comment("a", LOCK)))]
    board = leaderboard(
        ScoredRun(metric, [case], scores, dataset="d", benchmark="b"), resamples=10, slices=("category",)
    )
    assert [piece.value for piece in board.slices] == ["defect", NOT_STATED]
    for piece, recall in zip(board.slices, (1.0, 0.0), strict=True):
        values = {e.measure: e.value for e in piece.systems[0].estimates}
        assert (values["recall"], values["precision"], values["f1"]) == (recall, None, None)
    with pytest.raises(UserError, match="no case has the fact created"):
        leaderboard(ScoredRun(metric, [case], scores, dataset="d", benchmark="b"), slices=["created<2025-03-31"])
    with pytest.raises(UserError, match="nothing to slice by"):  # no comment says of itself what it is about
        leaderboard(
            ScoredRun(metric, [case], scores, dataset="d", benchmark="b"), resamples=10, slices=("comment_category",)
        )


def test_the_other_phrasing_may_state_the_category() -> None:
    case = case_of(comment("g1", LOCK), comment("g2", "It leaks the lock", same_as="g1", category="defect"))
    found = measured(Hits(judge="exact"), case, review_of())
    assert set(found.facets["category"]) == {"defect"}


def test_without_a_recorded_verdict_the_metric_does_not_apply() -> None:
    case = case_of(comment("g", LOCK))
    metric = Hits(judge="recorded")
    said = review_of(comment("a", LOCK))
    assert metric.parts(case, said) == "the judge has no verdict on this review"
    assert read(metric, measured(metric, case, review_of()).parts)["recall"] == 0  # silence needs no judge
    subject = Subject(kind=SubjectKind.REVIEW, case="c", system="s", reference="g")
    judged = case.model_copy(update={"labels": (Label(subject=subject, rater="ann", dimension="missed", value=True),)})
    assert read(metric, measured(metric, judged, said).parts)["recall"] == 0


def test_a_recorded_yes_stands_whatever_file_it_is_in() -> None:
    subject = Subject(kind=SubjectKind.PAIR, case="c", system="s", comment="a", reference="g")
    label = Label(subject=subject, rater="ann", dimension="same_issue", value=True, confidence=0.6)
    case = case_of(comment("g", LOCK, span=Span(path="a.py", start=3)), labels=(label,))
    found = measured(
        Hits(judge="recorded"), case, review_of(comment("a", "see there", span=Span(path="b.py", start=9)))
    )
    assert found.parts["hit"] == 1


@pytest.mark.parametrize("lined", [True, False])
def test_bounds_bound_every_share_and_leave_undefined_what_the_data_cannot_tell(lined: bool) -> None:
    span = Span(path="a.py", start=3) if lined else None
    case = case_of(
        comment("g1", LOCK, span=span, severity=Severity.HIGH),
        comment("g2", FLAG),
        rejected=(comment("x", "Use a list here"),),
    )
    metric = Hits(judge="exact")
    bounds = metric.bounds(case)
    worst, best = read(metric, bounds.worst), read(metric, bounds.best)
    ends = {"precision", "recall", "f1", "f1_least", "f1_most", "recall_least", "recall_most"} | (
        {"line_precision", "line_recall", "line_f1"} if lined else set()
    )
    for name in ends - {"line_precision", "line_f1"}:
        assert (worst[name], best[name]) == (0, 1), name
    for name in ("noise", "rejected_hits", "invalid_anchors"):
        assert (worst[name], best[name]) == (1, 0), name
    for name in ("line_precision", "line_recall", "line_f1"):
        assert np.isnan(worst[name]) != lined and np.isnan(best[name]) != lined
    wrong = comment("a", "Use a list here", anchoring=Anchoring.INVALID)
    for said in (review_of(), review_of(wrong), review_of(comment("a", LOCK, span=span), comment("b", FLAG))):
        for name, value in read(metric, measured(metric, case, said).parts).items():
            if name in ends or name in ("noise", "rejected_hits", "invalid_anchors"):
                low, high = sorted((worst[name], best[name]))
                assert np.isnan(value) or low <= value <= high, (name, value)


def test_no_attempt_is_judged_in_less_company_than_another() -> None:
    case = case_of(comment("g", LOCK))
    vague = comment("x", "the mutex stays taken if opening throws")
    both = comment("x", "lock never released when open_file raises, the mutex stays taken if opening throws")
    reviews = [Review(case="c", system="twice", attempt=n, comments=(vague,)) for n in (1, 2)]
    reviews.append(Review(case="c", system="once", comments=(both,)))
    metric = Hits(second_stage=True)
    parts = [found.parts for found in metric.parts_many([(case, r) for r in reviews]) if isinstance(found, Measured)]
    alone = measured(metric, case, reviews[0]).parts
    assert parts[0] == parts[1]
    assert parts[0]["hit"] > alone["hit"]


def test_a_case_without_references_that_is_not_known_to_be_clean_cannot_be_measured() -> None:
    unknown = Case(id="c", change=Change(repo="r"))
    assert "no references" in Hits().unmeasurable(unknown)
    assert Hits().unmeasurable(unknown.model_copy(update={"verdict": True})) == ""
