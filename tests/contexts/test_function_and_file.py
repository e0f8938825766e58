"""`function` and `file`: the code around a hunk, from a real repository or from the data."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import make_change
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change, Side, Snippet
from reviewgauge.core.specs import load
from reviewgauge.reviewers.reading.change_text import pieces_of

BEFORE = """import os


def first(a):
    b = a
    return b


class Shop:
    def price(self, n):
        total = n
        return total

    def stock(self):
        return 1

    def name(self):
        return "shop"


LIMIT = 3
"""
AFTER = BEFORE.replace("total = n\n", "total = n * 2\n").replace("LIMIT = 3", "LIMIT = 4")


def said(spec: str, change: Change, piece: Change | None = None) -> list[Excerpt]:
    return list(load(Context, spec).excerpts(change, piece or change))


@pytest.fixture
def change(tmp_path: Path) -> Change:
    return make_change(tmp_path / "r", {"shop.py": BEFORE, "gone.py": "x = 1\n"}, {"shop.py": AFTER, "gone.py": None})


def test_the_scope_around_the_hunk_in_both_versions(change: Change) -> None:
    (piece,) = [one for one in pieces_of(change, "hunk").pieces if "shop.py @@ -8" in one.place]
    both = said("function", change, piece.change)
    assert [one.name for one in both] == [
        "shop.py, lines 9 to 18 (class Shop), after the change",
        "shop.py, lines 9 to 18 (class Shop), before the change",
    ]
    assert "total = n * 2" in both[0].text.split("\n")[both[0].around - 1]
    assert "total = n" in both[1].text.split("\n")[both[1].around - 1]
    assert said("function(which='after')", change, piece.change) == both[:1]
    assert said("function(which='before')", change, piece.change) == both[1:]
    (only,) = said("function(which='after', changed=True)", change, piece.change)
    assert only.name == "shop.py, lines 10 to 12 (method Shop.price), after the change"


def test_a_deleted_file_has_no_function_after_and_its_last_version_as_the_file(change: Change) -> None:
    (piece,) = [one.change for one in pieces_of(change, "hunk").pieces if one.place.startswith("gone")]
    assert [one.name for one in said("function", change, piece)] == ["gone.py, line 1 (file), before the change"]
    (whole,) = said("file", change, piece)
    assert (whole.name, whole.text) == ("gone.py, before the change deletes it", "x = 1\n")


def test_the_file_after_the_change(change: Change) -> None:
    (piece, *_) = [one.change for one in pieces_of(change, "hunk").pieces if one.place.startswith("shop")]
    (whole,) = said("file", change, piece)
    assert (whole.name, whole.text) == ("shop.py, after the change", AFTER)
    assert AFTER.split("\n")[whole.around - 1] == "        total = n * 2"
    assert [one.name for one in said("file", change)] == [
        "gone.py, before the change deletes it",
        "shop.py, after the change",
    ]


def test_what_the_data_came_with_needs_no_commits() -> None:
    patch = "@@ -10,2 +10,2 @@\n a\n-b\n+c"
    snippets = (
        Snippet(path="a.js", side=Side.OLD, start=8, end=12, text="old"),
        Snippet(path="a.js", side=Side.NEW, start=8, end=12, text="new"),
        Snippet(path="a.js", side=Side.NEW, start=30, end=40, text="far"),
        Snippet(path="b.js", side=Side.NEW, start=8, end=12, text="other"),
    )
    change = Change.model_validate({"repo": "r", "files": [{"path": "a.js", "patch": patch}]})
    change = change.model_copy(update={"snippets": snippets})
    assert load(Context, "function").prepare([change]) == ()
    assert [(one.text, one.around) for one in said("function", change)] == [("new", 4), ("old", 4)]


def test_hostile_names_and_contents(tmp_path: Path) -> None:
    odd: dict[str, str | bytes | None] = {
        "a\nb.py": "no line of git's can name this file\n", '"$(x)".py': "x = 2\n", "big.py": "y = 2\n" * 200_000,
        "bin.py": b"z = 2\n\x00\xff", "bad.py": b"# \xff\xfe\nq = 2\n", "plain.cobol": "MOVE 2 TO X.\n",
    }  # fmt: skip
    before: dict[str, str | bytes | None] = {
        name: (b"# \xff\xfe\nq = 1\n" if name == "bad.py" else "w = 1\n") for name in odd
    }
    change = make_change(tmp_path / "r", before, odd)
    found = {one.name.partition(",")[0]: one.text for one in said("file", change)}
    assert found == {
        '"$(x)".py': "x = 2\n",
        "bad.py": "# \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}\nq = 2\n",
        "plain.cobol": "MOVE 2 TO X.\n",
    }
    scopes = {one.name.partition(",")[0] for one in said("function(which='after')", change)}
    assert scopes == {'"$(x)".py', "bad.py", "plain.cobol"}
    gone = change.model_copy(update={"head": "0" * 40})
    assert said("file", gone) == []
    with pytest.raises(UserError, match="not in the repository"):
        said("function", gone)
