"""5,164 generated review comments on Java methods, each graded from 1 to 5 against its reference by three people.

Source: "Deep Assessment of Code Review Generation Approaches: Beyond Lexical Similarity", arXiv:2501.05176
(https://github.com/openPaperLink/Assessment-of-Code-Review-Generation), section 4. No licence is stated.
"""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from typing_extensions import override

from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import BadInput, MissingExtra, UserError
from reviewgauge.core.json_reader import Node, build
from reviewgauge.core.labels import Label, Scale, Subject, SubjectKind
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, FileStatus, Review, Span, Task
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import FilePath
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.local_files import locate

FILE = "dataset.xlsx"
METHOD = "Method.java"  # the data names neither project nor file
RATER, DIMENSION = "authors", "grade"
SCALE = Scale(
    low=1,
    high=5,
    meaning="1 unrelated to the reference, 2 only loosely related, 3 addresses some of what it says, "
    "4 equivalent in other words, 5 identical to it",
    # Grade 5 is given for identity, so any lexical metric is right about it by definition.
    row_sets={"grade < 5": (1, 4)},
)
_HEAD = ("ID", "groundTruth", "relatedCode")
_PREFIX = "code2comment :"  # the task prefix of the T5 model that the test set was written for
_CELL_ERRORS = {"#VALUE!", "#REF!", "#NAME?", "#N/A", "#DIV/0!", "#NUM!", "#NULL!"}
# What openpyxl lets through from a file that is damaged or no workbook; a ParseError is a SyntaxError.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, SyntaxError),
    *(LookupError, ValueError, TypeError, AttributeError),
)
_LARGEST = 64 * 1024 * 1024  # bytes that the workbook may have when unpacked; the published one has 2 million
_DESCRIPTION = (
    "One Java method as it was submitted for review, on one line as the data gives it. "
    "What the change did to it is not part of the data."
)


class _Row(NamedTuple):
    """One row of the sheet: `texts` and `grades` by system."""

    at: Node
    id: str
    reference: str
    code: str
    texts: Mapping[str, str]
    grades: Mapping[str, int]
    odd: Mapping[str, str]  # by system: what is odd about its cell


@dataclass(frozen=True)
class GradedReviews(Dataset):
    """GradedReviews: one case per row of the official sheet. `path` is its folder, or the file."""

    path: FilePath = ""

    @property
    @override
    def card(self) -> Card:
        return read_card("graded_reviews")

    def cases(self) -> Sequence[Case]:
        """One case per row, in the order of the sheet: write the comment for one Java method."""
        return [_case(row) for row in self._rows()]

    def recorded(self, **parameters: object) -> tuple[Sequence[Review], Sequence[Label]]:
        """The comments of four tools, one per review, and the authors' grade for each.

        The grades are a consensus of three people after discussion; the data has no independent votes.
        """
        if parameters:
            raise UserError(f"graded_reviews' recorded reviews have no parameter {next(iter(parameters))!r}")
        rows = self._rows()
        reviews = [_review(row, system) for row in rows for system in row.texts]
        return reviews, [_label(row, system) for row in rows for system in row.texts]

    def scales(self) -> Mapping[str, Scale]:
        """Grades 1 to 5 with the paper's criteria."""
        return {DIMENSION: SCALE}

    def counts(self) -> Mapping[str, int]:
        """Cases, reviews, reviews by grade, and each tool's reviews of grade 1 and 5."""
        rows = self._rows()
        by_grade = Counter(grade for row in rows for grade in row.grades.values())
        by_tool = Counter((system, grade) for row in rows for system, grade in row.grades.items())
        tools = sorted({system for row in rows for system in row.grades})
        found = {
            "changes": len(rows),
            "references": len(rows),
            "tools": len(tools),
            "reviews": by_grade.total(),
            **{f"grade {grade}": by_grade[grade] for grade in range(1, 6)},
            **{f"grade {grade}, {tool}": by_tool[tool, grade] for grade in (1, 5) for tool in tools},
        }
        return {name: count for name, count in found.items() if count}

    def notes(self) -> Sequence[Drop]:
        """Odd cells and repeated rows; both are kept."""
        rows = self._rows()
        found = [(f"case {row.id}, {system}", why) for row in rows for system, why in row.odd.items()]
        same: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for row in rows:
            same[row.reference, row.code].append(row.id)
        reason = "have the same method and reference: keep them in one fold"
        found += [(f"cases {' and '.join(ids)}", reason) for ids in same.values() if len(ids) > 1]
        return [Drop(item=item, by="graded_reviews", reason=why) for item, why in found]

    def _rows(self) -> list[_Row]:
        given = locate("graded_reviews", self.path)
        file = given / FILE if given.is_dir() else given
        rows: dict[str, _Row] = {}
        for row in _read(file):
            if row.id in rows:
                raise row.at.error(f"the ID {row.id} occurs twice: also in {rows[row.id].at.record}")
            rows[row.id] = row
        if not rows:
            raise BadInput(file.name, "holds no rows")
        return list(rows.values())


def _read(file: Path) -> Iterator[_Row]:
    """The rows of the first sheet. Raises UserError, BadInput."""
    cells = _cells(file)
    _, head = next(cells, (1, ()))
    systems = _systems(head, file.name)
    for number, values in cells:
        if any(value is not None for value in values):
            yield _row(values, systems, Node(None, file.name, f"row {number}"))


def _cells(file: Path) -> Iterator[tuple[int, tuple[object, ...]]]:
    """(number, values) of each row of the first sheet, as Excel last computed them."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("openpyxl", "xlsx") from None
    if file.exists() and not file.is_file():
        raise UserError(f"{file} is not a plain file")
    try:
        with file.open("rb") as stream:
            size = sum(part.file_size for part in zipfile.ZipFile(stream).infolist())
            if size > _LARGEST:
                raise BadInput(file.name, f"unpacks to {size:,} bytes, over {_LARGEST:,}")
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            yield from enumerate(book.worksheets[0].iter_rows(values_only=True), start=1)
    except FileNotFoundError:
        raise UserError(f"{file} does not exist", remedy="reviewgauge get graded_reviews") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror or error}") from None
    except _DAMAGE as error:
        raise BadInput(file.name, f"is not a readable xlsx workbook ({type(error).__name__})") from None


def _systems(head: Sequence[object], source: str) -> list[str]:
    """The systems: after the first three columns, pairs of a system's name and the word Grade."""
    names = [str(cell).strip() for cell in head if cell is not None]
    pairs = names[3:]
    systems = pairs[::2]
    if tuple(names[:3]) != _HEAD or not pairs or len(pairs) % 2 or set(pairs[1::2]) != {"Grade"}:
        raise BadInput(
            source,
            f"has the columns {', '.join(names) or '(none)'}",
            record="row 1",
            remedy=f"expected: {', '.join(_HEAD)}, then for each system its name and Grade",
        )
    if len(set(systems)) != len(systems):
        raise BadInput(source, "names a system twice", record="row 1")
    return systems


def _row(values: Sequence[object], systems: Sequence[str], at: Node) -> _Row:
    width = len(_HEAD) + 2 * len(systems)
    cells = (*values, *(None,) * width)[:width]
    number = cells[0]
    if isinstance(number, bool) or not isinstance(number, int):
        raise at.error(f"{number!r:.40} is not a whole number", "ID")
    reference, code = (_text(cells[place], at, _HEAD[place])[0] for place in (1, 2))
    if not reference.strip() or not code.strip():
        raise at.error("has no reference or no code")
    texts: dict[str, str] = {}
    grades: dict[str, int] = {}
    odd: dict[str, str] = {}
    for place, system in enumerate(systems):
        texts[system], why = _text(cells[3 + 2 * place], at, system)
        if why:
            odd[system] = why
        grades[system] = _grade(cells[4 + 2 * place], at, f"Grade of {system}")
    return _Row(at, str(number), reference, code.removeprefix(_PREFIX), texts, grades, odd)


def _text(value: object, at: Node, column: str) -> tuple[str, str]:
    """The text of a cell, and what is odd about it. A number is read as its text."""
    if value is None:
        return "", "the cell is empty: a review without comments"
    if isinstance(value, str):
        text = Node(value, at.source, at.record, column).as_text()
        if text in _CELL_ERRORS:
            return text, f"the cell is the spreadsheet error {text}, kept as the text of the review"
        return text, "" if text.strip() else "the cell is blank: a review without comments"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value), f"the cell is the number {value}, kept as the text of the review"
    raise at.error(f"should be text or a number, not {value!r:.40}", column)


def _grade(value: object, at: Node, column: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(1, 6):
        raise at.error(f"{value!r:.40} is not a grade from 1 to 5", column)
    return int(value)


def _case(row: _Row) -> Case:
    lines = row.code.split("\n")
    patch = "\n".join([f"@@ -0,0 +1,{len(lines)} @@" if len(lines) > 1 else "@@ -0,0 +1 @@", *(f"+{x}" for x in lines)])
    change = build(
        Change,
        row.at,
        repo="graded_reviews",
        description=_DESCRIPTION,
        files=(ChangedFile(path=METHOD, status=FileStatus.ADDED, patch=patch),),
        task=Task.COMMENT,
        focus=Span(path=METHOD, start=1, end=len(lines)),
    )
    reference = build(Comment, row.at, id="reference", body=row.reference)
    return build(Case, row.at, id=row.id, change=change, references=(reference,), facts={"language": "java"})


def _review(row: _Row, system: str) -> Review:
    text = row.texts[system]
    comments = (Comment(id="comment", body=text),) if text.strip() else ()
    return build(Review, row.at, case=row.id, system=system, comments=comments)


def _label(row: _Row, system: str) -> Label:
    subject = Subject(kind=SubjectKind.REVIEW, case=row.id, system=system)
    return Label(subject=subject, rater=RATER, dimension=DIMENSION, value=row.grades[system], consensus=True)
