from __future__ import annotations

from engine_small import make_case, make_cases
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Side, Span
from reviewgauge.engine import probes


def case_of(*references: Comment, name: str = "c", repo: str = "o/r") -> Case:
    return Case(id=name, change=Change(repo=repo), references=references)


def phrased() -> Case:
    """Three findings: one in three phrasings, one in two that are the same words, one alone."""
    return case_of(
        Comment(id="a1", body="a first", span=Span(path="a.py", start=4)),
        Comment(id="b1", body="same words"),
        Comment(id="a2", body="a second", same_as="a1"),
        Comment(id="b2", body="same words", same_as="b1"),
        Comment(id="a3", body="a third", same_as="a2"),
        Comment(id="c1", body="alone"),
    )


def bodies(comments: tuple[Comment, ...]) -> list[str]:
    return [comment.body for comment in comments]


def test_the_oracle_says_each_finding_once_and_does_not_give_its_ids_away() -> None:
    case = phrased()
    review = probes.oracle(case)
    assert bodies(review.comments) == ["a first", "same words", "alone"]
    assert review.comments[0].span == Span(path="a.py", start=4)
    assert not {c.id for c in review.comments} & {r.id for r in case.references}
    assert all(comment.same_as is None for comment in review.comments)
    assert len(probes.oracle_all(case).comments) == 6


def test_the_parrot_speaks_once_per_hunk_and_once_where_there_is_no_diff() -> None:
    patch = "@@ -1,2 +1,3 @@\n a\n+b\n c\n@@ -9,2 +10,0 @@\n-x\n-y\n"
    change = Change(repo="o/r", files=(ChangedFile(path="a.py", patch=patch), ChangedFile(path="b.bin", binary=True)))
    comments = probes.parrot(Case(id="c", change=change)).comments
    assert [comment.span for comment in comments] == [
        Span(path="a.py", start=1),
        Span(path="a.py", start=9, side=Side.OLD),
    ]
    assert {comment.body for comment in comments} == {probes.PARROT}
    assert [comment.span for comment in probes.parrot(phrased()).comments] == [None]


def test_wrong_lines_touch_no_line_that_anything_is_known_about() -> None:
    case = make_case(1, references=3).model_copy(
        update={"rejected": (Comment(id="x", body="x", span=Span(path="a.py", start=70, end=90)),)}
    )
    review = probes.wrong_line(case)
    assert bodies(review.comments) == bodies(probes.oracle(case).comments)
    for comment in review.comments:
        assert comment.span is not None and comment.span.start is not None
        assert comment.span.path == "a.py"
        assert comment.span.start > 90 + 500
    assert [c.span for c in probes.wrong_line(phrased()).comments][1:] == [None, None]


def test_shuffled_takes_another_change_of_another_repository() -> None:
    cases = [case_of(Comment(id="r", body=f"b{n}"), name=f"c{n}", repo=f"o/{n // 3}") for n in range(6)]
    cases.append(case_of(name="empty"))
    probe = probes.shuffled(cases)
    for n, case in enumerate(cases[:6]):
        found = bodies(probe(case).comments)
        assert len(found) == 1
        assert int(found[0][1:]) // 3 != n // 3
    assert probe(cases[6]).comments == ()
    assert [probes.shuffled(list(reversed(cases)))(case) for case in cases] == [probe(case) for case in cases]
    alone = probes.shuffled(cases[:1])(cases[0])
    assert alone.comments == ()
    same_repo = [case.model_copy(update={"change": Change(repo="o/r")}) for case in cases[:2]]
    assert bodies(probes.shuffled(same_repo)(same_repo[0]).comments) == ["b1"]


def test_shuffled_in_place_keeps_the_places() -> None:
    cases = make_cases(2, references=3)
    review = probes.shuffled_in_place(cases)(cases[0])
    assert [c.span for c in review.comments] == [r.span for r in cases[0].references]
    assert bodies(review.comments) == bodies(cases[1].references)


def test_the_middling_reviewer_is_half_right_and_its_spam_repeats_the_right_half_only() -> None:
    cases = make_cases(2, references=4)
    review = probes.mixed(cases)(cases[0])
    right, wrong = cases[0].references, cases[1].references
    assert bodies(review.comments) == [right[0].body, right[2].body, wrong[0].body, wrong[1].body]
    spam = bodies(probes.mixed_spam(cases, 3)(cases[0]).comments)
    assert [spam.count(body) for body in bodies(review.comments)] == [3, 3, 1, 1]
    assert len(spam) == 8


def test_reworded_predicts_a_phrasing_that_the_references_lack() -> None:
    item = probes.reworded(phrased())
    assert item is not None
    case, review = item
    assert bodies(review.comments) == ["a second"]
    assert [(r.id, r.same_as) for r in case.references] == [("a1", None), ("a3", "a1")]
    Case.model_validate(case.model_dump())
    assert probes.reworded(make_case(1)) is None


def test_the_change_is_told_back_on_its_largest_hunk_too() -> None:
    patch = "@@ -1 +1,2 @@\n a\n+b\n@@ -90 +91,3 @@\n a\n+jar.update(expired)\n+return jar\n"
    change = Change(repo="shop", title="Keep cookies", files=(ChangedFile(path="shop/jar.py", patch=patch),))
    places = [comment.span for comment in probes.restating(Case(id="c", change=change)).comments]
    assert places == [None, None, Span(path="shop/jar.py", start=92, end=93)]
    assert len(probes.restating(Case(id="c", change=Change(repo="shop", title="Keep cookies"))).comments) == 1
