from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.records import Side
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.diff.positions import Marker, hunk_at, map_line, markers, parse_marker, patch_rows

LINES = ["", "a", "b", "-- x", "++ y", "@@ -1 +1 @@", "\\ odd", "c\r"]
TEXTS = st.lists(st.sampled_from(LINES), max_size=40)
ENDS = st.sampled_from(["", "\n"])

# One patch with everything that shifts positions: two hunks, deletions, both versions without a last newline.
PATCH = """\
@@ -1,4 +1,4 @@ def f():
 one
-two
+TWO
 three
 four
@@ -20,2 +20,3 @@
 twenty
-last
\\ No newline at end of file
+LAST
+more
\\ No newline at end of file"""


def line_at(patch: str, position: int) -> tuple[Side, int] | None:
    """The line at GitHub's diff position: of the old side for a deleted line, else of the new one."""
    rows = patch_rows(patch)
    row = rows[position] if 0 < position < len(rows) else None
    if row is None:
        return None
    if row.new is not None:
        return Side.NEW, row.new
    return None if row.old is None else (Side.OLD, row.old)


def make_patch(old: list[str], new: list[str], old_end: str, new_end: str, context: int = 3) -> str:
    """As git prints it, with the line about a missing newline."""
    before = [f"{text}\n" for text in old[:-1]] + [old[-1] + old_end for _ in old[:1]]
    after = [f"{text}\n" for text in new[:-1]] + [new[-1] + new_end for _ in new[:1]]
    lines = list(difflib.unified_diff(before, after, "a/f", "b/f", n=context))[2:]
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def test_markers_are_those_of_context_crbench() -> None:
    first, second = parse_patch(PATCH)
    assert markers(first) == ["[1][1]", "[2][]", "[][2]", "[3][3]", "[4][4]"]
    assert markers(second) == ["[20][20]", "[21][]", "[][21]", "[][22]"]


@pytest.mark.parametrize(("text", "expected"), [
    ("[][253]", Marker(None, 253)), ("[254][]", Marker(254, None)), ("[255][254]", Marker(255, 254)),
    ("  [ 1 ][ 2 ] + code", Marker(1, 2)),
    ("[][83] +", Marker(None, 83)), ("[][]", None), ("[0][1]", None), ("[1]", None), ("[a][1]", None),
    ("x [1][1]", None), ("[1][1234567890]", None), ("[-1][1]", None), ("", None),
])  # fmt: skip
def test_markers_are_read(text: str, expected: Marker | None) -> None:
    assert parse_marker(text) == expected


def test_positions_count_later_headers_and_missing_newlines() -> None:
    expected = {
        1: (Side.NEW, 1), 2: (Side.OLD, 2), 3: (Side.NEW, 2), 4: (Side.NEW, 3), 5: (Side.NEW, 4),
        6: None,  # the second header
        7: (Side.NEW, 20), 8: (Side.OLD, 21),
        9: None,  # "\ No newline at end of file"
        10: (Side.NEW, 21), 11: (Side.NEW, 22), 12: None, 13: None, 0: None, -1: None,
    }  # fmt: skip
    assert {position: line_at(PATCH, position) for position in expected} == expected
    assert line_at("", 1) is None and hunk_at(PATCH, Side.NEW, 9) is None


@given(TEXTS, TEXTS, ENDS, ENDS, st.integers(0, 4))
def test_positions_lead_to_their_lines(old: list[str], new: list[str], a: str, b: str, context: int) -> None:
    patch = make_patch(old, new, a, b, context)
    texts = patch.split("\n")
    found = set()
    for position in range(len(texts) + 2):
        place = line_at(patch, position)
        if place is None:
            continue
        side, line = place
        found.add(position)
        assert texts[position][1:] == (old if side is Side.OLD else new)[line - 1]
        assert texts[position][0] in ("-" if side is Side.OLD else " +")
        hunk = hunk_at(patch, side, line)
        assert hunk is not None and hunk in parse_patch(patch)
    assert len(found) == sum(len(hunk.lines) for hunk in parse_patch(patch))
    assert len(patch_rows(patch)) == len(texts) - 1


@given(TEXTS, TEXTS, ENDS, ENDS, st.integers(0, 4))
def test_lines_are_found_in_the_other_version(old: list[str], new: list[str], a: str, b: str, context: int) -> None:
    """Unchanged lines map onto each other, in order, both ways; changed ones map to nothing."""
    patch = make_patch(old, new, a, b, context)
    pairs = [(n, mapped) for n in range(1, len(old) + 1) if (mapped := map_line(patch, n)) is not None]
    assert all(old[before - 1] == new[after - 1] for before, after in pairs)
    assert [after for _, after in pairs] == sorted({after for _, after in pairs})
    back = [(map_line(patch, n, Side.NEW), n) for n in range(1, len(new) + 1)]
    assert [pair for pair in back if pair[0] is not None] == pairs
    deleted = {row.old for hunk in parse_patch(patch) for row in hunk.lines if row.kind == "-"}
    assert set(range(1, len(old) + 1)) - {before for before, _ in pairs} == deleted


def test_behind_a_cut_nothing_is_known() -> None:
    cut = "@@ -10,7 +10,8 @@\n a\n b\n+c"
    assert [map_line(cut, n) for n in (9, 10, 11, 12, 16, 17)] == [9, 10, 11, None, None, 18]


@given(
    st.lists(st.sampled_from(["@@ -1,2 +1,2 @@\n", "@@ -1 +1 @@", "-a", "+b", " c", "\n", "\\ x", "@@@", ""])).map(
        "".join
    )
)
def test_no_damage_makes_it_fail(text: str) -> None:
    for n in range(4):
        line_at(text, n)
        for side in Side:
            hunk_at(text, side, n)
            map_line(text, n, side)
