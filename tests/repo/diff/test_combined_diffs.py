from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.repo.diff.combined_diffs import CombinedHunk, is_combined, parse_combined
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.history import read_history
from written_history import Written, write_history

LINES = ["", "a", "b", " +c", "-- x", "@@@ -1 -1 +1 @@@", "diff --cc f", "ä"]
TEXTS = st.lists(st.sampled_from(LINES), min_size=1, max_size=12)


def check(hunks: tuple[CombinedHunk, ...], parents: list[list[str]], result: list[str]) -> None:
    """Every line is where it is said to be, and every line of the hunks' ranges is there."""
    for hunk in hunks:
        for line in hunk.lines:
            assert len(line.marks) == len(line.old) == len(parents)
            for number, parent in zip(line.old, parents, strict=True):
                assert number is None or parent[number - 1] == line.text
            assert line.new is None or result[line.new - 1] == line.text
        assert sum(line.new is not None for line in hunk.lines) == hunk.new_count
        for at, count in enumerate(hunk.old_counts):
            assert sum(line.old[at] is not None for line in hunk.lines) == count


@given(st.lists(TEXTS, min_size=2, max_size=3), TEXTS, st.sampled_from(["", "\n"]))
def test_what_git_prints_for_a_merge_is_read(
    tmp_path_factory: pytest.TempPathFactory, parents: list[list[str]], result: list[str], end: str
) -> None:
    folder = tmp_path_factory.mktemp("merge") / "r"
    texts = [("\n".join(lines) + end).encode() for lines in (*parents, result)]
    history = [Written({b"f": text}, parents=(), message=b"%d" % n) for n, text in enumerate(texts[:-1])]
    write_history(folder, [*history, Written({b"f": texts[-1]}, parents=tuple(range(len(parents))))])
    sides = [text.decode().removesuffix("\n").split("\n") if text else [] for text in texts]
    for merges in ("combined", "dense-combined"):
        merge = next(read_history(Repository(folder), merges=merges, most=1))
        for file in merge.files:
            assert parse_patch(file.patch or "") == ()  # the other reader does not take it for its own
            hunks = parse_combined(file.patch or "")
            assert bool(hunks) == is_combined(file.patch or "")
            check(hunks, sides[:-1], sides[-1])
            own = {line.text for hunk in hunks for line in hunk.lines if line.own}
            assert own <= set(sides[-1])
            if merges == "combined":
                assert set(sides[-1]).difference(*sides[:-1]) <= own


PATCH = """\
@@@ -1,3 -1,4 +1,4 @@@ def f():
  same
- ours
 -theirs
++both
  end
 -extra
+ kept
"""


def test_the_columns_say_who_has_a_line() -> None:
    (hunk,) = parse_combined(PATCH)
    assert [(line.marks, line.old, line.new) for line in hunk.lines] == [
        ("  ", (1, 1), 1),
        ("- ", (2, None), None),
        (" -", (None, 2), None),
        ("++", (None, None), 2),
        ("  ", (3, 3), 3),
        (" -", (None, 4), None),
        ("+ ", (None, 5), 4),
    ]
    assert [line.text for line in hunk.lines if line.own] == ["both"]
    assert (hunk.old_starts, hunk.old_counts, hunk.new_start, hunk.new_count) == ((1, 1), (3, 4), 1, 4)
    assert hunk.heading == "def f():"


def test_merges_of_more_than_two_parents_and_cut_hunks() -> None:
    (hunk,) = parse_combined("@@@@ -1 -1 -1,2 +1,2 @@@@\n+++new\n   old\n  -gone\n")
    assert [line.old for line in hunk.lines] == [(None, None, None), (1, 1, 1), (None, None, 2)]
    (cut,) = parse_combined("@@@ -1,9 -1,9 +1,9 @@@\n  a\n \n")
    assert [line.text for line in cut.lines] == ["a", ""]
    assert parse_combined("@@ -1 +1 @@\n-a\n+b\n") == ()
    assert parse_combined("@@@@ -1 -1 +1 @@@@\n  a") == ()


PIECES = ["@@@ -1,2 -1,2 +1,2 @@@\n", "@@@", " +a\n", "- b\n", "-+c\n", "  \n", "\\ No\n", "", "\n", "x"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_no_damage_makes_it_fail(text: str) -> None:
    parse_combined(text)


def test_a_combined_diff_of_a_binary_file_is_no_patch(tmp_path: Path) -> None:
    history = [Written({b"f": b"\x00%d" % n}, parents=(), message=b"%d" % n) for n in range(2)]
    write_history(tmp_path / "r", [*history, Written({b"f": b"\x00merged"}, parents=(0, 1))])
    (file,) = next(read_history(Repository(tmp_path / "r"), merges="dense-combined")).files
    assert file.binary and file.patch is None
