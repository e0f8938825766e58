"""Names of places for people and models, and the lines that a piece of a change is about."""

from __future__ import annotations

from collections.abc import Iterator

from reviewgauge.core.records import Change, ChangedFile, Side
from reviewgauge.repo.diff.diffs import Hunk, parse_patch

_WHEN = {Side.OLD: "before", Side.NEW: "after"}


def place_name(path: str, start: int, end: int, what: str = "", side: Side | None = None) -> str:
    """`src/a.py, lines 3 to 20 (method Shop.price), after the change`."""
    lines = f"line {start}" if start == end else f"lines {start} to {end}"
    return f"{path}, {lines}{f' ({what})' * bool(what)}{f', {_WHEN[side]} the change' if side else ''}"


def path_on(file: ChangedFile, side: Side) -> str:
    """The path of a file on one side."""
    return (file.old_path or file.path) if side is Side.OLD else file.path


def hunks_of(piece: Change) -> Iterator[tuple[ChangedFile, Hunk]]:
    """The hunks of a piece, each with its file."""
    for file in piece.files:
        for hunk in parse_patch(file.patch or ""):
            yield file, hunk


def lines_on(piece: Change, side: Side) -> dict[str, list[int]]:
    """The lines on one side that the hunks of a piece show, by path."""
    found: dict[str, list[int]] = {}
    for file, hunk in hunks_of(piece):
        found.setdefault(path_on(file, side), []).extend(hunk.numbers(side))
    return found


def first_changed(hunk: Hunk, side: Side) -> int:
    """The first changed line of a hunk on one side, or the line that stands there where it only changes the other."""
    first = next((n for n, line in enumerate(hunk.lines) if line.kind != " "), 0)
    around = (*hunk.lines[first:], *reversed(hunk.lines[:first]))
    return next((number for line in around if (number := line.number(side)) is not None), max(hunk.place(side)[0], 1))
