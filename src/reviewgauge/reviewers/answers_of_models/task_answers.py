"""Reads answers to the three small tasks, strictly: what is not plainly said is Unreadable, never a guess.

The keys are ContextCRBench's (arXiv:2511.07017): `is_merged`, `lines`, `comment`.
"""

from __future__ import annotations

from collections.abc import Mapping

from reviewgauge.core.records import Change, Side, Span
from reviewgauge.models.answers.readers import Unreadable, json_object
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.diff.positions import find_marker, parse_marker

MOST_LINES = 10  # the paper asks for ten
_YES_NO = {"yes": True, "true": True, "merged": True, "no": False, "false": False, "not merged": False}


def read_verdict(answer: object) -> tuple[bool, str]:
    """(whether it can be merged, the reason given)."""
    found = _object(answer)
    said = found.get("is_merged")
    if isinstance(said, str):
        said = _YES_NO.get(said.strip().lower())
    if not isinstance(said, bool):
        raise Unreadable("is_merged is neither yes nor no")
    return said, str(found.get("reason") or "")


def read_lines(answer: object, change: Change, *, repair: bool) -> tuple[tuple[Span, ...], list[str]]:
    """(the named lines in the order of the answer, the markers that the hunk does not have).

    Such a marker keeps its rank as a place without a line, which no metric can take for a right one. Unreadable where
    no item of the list is a marker.
    """
    listed = _object(answer).get("lines")
    if not isinstance(listed, list):
        raise Unreadable("lines is not a list")
    path = change.focus.path if change.focus else change.files[0].path if change.files else ""
    file = next((file for file in change.files if file.path == path), None)
    hunks = parse_patch(file.patch) if file and file.patch else ()
    spans: list[Span] = []
    unknown: list[str] = []
    for item in listed[:MOST_LINES]:
        marker = parse_marker(item) if isinstance(item, str) else None
        row = find_marker(change, path, marker, repair=repair) if marker else None
        if row is None:
            unknown.append(str(item)[:40])
            spans.append(Span(path=path))
            continue
        line = hunks[row.hunk].lines[row.line]
        number, side = (line.old, Side.OLD) if line.new is None else (line.new, Side.NEW)
        spans.append(Span(path=path, start=number, side=side))
    if listed and not any(isinstance(item, str) and parse_marker(item) for item in listed):
        raise Unreadable("none of its lines is a marker [old][new]")
    return tuple(spans), unknown


def read_comment(answer: object) -> str:
    """The comment."""
    said = _object(answer).get("comment")
    if not isinstance(said, str) or not said.strip():
        raise Unreadable("holds no comment")
    return said.strip()


def _object(answer: object) -> Mapping[str, object]:
    found = json_object(answer) if isinstance(answer, str) else answer
    if not isinstance(found, dict):
        raise Unreadable("is not JSON object")
    return found
