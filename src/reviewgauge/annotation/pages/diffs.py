"""A changed file as rows of marked-up lines: syntax colours, visible whitespace, comments at their lines."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

from reviewgauge.annotation.items import ShownText
from reviewgauge.core.records import ChangedFile, Side
from reviewgauge.repo.diff.diffs import DiffLine, Hunk, parse_patch

LONGEST = 1000  # characters of a line before it is cut
MOST_LINES = 5000  # lines of a change that a page shows
_MOST_COLOURED = 200_000  # characters of one side of a hunk
NOTHING = Markup("")
_BLANKS = " \t\f\v\r"


@dataclass
class Row:
    """One row of a file: a line on one side or on both, or the head of a hunk. `notes` are shown below it."""

    kind: str  # head, gap, " ", "+", "-", or "±" (split: a line and what replaced it)
    old: int | None = None
    new: int | None = None
    left: Markup = NOTHING
    right: Markup = NOTHING
    notes: list[ShownText] = field(default_factory=list)


@dataclass
class FileRows:
    """A changed file as it is shown."""

    path: str
    old_path: str | None
    rows: list[Row]
    notes: list[ShownText]  # about the file, or about lines that the diff does not show
    note: str = ""


def show_change(files: Sequence[ChangedFile], notes: Iterable[ShownText], *, split: bool) -> list[FileRows]:
    """Every file with its rows, as far as they fit."""
    waiting, left, found = list(notes), MOST_LINES, []
    for file in files:
        mine = [one for one in waiting if one.span is not None and one.span.path in (file.path, file.old_path)]
        rows = [row for hunk in parse_patch(file.patch or "") for row in _hunk_rows(file.path, hunk, split=split)]
        hidden = max(0, len(rows) - max(left, 0))
        rows = rows[: len(rows) - hidden]
        left -= len(rows)
        unplaced = [one for one in mine if not _place(rows, one)]
        why = "binary" if file.binary else "the diff of this file is not at hand" if file.patch is None else ""
        if hidden:
            why = f"{hidden:,} more lines are not shown"
        found.append(FileRows(file.path, file.old_path, rows, unplaced, why))
    return found


def _place(rows: Sequence[Row], note: ShownText) -> bool:
    """Put a note below the last row that it is about; False where there is none."""
    span = note.span
    if span is None or span.start is None or span.end is None:
        return False
    numbers = [row.old if span.side is Side.OLD else row.new for row in rows]
    covered = [at for at, number in enumerate(numbers) if number is not None and span.start <= number <= span.end]
    if covered:
        rows[covered[-1]].notes.append(note)
    return bool(covered)


def _hunk_rows(path: str, hunk: Hunk, *, split: bool) -> Iterator[Row]:
    head = f"{hunk.header} {hunk.heading}".strip()
    yield Row("head", left=escape(head))
    old = iter(_coloured(path, tuple(line.text for line in hunk.lines if line.kind != "+")))
    new = iter(_coloured(path, tuple(line.text for line in hunk.lines if line.kind != "-")))
    marked = [
        (line, next(old) if line.kind != "+" else NOTHING, next(new) if line.kind != "-" else NOTHING)
        for line in hunk.lines
    ]
    if not split:
        for line, before, after in marked:
            yield Row(line.kind, line.old, line.new, left=before if line.kind == "-" else after)
        return
    gone: list[tuple[DiffLine, Markup]] = []
    come: list[tuple[DiffLine, Markup]] = []
    for line, before, after in marked:
        if line.kind == "-":
            if come:
                yield from _paired(gone, come)
                gone, come = [], []
            gone.append((line, before))
        elif line.kind == "+":
            come.append((line, after))
        else:
            yield from _paired(gone, come)
            gone, come = [], []
            yield Row(" ", line.old, line.new, before, after)
    yield from _paired(gone, come)


def _paired(gone: Sequence[tuple[DiffLine, Markup]], come: Sequence[tuple[DiffLine, Markup]]) -> Iterator[Row]:
    """Deleted lines beside those that were added in their place."""
    for at in range(max(len(gone), len(come))):
        row = Row("±" if at < min(len(gone), len(come)) else "-" if at < len(gone) else "+")
        if at < len(gone):
            row.old, row.left = gone[at][0].old, gone[at][1]
        if at < len(come):
            row.new, row.right = come[at][0].new, come[at][1]
        yield row


# --- colours -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def _coloured(path: str, lines: tuple[str, ...]) -> tuple[Markup, ...]:
    """The lines with their tokens in spans. A line is never lost or changed, whatever the lexer makes of it."""
    cut = [line if len(line) <= LONGEST else line[:LONGEST] + "…" for line in lines]
    text = "\n".join(cut)
    plain = [[("", line)] for line in cut]
    if len(text) <= _MOST_COLOURED:
        tokens = _tokens(path, text)
        if ["".join(part for _, part in line) for line in tokens] == cut:
            return tuple(_markup(line) for line in tokens)
    return tuple(_markup(line) for line in plain)


def _tokens(path: str, text: str) -> list[list[tuple[str, str]]]:
    """(class, text) of each token, line by line."""
    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False, ensurenl=False)
    found: list[list[tuple[str, str]]] = [[]]
    for _, kind, value in lexer.get_tokens_unprocessed(text):
        name = _class_of(kind)
        for at, piece in enumerate(value.split("\n")):
            if at:
                found.append([])
            if piece:
                found[-1].append((name, piece))
    return found


def _class_of(kind: Any) -> str:
    """The style class of a kind of token, or of the nearest kind above it that has one."""
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    return str(STANDARD_TYPES.get(kind, ""))


def _markup(tokens: Sequence[tuple[str, str]]) -> Markup:
    """One line. Tabs, blanks at the end, carriage returns and characters that hide or reorder text are marked."""
    whole = "".join(text for _, text in tokens)
    body, at = len(whole.rstrip(_BLANKS)), 0
    parts: list[str] = []
    for name, text in tokens:
        inner = "".join(_character(one, at + offset >= body) for offset, one in enumerate(text))
        parts.append(f'<span class="{name}">{inner}</span>' if name else inner)
        at += len(text)
    return Markup("".join(parts))  # every character went through `_character`


def _character(one: str, trailing: bool) -> str:
    if one == "\t":
        return '<span class="tab">\t</span>'
    if one == "\r":
        return '<span class="odd">CR</span>'
    if trailing and one in _BLANKS:
        return f'<span class="trail">{one}</span>'
    if one != " " and unicodedata.category(one) in ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"):
        return f'<span class="odd">U+{ord(one):04X}</span>'
    return str(escape(one))
