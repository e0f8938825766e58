"""The table of an audit: one decision a row, its marks, and the copies that several raters mark.

People and spreadsheets write it: it is read strictly, and written so that nothing in it runs.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.base import escape_cell
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_within, write_whole

AUDIT = "audit"
FIRST = "first"  # the rater of the table itself
CONSENSUS = "consensus"  # the name of the copy that holds what raters agreed on together, which decides
_SETTING = re.compile(r"[0-9a-f]{6}(-.*)?")  # how the table of another setting of the stage goes on
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
        if any(cell.strip() for cell in cells[len(head) :]):
            raise BadInput(path.name, "has more cells than the heading has columns", record=number)
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
        text = read_within(path).decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(path.name, f"is not UTF-8 (byte {error.start + 1})", remedy="save it as CSV UTF-8") from None
    for delimiter in _DELIMITERS:
        lines = _table_rows(path, text, delimiter)
        head = [name.strip().lower() for name in next(lines, (0, []))[1]]
        if {"id", "correct"} <= set(head):
            if twice := next((name for name in head if name and head.count(name) > 1), ""):
                raise BadInput(path.name, f"has two columns {twice}", record=1, remedy="remove one")
            return head, lines
    remedy = "leave its first line as it was"
    raise BadInput(path.name, "has no columns id and correct", record=1, remedy=remedy)


def _table_rows(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
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
    write_whole(path, out.getvalue().encode("utf-8-sig", "replace"))


def _cell(text: str) -> str:
    """A text that a spreadsheet shows and does not run, and a terminal prints and does not obey."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n(cut: {len(text) - LONGEST:,} more characters)"
    return escape_cell(text)


@dataclass(frozen=True)
class Marks:
    """What people wrote into a table and its copies `TABLE-NAME.csv`: for each row the marks by rater.

    The rater of the table itself is called `first`. `agreed` is what raters said of a row together, in the copy
    `consensus`. Who marked nothing is no rater.
    """

    by_row: Mapping[str, Mapping[str, bool]]
    agreed: Mapping[str, bool]

    @property
    def raters(self) -> list[str]:
        """The names of those who marked anything."""
        return sorted({rater for marks in self.by_row.values() for rater in marks})

    def verdict(self, row: str) -> bool | None:
        """What raters agreed on, else what most say of a row; None without a mark, and where they are split."""
        if row in self.agreed:
            return self.agreed[row]
        marks = list(self.by_row.get(row, {}).values())
        right = sum(marks)
        return None if 2 * right == len(marks) else 2 * right > len(marks)


def read_marks(path: Path) -> Marks:
    """The marks in a table and its copies. Raises BadInput for one that cannot be read, or is nobody's own."""
    sheets = {FIRST: path}
    for copy in sorted(path.parent.glob(f"{path.stem}-*.csv")):
        rater = copy.stem.removeprefix(f"{path.stem}-").strip().casefold()
        if not rater or rater in sheets:
            raise BadInput(copy.name, "is not the sheet of one rater more", remedy=f"name it {path.stem}-NAME.csv")
        if not _SETTING.fullmatch(rater):
            sheets[rater] = copy
    by_row: dict[str, dict[str, bool]] = {}
    for rater, sheet in sheets.items():
        for name, row in read_table(sheet).rows.items():
            if row.correct is not None:
                by_row.setdefault(name, {})[rater] = row.correct
    return Marks(by_row, {name: marks.pop(CONSENSUS) for name, marks in by_row.items() if CONSENSUS in marks})


def tables_of(folder: Path) -> list[Path]:
    """The tables of a build's audit, without the copies that raters marked."""
    found = sorted((folder / AUDIT).glob("*.csv"))
    return [path for path in found if not any(_is_copy(path, table) for table in found)]


def _is_copy(path: Path, table: Path) -> bool:
    rest = path.stem.removeprefix(f"{table.stem}-")
    return rest != path.stem and not _SETTING.fullmatch(rest)


def name_of_copy(rater: str) -> str:
    """What a rater's copies are called after `TABLE-`, so that they are read as theirs."""
    name = re.sub(r"[^\w .-]", "_", rater.strip().casefold()).strip(". ") or "rater"
    return f"{name}_" if _SETTING.fullmatch(name) or name in (FIRST, CONSENSUS) else name
