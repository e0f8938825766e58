from __future__ import annotations

import pytest

from reviewgauge.core.records import Change, ChangedFile
from reviewgauge.core.same_change import identity_marks

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
        ("2", change("p/q", None, head="AB" * 20)),
    ],
    ids=[
        "id",
        "lines",
        "lines moved",
        "pull request",
        "number in the id",
        "a part of it",
        "a part by its address",
        "head commit",
    ],
)
def test_the_same_change_under_any_of_its_names(other: tuple[str, Change]) -> None:
    mine = change(url="https://github.com/o/r/pull/12", head="ab" * 20)
    assert same(("1", mine), other)


@pytest.mark.parametrize(
    "other",
    [
        ("1", change("p/q", "@@ -1 +1 @@\n+q\n")),
        ("2", change("o/r", "@@ -1 +1 @@\n-b\n")),
        ("2", change("p/q", "@@ -1 +1 @@\n+q\n", url="https://github.com/p/q/pull/12")),
        ("2", change("o/r", "@@ -1 +1 @@\n+q\n", url="https://github.com/o/r/pull/123")),
    ],
    ids=["the same id elsewhere", "deleted, not added", "the same number elsewhere", "a longer number"],
)
def test_another_change(other: tuple[str, Change]) -> None:
    assert not same(("1", change(url="https://github.com/o/r/pull/12")), other)


def test_changes_without_a_diff_do_not_share_their_emptiness() -> None:
    assert not same(("1", change(patch=None)), ("2", change(patch=None)))
