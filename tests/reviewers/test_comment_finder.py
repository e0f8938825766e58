from __future__ import annotations

import time

import pytest

from reviewgauge.core.records import Case, Change, ChangedFile, Comment
from reviewgauge.reviewers.comment_finder import CommentFinder


def case(name: str, *lines: str) -> Case:
    patch = f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)
    change = Change(repo="o/r", files=(ChangedFile(path="a", patch=patch),))
    return Case(id=name, change=change, references=(Comment(id="r", body=name),))


def closest(reviewer: CommentFinder, cases: list[Case], *lines: str) -> str:
    asked = case("new", *lines).change.model_copy(update={"id": "new"})
    return reviewer.fit(cases).review(asked).comments[0].body


OTHERS = [case(f"other {n}", f"word{n}", f"thing{n}") for n in range(5)]
ALIKE = [case("turned round", "gamma beta", "alpha"), case("in order", "alpha gamma", "beta delta")]


def test_gestalt_decides_among_those_that_cosine_found() -> None:
    """The first has all three words in another order, so the cosine is 1; the second has their order."""
    asked = ("alpha", "gamma beta")
    assert closest(CommentFinder(candidates=1), ALIKE + OTHERS, *asked) == "turned round"
    assert closest(CommentFinder(), ALIKE + OTHERS, *asked) == "in order"


def test_words_of_most_examples_do_not_count() -> None:
    cases = [case("a", "common rare"), case("b", "common other"), case("c", "common third")]
    asked = case("new", "common").change.model_copy(update={"id": "new"})
    assert CommentFinder().fit(cases).review(asked).comments == ()


@pytest.mark.drill
def test_text_that_repeats_takes_no_long_time() -> None:
    cases = [case("ab", "aa bb " * 3_000), case("aab", "aa aa bb " * 2_000), *OTHERS]
    began = time.process_time()
    assert closest(CommentFinder(), cases, "bb aa bb " * 3_000) in ("ab", "aab")
    assert time.process_time() - began < 30


def test_the_published_similarity_sees_nothing_where_every_character_is_common() -> None:
    lines = ["value = compute(value)"] * 12
    cases = [*OTHERS, case("long", *lines)]
    asked = case("new", "value", *lines).change.model_copy(update={"id": "new"})
    for variant, low, high in (("own", 0.8, 1.0), ("published", 0.0, 0.2)):
        reviewer = CommentFinder(variant=variant)  # type: ignore[arg-type]
        (comment,) = reviewer.fit(cases).review(asked).comments
        assert comment.body == "long"
        similarity = comment.extra["similarity"]
        assert isinstance(similarity, float)
        assert low <= similarity <= high, variant
