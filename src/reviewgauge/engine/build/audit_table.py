"""The table of an audit as people and spreadsheets write it: read strictly, and written so that nothing in it runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.spreadsheet import escape_cell
from reviewgauge.engine.run.journal import write_error, write_whole

COLUMNS = ("id", "shown", "decided", "reason", "correct", "note")
_YES = {"y", "yes", "true", "1", "right", "correct"}
_NO = {"n", "no", "false", "0", "wrong", "incorrect"}
_DELIMITERS = (",", ";", "\t")
LONGEST = 30_000  # characters of a cell; spreadsheets take no more than 32,767
LARGEST = 256 * 1024 * 1024  # bytes of a table


class AuditRow(NamedTuple):
    """One decision. `written`: what people wrote into the columns that are theirs, as they wrote it."""

    id: str
    shown: str = ""
    decided: str = ""
    reason: str = ""
    correct: bool | None = None
    written: Mapping[str, str] = {}

    @property
    def filled(self) -> bool:
        """Whether a person wrote anything into it."""
        return any(cell.strip() for cell in self.written.values())


class Table(NamedTuple):
    """The rows by their ids, in the table's order, and the names of columns that people added."""

    rows: Mapping[str, AuditRow]
    more: Sequence[str] = ()


def read_table(path: Path) -> Table:
    """The table in a file; an empty one where there is no file. Raises BadInput that names line and column."""
    if not path.exists():
        return Table({})
    head, lines = _cells(path)
    more = [name for name in head if name and name not in COLUMNS]
    rows: dict[str, AuditRow] = {}
    for number, cells in lines:
        found = dict(zip(head, [*cells, *[""] * (len(head) - len(cells))], strict=False))
        if not any(cell.strip() for cell in cells):
            continue
        name = found["id"].strip()
        if not name:
            raise BadInput(path.name, "is empty", record=number, field="id", remedy="leave this column as it was")
        written = {column: found.get(column, "") for column in ("correct", "note", *more)}
        shown, decided, reason = (found.get(column, "") for column in ("shown", "decided", "reason"))
        row = AuditRow(name, shown, decided, reason, _mark(written["correct"], path, number), written)
        if name in rows and rows[name].written != written:
            raise BadInput(path.name, f"{name} occurs twice, with different marks", record=number, field="id")
        rows[name] = row
    return Table(rows, more)


def _cells(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The names of the columns, and (line, cells) of each row below."""
    try:
        if path.stat().st_size > LARGEST:
            raise BadInput(path.name, f"is larger than {LARGEST:,} bytes")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(path.name, f"is not UTF-8 (byte {error.start + 1})", remedy="save it as CSV UTF-8") from None
    first = text.partition("\n")[0]
    for delimiter in _DELIMITERS:
        head = [name.strip().strip('"').lower() for name in first.split(delimiter)]
        if {"id", "correct"} <= set(head):
            return head, _rows(path, text, delimiter)
    remedy = "leave its first line as it was"
    raise BadInput(path.name, "has no columns id and correct", record=1, remedy=remedy)


def _rows(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        next(reader)
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise BadInput(path.name, f"cannot be read: {error}", record=reader.line_num) from None


def _mark(cell: str, path: Path, number: int) -> bool | None:
    """True or False for what a person marked, None for a blank."""
    word = cell.strip().lower()
    if not word:
        return None
    if word not in _YES | _NO:
        remedy = "y for right, n for wrong, nothing where you cannot tell"
        raise BadInput(
            path.name, f"{cell.strip()[:40]!r} is neither y nor n", record=number, field="correct", remedy=remedy
        )
    return word in _YES


def write_table(path: Path, rows: Sequence[AuditRow], more: Sequence[str] = ()) -> None:
    """Write the table whole, for spreadsheets too. Raises UserError where the machine would not take it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*COLUMNS, *more))
    for row in rows:
        own = [row.written.get(column, "") for column in ("correct", "note", *more)]
        writer.writerow([row.id, *map(_cell, (row.shown, row.decided, row.reason)), *own])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(path, error) from None
    write_whole(path, out.getvalue().encode("utf-8-sig", "replace"))


def _cell(text: str) -> str:
    """A text that a spreadsheet shows and does not run, and a terminal prints and does not obey."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n(cut: {len(text) - LONGEST:,} more characters)"
    return escape_cell(text)
