from __future__ import annotations

import pytest

from reviewgauge.core.records import Case, Change, ChangedFile, Comment
from reviewgauge.core.same_change import answer_marks, identity_marks

PATCH = "@@ -1,2 +1,3 @@\n a\n+b\n c\n"


def change(repo: str = "o/r", patch: str | None = PATCH, url: str | None = None, head: str | None = None) -> Change:
    return Change(repo=repo, files=(ChangedFile(path="a.py", patch=patch),), url=url, head=head)


def same(one: tuple[str, Change], other: tuple[str, Change]) -> bool:
    return not identity_marks(*one).isdisjoint(identity_marks(*other))


@pytest.mark.parametrize(
    "other",
    [
        ("1", change("o/r", "@@ -1 +1 @@\n-x\n+y\n")),
        ("2", change("p/q")),
        ("2", change("p/q", "@@ -7,3 +9,4 @@ def f():\n z\n+  b  \n z\n-\n")),
        ("2", change("O/R", "@@ -1 +1 @@\n+q\n", url="https://github.com/o/r/pull/12/files")),
        ("O/R#12", change("o/r", "@@ -1 +1 @@\n+q\n")),
        ("o/r#12/hunk/0123456789ab", change("o/r", "@@ -1 +1 @@\n+q\n")),
        ("o/r/pull/12/hunk/1", change("o/r", "@@ -1 +1 @@\n+q\n")),
        ("2", change("p/q", "@@ -1 +1 @@\n+\u200bb\u00a0\n")),
        ("2", change("p/q", None, head="AB" * 20)),
        ("2", change("p/q", None, head="abababa")),
    ],
    ids=[
        "id",
        "lines",
        "lines moved",
        "pull request",
        "number in the id",
        "a part of it",
        "a part by its address",
        "blanks",
        "head commit",
        "head commit abbreviated",
    ],
)
def test_the_same_change_under_any_of_its_names(other: tuple[str, Change]) -> None:
    mine = change(url="https://github.com/o/r/pull/12", head="ab" * 20)
    assert same(("1", mine), other)


@pytest.mark.parametrize("other", [
    ("1", change("p/q", "@@ -1 +1 @@\n+q\n")),
    ("2", change("o/r", "@@ -1 +1 @@\n-b\n")),
    ("2", change("p/q", "@@ -1 +1 @@\n+q\n", url="https://github.com/p/q/pull/12")),
    ("2", change("o/r", "@@ -1 +1 @@\n+q\n", url="https://github.com/o/r/pull/123")),
], ids=["the same id elsewhere", "deleted, not added", "the same number elsewhere", "a longer number"])  # fmt: skip
def test_another_change(other: tuple[str, Change]) -> None:
    assert not same(("1", change(url="https://github.com/o/r/pull/12")), other)


def test_changes_without_a_diff_do_not_share_their_emptiness() -> None:
    assert not same(("1", change(patch=None)), ("2", change(patch=None)))


OLD = "".join(f"-    total += prices[{number}] * amounts[{number}]\n" for number in range(3))
NEW = "+    total = sum(price * amount for price, amount in zip(prices, amounts, strict=True))\n"
HUNK = f"@@ -1,3 +1 @@\n{OLD}{NEW}"


@pytest.mark.parametrize(
    "files",
    [
        [HUNK.replace("sum", "fsum")],
        [HUNK.replace("prices[1]", "prices[-1]")],
        [HUNK, PATCH],
        [f"{HUNK}{PATCH}"],
        [HUNK.replace("    ", "\t").replace(" * ", "*")],
    ],
    ids=["an added line differs", "a deleted line differs", "a file more", "a hunk more", "blanks within lines"],
)
def test_a_copy_with_one_line_more_or_less_is_the_same_change(files: list[str]) -> None:
    copy = Change(repo="p/q", files=tuple(ChangedFile(path=f"{n}.py", patch=patch) for n, patch in enumerate(files)))
    assert same(("1", change(patch=HUNK)), ("2", copy))


def test_a_short_hunk_that_many_changes_have_does_not_make_them_the_same() -> None:
    bump = '@@ -1 +1 @@\n-version = "1.2"\n+version = "1.3"\n'
    assert not same(("1", change(patch=bump + "@@ -8 +8 @@\n+x\n")), ("2", change("p/q", bump)))


def test_the_words_of_long_references_tell_whatever_their_case_and_marks() -> None:
    def known(body: str) -> frozenset[str]:
        return answer_marks(Case(id="1", change=change(), references=(Comment(id="c", body=body),)))

    said = "This divides by zero when the basket is empty; return 0 in that case."
    assert (
        known(said)
        == known("**this** divides by zero\nwhen the basket is EMPTY: return `0` in that case")
        != frozenset()
    )
    assert known(said).isdisjoint(known(said.replace("zero", "one")))
    assert known("nit: add a blank line here") == frozenset()
