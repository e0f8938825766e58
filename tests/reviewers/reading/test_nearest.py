"""Examples of reviewed changes; and what the retrieval reviewers have in common, on each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Side, Span, Task
from reviewgauge.core.results import Failed
from reviewgauge.core.specs import load, signature
from reviewgauge.reviewers.reading.nearest import MOST, Nearest, examples, passages, read_examples, read_passages
from training_cases import SUBJECTS, change, hunk, training

FIRST = "@@ -1,2 +1,3 @@\n a\n+b\n c\n"
SECOND = "@@ -20,3 +21,2 @@\n d\n-e\n f\n"
FILES = (ChangedFile(path="a.py", patch=FIRST + SECOND), ChangedFile(path="b.py", patch="@@ -0,0 +1 @@\n+z\n"))


def case(*references: Comment, focus: Span | None = None, verdict: bool | None = None) -> Case:
    change = Change(repo="o/r", files=FILES, focus=focus)
    return Case(id="1", change=change, references=references, verdict=verdict)


def test_passages_are_the_hunks_of_the_focus() -> None:
    everything = passages(Change(repo="o/r", files=FILES))
    assert [(passage.text, passage.span) for passage in everything] == [
        (" a\n+b\n c", Span(path="a.py", start=2)),
        (" d\n-e\n f", Span(path="a.py", start=21, side=Side.OLD)),
        ("+z", Span(path="b.py", start=1)),
    ]
    focus = Span(path="a.py", start=22)
    assert passages(Change(repo="o/r", files=FILES, focus=focus)) == [(" d\n-e\n f", focus)]
    assert len(passages(Change(repo="o/r", files=FILES, focus=Span(path="a.py")))) == 2
    assert passages(Change(repo="o/r", files=FILES, focus=Span(path="b.py", start=7))) == everything
    assert passages(Change(repo="o/r", files=(ChangedFile(path="x", binary=True),))) == []


def test_a_comment_goes_with_its_hunk_or_with_all_where_its_place_is_not_known() -> None:
    found = list(
        examples(
            [
                case(
                    Comment(id="r1", body=" one \n", span=Span(path="a.py", start=2)),
                    Comment(id="r2", body="two"),
                    Comment(id="r3", body="  "),
                )
            ]
        )
    )
    assert [(example.text, example.comment) for example in found] == [
        (" a\n+b\n c", "one"),
        (" a\n+b\n c\n d\n-e\n f\n+z", "two"),
    ]


def test_a_verdict_is_an_example_of_its_own_without_a_comment() -> None:
    (found,) = examples([case(focus=Span(path="b.py", start=1), verdict=True)])
    assert (found.text, found.comment, found.verdict) == ("+z", None, True)
    (found,) = examples([case(Comment(id="r", body="no"), focus=Span(path="b.py", start=1), verdict=False)])
    assert (found.text, found.comment, found.verdict) == ("+z", "no", False)
    assert list(examples([case()])) == []


def test_cases_without_a_diff_are_nothing_to_learn_from() -> None:
    bare = Case(id="1", change=Change(repo="o/r"), references=(Comment(id="r", body="x"),))
    with pytest.raises(UserError, match="bm25_knn finds nothing to learn from"):
        read_examples([bare], "bm25_knn")


def test_of_many_hunks_the_first_are_read_and_it_is_said() -> None:
    patch = "".join(f"@@ -{n} +{n} @@\n-a\n+b\n" for n in range(1, MOST + 11))
    found, remark = read_passages(Change(repo="o/r", files=(ChangedFile(path="a", patch=patch),)), "x")
    assert len(found) == MOST
    assert remark == f"10 hunks were not read, only the first {MOST}"
    assert read_passages(Change(repo="o/r", files=FILES), "x").remark is None


pytest.importorskip("bm25s")

REVIEWERS = ["bm25_knn", "comment_finder", "comment_finder(variant='published')"]


def taught(spec: str, cases: list[Case] | None = None) -> Nearest:
    reviewer = load(Reviewer, spec)
    assert isinstance(reviewer, Nearest)
    return reviewer.fit(cases or training())


@pytest.fixture(params=REVIEWERS)
def spec(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_comment_on_the_closest_change_is_repeated_at_the_focus(spec: str) -> None:
    reviewer = taught(spec)
    for subject in SUBJECTS:
        (comment,) = reviewer.review(change(subject, "new", extra="  # new")).comments
        assert comment.body == f"Close the {subject} afterwards."
        assert comment.span == Span(path="a.py", start=2)
        assert comment.extra["said of"] == subject


def test_the_change_under_review_never_answers_for_itself(spec: str) -> None:
    reviewer = taught(spec)
    under_its_id = change("cursor", "cursor", extra="  # new")
    under_another = change("cursor", "new")
    for asked in (under_its_id, under_another):
        assert "cursor" not in {comment.extra["said of"] for comment in reviewer.review(asked).comments}


def test_one_comment_a_hunk_the_closest_first_and_none_twice(spec: str) -> None:
    files = tuple(
        ChangedFile(path=f"{n}.py", patch=hunk(subject, extra))
        for n, (subject, extra) in enumerate([("canvas", "; x = y"), ("socket", "  # new"), ("canvas", "; q")])
    )
    wide = Change(id="new", repo="o/r", files=files)
    assert {c.body for c in taught(spec).review(wide).comments} == {
        "Close the canvas afterwards.",
        "Close the socket afterwards.",
    }
    reviewer = replace(load(Reviewer, spec), most=1)  # type: ignore[call-arg]
    (comment,) = reviewer.fit(training()).review(wide).comments
    assert comment.span is not None


def test_assess_repeats_the_verdict(spec: str) -> None:
    reviewer = taught(spec, training(Task.ASSESS))
    for subject, verdict in (("socket", True), ("cursor", False), ("parser", True), ("canvas", False)):
        review = reviewer.review(change(subject, "new", Task.ASSESS, extra="  # new"))
        assert (review.verdict, review.comments) == (verdict, ())
    with pytest.raises(Failed, match="no training example with a verdict"):
        taught(spec).review(change("socket", "new", Task.ASSESS))


def test_what_it_cannot_do_is_a_failure(spec: str) -> None:
    reviewer = taught(spec)
    with pytest.raises(Failed, match="ranks no lines"):
        reviewer.review(change("socket", "new", Task.LOCATE))
    with pytest.raises(Failed, match="no hunk of text"):
        reviewer.review(Change(id="new", repo="o/r", files=(ChangedFile(path="a.png", binary=True),)))
    with pytest.raises(Failed, match="needs the code"):
        reviewer.review(Change(id="new", repo="o/r"))
    notes = reviewer.prepare([change("socket", "new", Task.LOCATE)])
    assert [drop.item for drop in notes] == ["4 examples", "1 change"]


def test_it_must_be_taught(spec: str) -> None:
    with pytest.raises(UserError, match="--train DATASET"):
        load(Reviewer, spec).prepare([change("socket", "new")])


def test_what_it_learnt_is_pinned_and_no_part_of_its_spec(spec: str) -> None:
    reviewer = taught(spec)
    assert signature(reviewer) == signature(load(Reviewer, spec))
    assert reviewer.pins()["examples"] == "4"
    assert reviewer.pins() == taught(spec).pins() != taught(spec, training()[:3]).pins()


@pytest.mark.parametrize(
    "bad", ["bm25_knn(most=0)", "bm25_knn(k1=-1.0)", "bm25_knn(b=2.0)", "comment_finder(candidates=0)"]
)
def test_bad_parameters(bad: str) -> None:
    with pytest.raises(UserError, match=r"must"):
        load(Reviewer, bad)
