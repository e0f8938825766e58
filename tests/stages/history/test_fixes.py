"""Whose lines a later change rewrote, whatever it says."""

from __future__ import annotations

import pytest

from reviewgauge.core.records import ChangedFile
from reviewgauge.stages.history.fixes import Rewrites

LINES = ("weight = parcel.weight", "if weight > 10:", "    return heavy(weight)")


def diff(*lines: str, path: str = "shop/ship.py") -> ChangedFile:
    """A diff of one hunk, from lines that begin with their sign."""
    old, new = (sum(line[0] != sign for line in lines) for sign in "+-")
    return ChangedFile(path=path, patch="\n".join((f"@@ -1,{old} +1,{new} @@", *lines)))


ADDED = (diff(*(f"+{line}" for line in LINES)),)


def later(*files: ChangedFile) -> int | None:
    """The change that rewrites `ADDED`, which is number 4, where `files` is number 7."""
    rewrites = Rewrites()
    rewrites.add(7, files)
    return rewrites.first_after(4, ADDED)


def test_one_other_word_in_a_line_is_a_rewrite() -> None:
    assert later(diff("-if weight > 10:", "+if weight >= 10:")) == 7
    assert later(diff("-    return heavy(weight)")) == 7, "also where nothing takes its place"


@pytest.mark.parametrize("files", [
    (diff("-if weight > 10:", "+if weight >= 10:", path="shop/other.py"),),
    (diff("-if weight > 10:", "+if weight >= 10:", path="tests/test_ship.py"),),
    (diff("-if weight > 10:", "+    if weight > 10:"),),
    (diff("-if weight > 10:"), diff("+if weight > 10:", path="shop/rules.py")),
    (diff(" if weight > 10:", "+    check(weight)"),),
], ids=["another file", "a test", "indented", "moved to another file", "only beside it"])  # fmt: skip
def test_what_is_no_rewrite(files: tuple[ChangedFile, ...]) -> None:
    assert later(*files) is None


def test_only_what_comes_later_counts() -> None:
    rewrites = Rewrites()
    for number in (9, 3, 4, 7):
        rewrites.add(number, (diff("-if weight > 10:", "+if weight >= 10:"),))
    assert rewrites.first_after(4, ADDED) == 7
