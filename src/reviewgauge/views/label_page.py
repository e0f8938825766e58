"""The page beside the sheet of labels to check: the change, the labelled lines and the fix, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reviewgauge.core.records import ChangedFile, Comment, Side
from reviewgauge.engine.build.labels_to_check import LabelToCheck
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.syntax.product import not_product
from reviewgauge.views.report.answers import place_of
from reviewgauge.views.report.diff_views import LONGEST
from reviewgauge.views.report.report import render_page

_MOST = 600  # lines of one side of a row
_ABOVE = 40  # lines of a long hunk that are shown above the first labelled one


class ShownLine(NamedTuple):
    """A line of a diff, or (kind `head` or `gap`) the words between them."""

    kind: str
    old: int | None
    new: int | None
    text: str
    labelled: bool = False


class ShownFile(NamedTuple):
    """A file of a diff."""

    path: str
    lines: list[ShownLine]
    labelled: bool


def label_page(rows: Sequence[LabelToCheck], sheet: str) -> str:
    """The page for the rows of `sheet`, in their order."""
    shown = [
        {
            "row": row,
            "places": [place_of(one.span) for one in row.finding if one.span is not None],
            "change": _files(row.case.change.files, row.finding, Side.NEW),
            "replaced": _replaced(row),
            "mended": _mended(row),
            "days": next((one.extra["days"] for one in row.finding if "days" in one.extra), None),
            "fix": _files(row.fix_files, (), Side.OLD),
        }
        for row in rows
    ]
    return render_page("label_page.html.j2", ["report.css", "label_page.css"], {}, rows=shown, sheet=sheet)


def _replaced(row: LabelToCheck) -> str:
    """The code that the change took out where it wrote the labelled lines."""
    spans = [one.span for one in row.finding if one.span is not None]
    blocks = [
        block
        for file in row.case.change.files
        for hunk in parse_patch(file.patch or "")
        for block in hunk.blocks()
        if any(
            line.new is not None and span.path == file.path and (span.start or 0) <= line.new <= (span.end or 0)
            for span in spans
            for line in block
        )
    ]
    return "\n".join(_cut(line.text) for block in blocks for line in block if line.kind == "-")


def _mended(row: LabelToCheck) -> str:
    """What the fix did to the labelled lines, with its files and lines."""
    diffs = [one.resolution.diff for one in row.finding if one.span and one.resolution and one.resolution.diff]
    return "\n\n".join("\n".join(map(_cut, diff.split("\n"))) for diff in dict.fromkeys(diffs))


def _files(files: Sequence[ChangedFile], finding: Sequence[Comment], side: Side) -> list[ShownFile]:
    """The files, those with labelled lines first and then the product's, as far as they fit."""
    views: list[ShownFile] = []
    for file in files:
        wanted = {
            line
            for one in finding
            if one.span is not None and one.span.path == file.path and one.span.side == side
            for line in range(one.span.start or 0, (one.span.end or 0) + 1)
        }
        lines = list(_lines(file, wanted)) or [ShownLine("head", None, None, "binary, or not shown in the diff")]
        views.append(ShownFile(file.path, lines, any(line.labelled for line in lines)))
    views.sort(key=lambda view: (not view.labelled, bool(not_product(view.path))))
    return list(_fitting(views))


def _lines(file: ChangedFile, wanted: set[int]) -> Iterator[ShownLine]:
    for hunk in parse_patch(file.patch or ""):
        lines = [
            ShownLine(one.kind, one.old, one.new, _cut(one.text), one.new in wanted and one.kind != "-")
            for one in hunk.lines
        ]
        yield ShownLine("head", None, None, f"@@ -{hunk.old_start} +{hunk.new_start} @@ {hunk.heading}".rstrip())
        first = next((at for at, line in enumerate(lines) if line.labelled), 0)
        if first > _ABOVE:
            yield ShownLine("gap", None, None, f"{first - _ABOVE} lines")
            lines = lines[first - _ABOVE :]
        yield from lines


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _fitting(views: Sequence[ShownFile]) -> Iterator[ShownFile]:
    left = _MOST
    for view in views:
        if left <= 0:
            yield view._replace(lines=[ShownLine("gap", None, None, f"{len(view.lines)} lines")])
            continue
        kept, rest = view.lines[:left], len(view.lines) - left
        left -= len(kept)
        yield view._replace(lines=[*kept, *([ShownLine("gap", None, None, f"{rest} lines")] if rest > 0 else [])])
