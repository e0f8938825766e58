from __future__ import annotations

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Side, Span
from reviewgauge.reviewers.learning.examples import (
    MOST,
    examples,
    passages,
    read_examples,
    read_passages,
)

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
