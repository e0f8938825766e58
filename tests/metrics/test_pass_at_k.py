from __future__ import annotations

from collections.abc import Sequence

import pytest

from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Side, Span, Task
from reviewgauge.metrics.pass_at_k import PassAtK

PATCH = "@@ -10,3 +10,4 @@\n a = 1\n-b = 2\n+b = 3\n+c = 4\n return a"
NEW, OLD = Side.NEW, Side.OLD


def case(*spans: Span) -> Case:
    references = tuple(Comment(id=str(n), body="x", span=span) for n, span in enumerate(spans))
    change = Change(repo="x", files=(ChangedFile(path="a.py", patch=PATCH),), task=Task.LOCATE)
    return Case(id="c", change=change, references=references)


def at(line: int, side: Side = NEW) -> Span:
    return Span(path="a.py", start=line, side=side)


def measure(metric: PassAtK, truth: Case, answer: Sequence[Span]) -> dict[str, float]:
    measured = metric.parts(truth, Review(case="c", system="s", ranked_lines=tuple(answer)))
    assert isinstance(measured, Measured)
    return dict(measured.parts)


def test_any_commented_line_counts_and_the_published_rule_takes_the_first_alone() -> None:
    truth = case(Span(path="a.py", start=11, end=12))
    assert measure(PassAtK(), truth, [at(10), at(12)]) == {
        "pass@1": 0, "pass@3": 1, "pass@5": 1, "pass@10": 1, "lines": 2, "outside": 0,
    }  # fmt: skip
    assert measure(PassAtK(variant="published"), truth, [at(10), at(12)])["pass@10"] == 0
    assert measure(PassAtK(variant="published"), truth, [at(10), at(11)])["pass@3"] == 1


def test_an_unchanged_line_is_the_same_by_either_number() -> None:
    truth = case(at(13))  # "return a" was line 12 before
    assert measure(PassAtK(), truth, [at(12, OLD)])["pass@1"] == 1
    assert measure(PassAtK(), truth, [at(12)])["pass@1"] == 0  # c = 4


def test_repeats_take_no_place_unless_published() -> None:
    truth = case(at(13))
    answer = [at(10), at(10, OLD), at(10), at(13)]
    assert measure(PassAtK(), truth, answer)["pass@3"] == 1
    assert measure(PassAtK(variant="published"), truth, answer)["pass@3"] == 0


@pytest.mark.parametrize(("answer", "right"), [
    (at(99), at(13)),  # nearest new
    (at(99, OLD), at(12, OLD)),  # nearest old, which is the same row
    (at(1), at(10)),
])  # fmt: skip
def test_lines_that_are_not_there_are_wrong_and_put_right_as_published(answer: Span, right: Span) -> None:
    assert measure(PassAtK(), case(right), [answer])["pass@1"] == 0
    assert measure(PassAtK(), case(right), [answer])["outside"] == 1
    assert measure(PassAtK(variant="published"), case(right), [answer])["pass@1"] == 1
    assert measure(PassAtK(variant="published"), case(right), [answer])["outside"] == 1


def test_invented_lines_take_up_their_places() -> None:
    invented = [Span(path="a.py"), at(98), at(99)]
    found = measure(PassAtK(), case(at(10)), [*invented, at(10)])
    assert (found["pass@1"], found["pass@3"], found["pass@5"], found["outside"]) == (0, 0, 1, 3)


def test_what_cannot_be_measured_says_so() -> None:
    assert PassAtK().parts(case(), Review(case="c", system="s")) == "no reference names a line of the change"
    assert PassAtK().bounds(case()) is None
    nothing = measure(PassAtK(), case(at(10)), [])
    assert nothing["pass@10"] == 0 and nothing["lines"] == 0
    with pytest.raises(ValueError, match="1 among them"):
        PassAtK(ks=(3,))


@pytest.mark.parametrize("task", Task)
def test_a_review_that_says_something_else_than_a_ranking_is_not_measured(task: Task) -> None:
    """A verdict on the same hunk is not an empty ranking, of which nothing is found."""
    truth = case(at(10))
    truth = truth.model_copy(update={"change": truth.change.model_copy(update={"task": task})})
    verdict = Review(case="c", system="s", verdict=True)
    comment = Review(case="c", system="s", comments=(Comment(id="1", body="b", span=at(10)),))
    assert PassAtK().parts(truth, verdict) == PassAtK().parts(truth, comment) == "the review ranks no lines"
    empty = PassAtK().parts(truth, Review(case="c", system="s"))
    assert isinstance(empty, Measured) == (task is Task.LOCATE)
