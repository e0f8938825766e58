"""Places in a diff: the file of a path, the row of a line, markers, GitHub's diff positions, quoted code.

A GitHub position counts the lines of a file's patch below its first hunk header (position 1); later headers and
`\\ No newline at end of file` count too, and are not place for a comment. Sources: GitHub's REST documentation of
review comments, and for the lines beginning with a backslash github/VisualStudio pull request 1148. Markers
`[old][new]` are those of ContextCRBench (Hu et al., 2025): `[][253]` is an added line, `[254][]` a deleted one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from reviewgauge.core.records import Change, ChangedFile, FileStatus, Side, Span
from reviewgauge.repo.diff.diffs import DiffLine, Hunk, parse_patch

_MARKER = re.compile(r"\s*\[\s*+(\d{0,9})\s*+\]\s*\[\s*+(\d{0,9})\s*+\]")


class Marker(NamedTuple):
    """The numbers of one line of a hunk in the old and the new file; None where that version does not have it."""

    old: int | None
    new: int | None

    def __str__(self) -> str:
        return f"[{'' if self.old is None else self.old}][{'' if self.new is None else self.new}]"


def markers(hunk: Hunk) -> list[str]:
    """One marker for each line of the hunk: `[old][new]`, empty where that version does not have the line."""
    return [str(Marker(line.old, line.new)) for line in hunk.lines]


def parse_marker(text: str) -> Marker | None:
    """The marker that `text` begins with; None where it begins with none, or with one that names no line."""
    found = _MARKER.match(text)
    if found is None:
        return None
    old, new = (int(number) if number else None for number in found.groups())
    return None if (old or new) is None or 0 in (old, new) else Marker(old, new)


@lru_cache(maxsize=256)
def patch_rows(patch: str) -> tuple[DiffLine | None, ...]:
    """The lines of the patch's text; None for hunk headers, `\\ No newline at end of file` and what is not a diff."""
    rows: list[DiffLine | None] = []
    hunks = iter(parse_patch(patch))
    body: list[DiffLine] = []
    lines = patch.split("\n")
    for text in lines[:-1] if lines[-1] == "" else lines:
        if not body and text.startswith("@@ -"):
            hunk = next(hunks, None)
            body = list(reversed(hunk.lines)) if hunk is not None else []
            rows.append(None)
        else:
            rows.append(None if text.startswith("\\") or not body else body.pop())
    return tuple(rows)


def hunk_at(patch: str, side: Side, line: int) -> Hunk | None:
    """The hunk that shows `line` of the version `side`; None where none does."""
    return next((hunk for hunk in parse_patch(patch) if line in hunk.numbers(side)), None)


def map_line(patch: str, line: int, source: Side = Side.OLD) -> int | None:
    """The number in the other version of `line`, counted in the version `source`; None where the patch changed it.

    Lines that the patch does not show keep their distance to the hunk above. In a hunk that is cut short, lines
    behind the cut are None.
    """
    shift = 0
    for hunk in parse_patch(patch):
        here, there = (covered(hunk, Side.OLD), covered(hunk, Side.NEW))
        if source is Side.NEW:
            here, there = there, here
        if line < here.start:
            break
        if line < here.stop:
            row = next((row for row in hunk.lines if row.number(source) == line), None)
            return None if row is None else row.number(Side.NEW if source is Side.OLD else Side.OLD)
        shift = there.stop - here.stop
    return line + shift


def covered(hunk: Hunk, side: Side) -> range:
    """The lines that the hunk covers; an empty range at its place where it has none on this side."""
    start, count = hunk.place(side)
    first = start if count else start + 1
    return range(first, first + count)


class DiffRow(NamedTuple):
    """A line of a change's diff: the number of its file, of the hunk in it, and of the line in the hunk, from 0."""

    file: int
    hunk: int
    line: int


def hunk_rows(change: Change, span: Span) -> Iterator[DiffRow]:
    """The rows that a span covers, counted on its side."""
    if span.start is None or span.end is None:
        return
    wanted = range(span.start, span.end + 1)
    for row, line in _diff_rows(change, span.path):
        if line.number(span.side) in wanted:
            yield row


def find_row(change: Change, span: Span, *, repair: bool) -> DiffRow | None:
    """The row that a one-line answer names (the first of several lines); None where the diff does not show it.

    With `repair` a line that is not there is read as the nearest on its own side, else the nearest on the other.
    """
    old, new = (span.start, None) if span.side is Side.OLD else (None, span.start)
    return find_marker(change, span.path, Marker(old, new), repair=repair)


def find_marker(change: Change, path: str, marker: Marker, *, repair: bool) -> DiffRow | None:
    """The row that a marker `[old][new]` names.

    A marker is exact where both of its numbers fit; one with a single number also names the unchanged line with that
    number. With `repair`, in ContextCRBench's order: else the same old number, the same new number, the nearest old,
    the nearest new.
    """
    rows = _diff_rows(change, path)
    exact = next((row for row, line in rows if (line.old, line.new) == (marker.old, marker.new)), None)
    if exact is not None:
        return exact
    sides = [(n, side) for n, side in ((marker.old, Side.OLD), (marker.new, Side.NEW)) if n is not None]
    numbered = [(row, side, n) for row, line in rows for side in Side if (n := line.number(side)) is not None]
    if len(sides) == 1 or repair:
        for number, side in sides:
            if same := [row for row, its_side, n in numbered if (its_side, n) == (side, number)]:
                return same[0]
    for number, side in sides if repair else ():
        if near := [(abs(n - number), row) for row, its_side, n in numbered if its_side is side]:
            return min(near)[1]
    return None


def _diff_rows(change: Change, path: str) -> list[tuple[DiffRow, DiffLine]]:
    file = find_file(path, change)
    if file is None or file.patch is None:
        return []
    at = change.files.index(file)
    return [
        (DiffRow(at, h, n), line) for h, hunk in enumerate(parse_patch(file.patch)) for n, line in enumerate(hunk.lines)
    ]


_DRIVE = re.compile(r"/?[A-Za-z]:(?=/)")


def relative_path(path: str, root: str | None = None) -> str:
    """`path` with forward slashes, below `root` where it lies there, without a leading `./`.

    An absolute path outside `root` stays absolute (it begins with `/`), a drive letter is taken off.
    """
    clean = _slashed(path)
    if root:
        folder = _slashed(root).rstrip("/") + "/"
        if clean.startswith(folder):
            clean = clean[len(folder) :].lstrip("/")
    while clean.startswith("./"):
        clean = clean[2:].lstrip("/")
    return clean


def _slashed(path: str) -> str:
    clean = path.strip().replace("\\", "/")
    if clean.lower().startswith("file://"):
        clean = "/" + clean[7:].removeprefix("localhost").lstrip("/")
    return _DRIVE.sub("", clean, count=1) if _DRIVE.match(clean) else clean


def find_file(path: str, change: Change, root: str | None = None) -> ChangedFile | None:
    """The changed file that `path` names, None when it is not part of the change.

    By its path, then its old path, then without the `a/` or `b/` of diffs; an absolute path outside `root` by the
    longest of its ends that is a changed file.
    """
    if (found := _named(relative_path(path), change)) is not None:
        return found
    clean = relative_path(path, root)
    if not clean.startswith("/"):
        found = _named(clean, change)
        if found is None and clean.startswith(("a/", "b/")):
            found = _named(clean[2:], change)
        return found
    parts = clean.lstrip("/").split("/")
    return next((f for i in range(len(parts)) if (f := _named("/".join(parts[i:]), change)) is not None), None)


def _named(path: str, change: Change) -> ChangedFile | None:
    return next((f for f in change.files if f.path == path), None) or next(
        (f for f in change.files if f.old_path == path and f.status is not FileStatus.COPIED), None
    )


SHORTEST_PART = 6  # characters; a shorter quote must be a whole line, or any `i = 0` would be found everywhere
_ELLIPSIS = re.compile(r"(?:#|//|/\*|--|;)?\s*(?:\.{3,}|…)\s*(?:\*/)?")
_LONGEST = 400  # lines of a quote that are looked at

Needle = tuple[str, ...]


def plain(line: str) -> str:
    """The line without blanks at its ends, every run of blanks inside as one."""
    return " ".join(line.split())


@lru_cache(maxsize=128)
def plain_lines(text: str) -> tuple[str, ...]:
    """`plain` of every line of a file."""
    return tuple(plain(line) for line in text.split("\n"))


def weight(quote: str) -> int:
    """How many letters and digits a quote has: what tells `}` from something worth looking for."""
    return sum(c.isalnum() for c in quote)


def needles(quote: str) -> list[Needle]:
    """The texts to look for: the quote as it is, then without diff markers. Empty when nothing is quoted."""
    raw = [line for line in quote.replace("\r", "").split("\n") if not line.startswith("@@ ")][:_LONGEST]
    marked = [line for line in raw if line.strip()]
    found = [_longest_run([plain(line) for line in raw])]
    if marked and all(line[0] in "+- " for line in marked) and any(line[0] in "+-" for line in marked):
        found.append(_longest_run([plain(line[1:]) for line in raw]))
    return [needle for needle in dict.fromkeys(found) if needle]


def _longest_run(lines: list[str]) -> Needle:
    """The lines between elisions (`...`) that hold most, without blank ones."""
    runs: list[list[str]] = [[]]
    for line in lines:
        if _ELLIPSIS.fullmatch(line):
            runs.append([])
        elif line:
            runs[-1].append(line)
    return tuple(max(runs, key=lambda run: sum(map(len, run))))


def occurrences(needle: Needle, lines: Sequence[str], whole: bool) -> Iterator[tuple[int, int]]:
    """The (first, last) indexes of `needle` in `lines` (both plain), blank lines skipped.

    With `whole` every line must be equal; without, the first may end with, and the last begin with, the quoted
    text, and a single one may be inside a line.
    """
    filled = [i for i, line in enumerate(lines) if line]
    length = len(needle)
    if not length or (not whole and len("".join(needle)) < SHORTEST_PART):
        return
    for k in range(len(filled) - length + 1):
        first, last = lines[filled[k]], lines[filled[k + length - 1]]
        if whole:
            fits = first == needle[0] and last == needle[-1]
        elif length == 1:
            fits = needle[0] in first
        else:
            fits = first.endswith(needle[0]) and last.startswith(needle[-1])
        if fits and all(lines[filled[k + i]] == needle[i] for i in range(1, length - 1)):
            yield filled[k], filled[k + length - 1]
