"""The lines of a diff that something was said about, with some lines around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from reviewgauge.core.records import Change, Span
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.repo.diff.positions import covered, find_file

AROUND = 4  # lines shown before and after a line with remarks
LONGEST = 400  # characters of a code line before it is cut
Place = tuple[int, int, int]  # file, hunk and line, counted from 0; hunk and line are -1 for the file as a whole


@dataclass(frozen=True)
class Remark:
    """A finding, a comment or an answer: it stands at the first of its places that the diff shows."""

    anchor: str
    state: str
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class LineView:
    """One line of a diff, or (kind `gap`) omitted lines."""

    kind: str
    old: int | None
    new: int | None
    text: str
    remarks: Sequence[Remark] = ()


@dataclass(frozen=True)
class FileView:
    """The shown lines of one file."""

    path: str
    old_path: str | None
    remarks: Sequence[Remark]  # about the file as a whole
    lines: Sequence[LineView]


def show_files(change: Change, remarks: Iterable[Remark]) -> tuple[list[FileView], int, list[Remark]]:
    """(files and lines with remarks, the number of hunks without one, the remarks that the diff has no place for)."""
    placed: dict[Place, list[Remark]] = {}
    rest: list[Remark] = []
    for remark in remarks:
        places = (_place(change, span) for span in remark.spans)
        at = next((place for place in places if place), None)
        (rest if at is None else placed.setdefault(at, [])).append(remark)
    views: list[FileView] = []
    hidden = 0
    for number, file in enumerate(change.files):
        lines: list[LineView] = []
        for at_hunk, hunk in enumerate(parse_patch(file.patch or "")):
            here = {line: own for (f, h, line), own in placed.items() if (f, h) == (number, at_hunk)}
            lines += _show_hunk(hunk, here)
            hidden += not here
        whole = placed.get((number, -1, -1), [])
        if lines or whole:
            views.append(FileView(file.path, file.old_path, whole, lines))
    return views, hidden, rest


def _place(change: Change, span: Span) -> Place | None:
    """The last line that the span covers; None where the diff does not show it."""
    file = find_file(span.path, change)
    if file is None:
        return None
    number = change.files.index(file)
    if span.start is None or span.end is None:
        return number, -1, -1
    wanted = range(span.start, span.end + 1)
    for at, hunk in reversed(list(enumerate(parse_patch(file.patch or "")))):
        shown = covered(hunk, span.side)
        if wanted.start < shown.stop and shown.start < wanted.stop:
            for line in reversed(range(len(hunk.lines))):
                if hunk.lines[line].number(span.side) in wanted:
                    return number, at, line
    return None


def _show_hunk(hunk: Hunk, placed: Mapping[int, Sequence[Remark]]) -> Iterator[LineView]:
    if not placed:
        return
    keep = {line for at, remarks in placed.items() for line in _window(len(hunk.lines), at, remarks)}
    yield LineView("head", None, None, f"@@ -{hunk.old_start} +{hunk.new_start} @@ {hunk.heading}".rstrip())
    for kept, run in groupby(enumerate(hunk.lines), key=lambda numbered: numbered[0] in keep):
        lines = list(run)
        if not kept:
            yield LineView("gap", None, None, f"{len(lines)} line{'s' * (len(lines) > 1)}")
            continue
        for at, line in lines:
            yield LineView(line.kind, line.old, line.new, cut(line.text), placed.get(at, ()))


def _window(lines: int, at: int, remarks: Sequence[Remark]) -> range:
    longest = max((span.end or 0) - (span.start or 0) for remark in remarks for span in remark.spans)
    return range(max(0, at - min(longest, 20) - AROUND), min(lines, at + AROUND + 1))


def cut(line: str) -> str:
    """The first characters of a long line of code."""
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"
