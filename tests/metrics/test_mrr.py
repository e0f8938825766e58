"""The rank of the first right comment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.specs import load, signature
from reviewgauge.metrics.mrr import Mrr
from text_metrics import read

RIGHT, WRONG = "Release the lock here.", "Rename this."


def case_of(*bodies: str, labels: tuple[Label, ...] = ()) -> Case:
    comments = tuple(Comment(id=f"r{i}", body=body) for i, body in enumerate(bodies))
    return Case(id="case", change=Change(repo="shop"), references=comments, labels=labels)


def review_of(*bodies: str) -> Review:
    comments = tuple(Comment(id=f"c{i}", body=body) for i, body in enumerate(bodies))
    return Review(case="case", system="s", comments=comments)


def ranked(metric: Mrr, said: tuple[str, ...], *wanted: str) -> tuple[float, float]:
    found = metric.parts(case_of(*(wanted or (RIGHT,))), review_of(*said))
    assert isinstance(found, Measured), found
    return found.parts["mrr"], found.parts["found"]


@pytest.mark.parametrize(("said", "k", "rank"), [
    ((RIGHT,), 0, 1), ((WRONG, RIGHT), 0, 2),
    ((WRONG, " ", RIGHT, RIGHT), 0, 3),  # a blank comment holds its rank, and the first right one counts
    ((WRONG, WRONG, f"  {RIGHT}\n"), 3, 3),
    ((WRONG, WRONG, RIGHT), 2, None), ((WRONG,), 0, None), (("", " "), 0, None), ((), 0, None),
    ((RIGHT.upper(),), 0, None),
])  # fmt: skip
def test_ranks(said: tuple[str, ...], k: int, rank: int | None) -> None:
    assert ranked(Mrr(k=k), said) == ((1 / rank, 1) if rank else (0, 0))


def test_any_finding_in_any_phrasing_is_right() -> None:
    assert ranked(Mrr(), (WRONG, "Use a set"), RIGHT, "Use a set", " ") == (0.5, 1)


def test_what_counts_as_correct() -> None:
    assert ranked(Mrr(), (WRONG, "RELEASE THE LOCK HERE!")) == (0, 0)
    assert ranked(Mrr(judge="exact"), (WRONG, f" {RIGHT}", RIGHT)) == (0.5, 1)
    lexical = Mrr(judge="lexical")
    assert ranked(lexical, (WRONG, "The lock is not released here: release it.")) == (0.5, 1)
    assert lexical.estimate_note and lexical.pins() and not Mrr().estimate_note and not Mrr().pins()


def test_recorded_verdicts_can_say_what_is_correct() -> None:
    metric = Mrr(judge="recorded")
    assert metric.reads_labels and not Mrr().reads_labels
    review = review_of(WRONG, RIGHT)
    assert metric.parts(case_of(RIGHT), review) == "the judge has no verdict on this review"
    for same, expected in ((True, 0.5), (False, 0.0)):
        subject = Subject(kind=SubjectKind.PAIR, case="case", system="s", comment="c1", reference="r0")
        label = Label(subject=subject, rater="ann", dimension="same_issue", value=same)
        found = metric.parts(case_of(RIGHT, labels=(label,)), review)
        assert isinstance(found, Measured)
        assert found.parts["mrr"] == expected


def test_without_references_it_does_not_apply() -> None:
    assert Mrr().parts(case_of(), review_of(RIGHT)) == "the case has no reference comment"
    assert Mrr().parts(case_of(" ", "\n"), review_of(RIGHT)) == "the reference is empty"
    assert Mrr().bounds(case_of(" ")) is None


@given(st.lists(st.lists(st.sampled_from((RIGHT, WRONG, "", "Use a set")), max_size=5), min_size=1), st.integers(0, 4))
def test_the_mean_and_its_bounds(reviews: list[list[str]], k: int) -> None:
    metric = Mrr(k=k)
    case = case_of(RIGHT)
    items = [(case, review_of(*said)) for said in reviews]
    parts = [found.parts for found in metric.parts_many(items) if isinstance(found, Measured)]
    cut = [said[: k or None] for said in reviews]
    expected = [1 / (said.index(RIGHT) + 1) if RIGHT in said else 0 for said in cut]
    measures = read(metric, parts)
    assert measures["mrr"] == pytest.approx(sum(expected) / len(expected))
    assert measures["found"] == pytest.approx(sum(RIGHT in said for said in cut) / len(cut))
    bounds = metric.bounds(case)
    assert bounds is not None
    assert (read(metric, [bounds.worst])["mrr"], read(metric, [bounds.best])["mrr"]) == (0, 1)
    assert load(Metric, signature(metric)) == metric


def test_a_negative_number_of_comments_is_refused() -> None:
    with pytest.raises(UserError, match="k=-1 must be 0 or more"):
        load(Metric, "mrr(k=-1)")
