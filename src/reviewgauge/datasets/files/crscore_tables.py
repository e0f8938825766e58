"""Reads the tables of the CRScore study: two copies of each, one per rater.

Rows are counted from 0 without the header, as in the published scripts: up to some row Marcus's copy counts, after it
Atharva's. Only the first row of a change has its index.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_file
from reviewgauge.core.json_reader import Node
from reviewgauge.datasets.files.local_files import LARGEST_FILE

MARCUS, ATHARVA = "marcus", "atharva"
RATERS = (MARCUS, ATHARVA)
_CORRECTNESS = "Correctness"  # the column name continues with the meaning of its codes
_WHOLE = re.compile(r"-?\d{1,9}(\.0+)?")


class Language(NamedTuple):
    """A language of the study: its file prefix, its name, and by phase the first row where Atharva's copy counts."""

    code: str
    name: str
    phase1: int
    phase2: int


# The limits of compute_combined_claim_acc.py and compare_our_metric_with_human_annot.py in the official repository.
LANGUAGES = (
    Language("py", "python", 246, 500),
    Language("java", "java", 248, 500),
    Language("js", "javascript", 245, 504),
)


class CrscoreRow(NamedTuple):
    """One row of a table: its number, the index of its change, its cells by column, and its place for errors."""

    number: int
    case: str
    cells: Mapping[str, str]
    at: Node

    def text(self, column: str) -> str:
        """The text of a cell, empty where it is blank."""
        text = self.cells[column]
        return Node(text, self.at.source, self.at.record, column).as_text() if text.strip() else ""

    def word(self, column: str) -> str:
        """The stripped text of a cell."""
        return self.text(column).strip()

    def whole(self, column: str, low: int, high: int) -> int | None:
        """The whole number of a cell, None where it is blank. Raises BadInput outside `low` to `high`."""
        word = self.word(column)
        if not word:
            return None
        if not _WHOLE.fullmatch(word) or not low <= (found := int(float(word))) <= high:
            raise self.error(column, f"{word!r:.40} is not a whole number from {low} to {high}")
        return found

    def error(self, column: str, problem: str) -> BadInput:
        """The error that names a cell."""
        return self.at.error(problem, column)


class Pair(NamedTuple):
    """One row in both copies, and the rater whose copy counts."""

    marcus: CrscoreRow
    atharva: CrscoreRow
    rater: str

    @property
    def row(self) -> CrscoreRow:
        """The copy that counts."""
        return self.marcus if self.rater == MARCUS else self.atharva

    def copies(self) -> tuple[tuple[str, CrscoreRow], ...]:
        """(rater, row) of both copies."""
        return (MARCUS, self.marcus), (ATHARVA, self.atharva)


def phase1_files(language: Language) -> tuple[str, ...]:
    """The file names of the two copies of phase 1."""
    return tuple(f"phase1/{language.code}_claim_acc_annot_{rater}.csv" for rater in RATERS)


def phase2_files(language: Language) -> tuple[str, ...]:
    """The file names of the two copies of phase 2."""
    return tuple(f"phase2/{language.code}_{rater}_review_qual_final.csv" for rater in RATERS)


def read_phase1(folder: Path, language: Language) -> list[Pair]:
    """The claims of a language with each rater's codes, in the column `Correctness`."""
    columns = ("index", "diff", "claim", _CORRECTNESS, "additional claims")
    return _paired(folder, phase1_files(language), columns, language.phase1)


def read_phase2(folder: Path, language: Language) -> list[Pair]:
    """The claims and reviews of a language with each rater's scores."""
    return _paired(folder, phase2_files(language), _REVIEW_COLUMNS, language.phase2)


def read_agreement(folder: Path, names: Sequence[str]) -> list[Pair]:
    """The rows of the reliability test, which both raters scored: both copies count."""
    return _paired(folder, names, (*_REVIEW_COLUMNS, "partial"), 0)


_REVIEW_COLUMNS = (
    *("index", "diff", "claim", "necessary?", "type", "review", "system", "claims addressed"),
    *("Con (P)", "Comp (R)", "Rel (F)"),
)


def _paired(folder: Path, names: Sequence[str], columns: Sequence[str], first_of_atharva: int) -> list[Pair]:
    """The rows of Marcus's and of Atharva's copy side by side."""
    marcus, atharva = (_read(folder, name, columns) for name in names)
    if len(marcus) != len(atharva):
        raise atharva[-1].at.error(f"the table has {len(atharva)} rows and {marcus[0].at.source} has {len(marcus)}")
    pairs = []
    for one, two in zip(marcus, atharva, strict=True):
        if one.case != two.case:
            raise two.error("index", f"is {two.case}, but {one.case} in {one.at.source}")
        pairs.append(Pair(one, two, MARCUS if one.number < first_of_atharva else ATHARVA))
    return pairs


def _read(folder: Path, name: str, columns: Sequence[str]) -> list[CrscoreRow]:
    """The rows of one table. Raises UserError where it is absent, BadInput where it is not valid."""
    file = folder / name
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise BadInput(name, f"is over {LARGEST_FILE:,} bytes")
        if not file.is_file():
            raise UserError(f"{file} is not a plain file")
        text = read_file(file).decode("utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"{file} does not exist", remedy="reviewgauge get crscore_study") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(name, f"is not UTF-8 (byte {error.start + 1})") from None
    cells = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[CrscoreRow] = []
    try:
        head = [_CORRECTNESS if cell.startswith(_CORRECTNESS) else cell for cell in next(cells, [])]
        if lacking := [column for column in columns if column not in head]:
            raise BadInput(name, f"has no column {lacking[0]!r}", record="header")
        case = ""
        for number, values in enumerate(cells):
            at = Node(None, name, f"row {number}")
            if len(values) != len(head):
                raise at.error(f"has {len(values)} cells for {len(head)} columns")
            row = CrscoreRow(number, case, dict(zip(head, values, strict=True)), at)
            if (index := row.whole("index", 0, 10**8)) is not None:
                case = str(index)
            if not case:
                raise row.error("index", "is empty in the first row")
            rows.append(row._replace(case=case))
    except csv.Error as error:
        raise BadInput(name, f"is not a readable CSV: {error}", record=f"row {len(rows)}") from None
    if not rows:
        raise BadInput(name, "holds no rows")
    return rows
