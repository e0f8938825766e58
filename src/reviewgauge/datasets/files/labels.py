"""Reads labels from a file: one per row of a CSV table, or one per line of JSON (docs/guides/people.md).

A file is refused where guessing could make a figure wrong: values that are not numbers, two judgements of one subject
by one rater, names or words that differ only in case, numbers and words mixed in one dimension.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import io
import math
import re
import sys
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from pydantic import ValidationError

from reviewgauge.core.base import unescape_cell
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import plain_file, read_file
from reviewgauge.core.labels import Label, Scale, SubjectKind
from reviewgauge.core.parsing import first_problem, lines, parse_json, parse_record
from reviewgauge.core.records import Review
from reviewgauge.core.results import Drop
from reviewgauge.core.stored import ReplayableStream

REQUIRED = ("rater", "dimension", "value")
ONE_A_ROW = "one judgement a row, with the columns id, rater, dimension and value"
COLUMNS = (
    *("id", "case", "system", "attempt", "comment", "reference", "claim", *REQUIRED),
    *("kind", "batch", "round", "confidence", "reason", "seconds", "consensus", "at", "guidelines", "written_by"),
)
_MOST_COLUMNS = 1000
_DELIMITERS = (",", ";", "\t", "|")
_WHOLE = re.compile(r"[+-]?\d{1,15}")
_NUMBER = re.compile(r"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d+)?")
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
_SHARE = re.compile(r"[+-]?(\d++[.,]?\d*+|[.,]\d++)\s*%|\d+\s*/\s*\d+")  # 80% and 4/5: as words without order
# What programs write for a missing value. Words that may be ratings, such as "none", are not among them.
_NO_VALUE = {"nan", "na", "n/a", "#n/a", "null", "#value!", "#ref!", "#div/0!", "inf", "infinity"}
_SHOWN_AS = {"case": "id", "rater_kind": "kind"}

Found = Iterator[tuple[int, Label | tuple[str, str]]]
"""(line, label), or (line, (rater, dimension)) where the value is empty."""


def from_json(raw: bytes, source: str) -> Found:
    """The labels of JSON lines: Label records, or objects with the columns of the table as fields."""
    for number, line in lines(io.BytesIO(raw), source):
        try:
            found = parse_json(line, source)
        except BadInput:  # which `parse_record` says better
            found = None
        if not isinstance(found, dict) or "subject" in found:
            yield number, parse_record(Label, line, source, number)
            continue
        cells = {name: value for name, value in found.items() if value is not None and value != ""}
        if unknown := sorted(cells.keys() - set(COLUMNS)):
            raise BadInput(source, "is not a field of a label", record=number, field=unknown[0])
        yield number, _label(cells, source, number, _json_value)


def from_csv(raw: bytes, source: str, notes: list[Drop]) -> Found:
    """The labels of a CSV table, with commas, semicolons, tabs or bars. Ignored columns are added to `notes`."""
    text = _decoded(raw, source)
    first, _, rest = text.partition("\n")
    delimiter = ""
    if first.lower().startswith("sep=") and len(first.strip()) == 5:  # a line that Excel writes
        delimiter, text = first.strip()[4], rest
    head_line = text.splitlines()[0] if text.strip() else ""
    delimiter = delimiter or max(_DELIMITERS, key=lambda each: len(_known(head_line.split(each))))
    value = partial(_csv_value, comma=delimiter != ",")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = _columns(next(rows, []), source, notes)
        for cells in rows:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) > len(names) and any(cell.strip() for cell in cells[len(names) :]):
                raise BadInput(source, f"has {len(cells)} cells for {len(names)} columns", record=rows.line_num)
            given = {name: cell.strip() for name, cell in zip(names, cells, strict=False) if name and cell.strip()}
            row = {name: unescape_cell(cell) for name, cell in given.items()}
            yield rows.line_num, _label(row, source, rows.line_num, value)
    except csv.Error as error:
        raise BadInput(source, f"is not a readable CSV: {error}", record=rows.line_num) from None


def _decoded(raw: bytes, source: str) -> str:
    """The text of a file in UTF-8, or in UTF-16 with a mark. Raises BadInput for any other encoding."""
    encoding = "utf-16" if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadInput(
            source, f"is neither UTF-8 nor UTF-16 (byte {error.start + 1})", remedy='save it as "CSV UTF-8"'
        ) from None
    if "\x00" in text:
        raise BadInput(source, "holds NUL characters", remedy='save it as "CSV UTF-8"')
    return text


def _known(names: Sequence[str]) -> list[str]:
    return [name for name in (raw.strip().strip('"').strip().lower() for raw in names) if name in COLUMNS]


def _columns(head: Sequence[str], source: str, notes: list[Drop]) -> list[str]:
    """The column names in lower case, empty for one that is not read."""
    names = [raw.strip().lower() for raw in head]
    if len(names) > _MOST_COLUMNS:
        raise BadInput(source, f"has {len(names):,} columns, over {_MOST_COLUMNS}", record=1)
    lacking = [name for name in REQUIRED if name not in names]
    if "id" not in names and "case" not in names:
        lacking.insert(0, "id")
    if lacking:
        raise BadInput(
            source,
            f"has no column {lacking[0]!r}; it has {', '.join(repr(name) for name in names) or 'none'}",
            record=1,
            remedy="the first row names the columns: id, rater, dimension, value",
        )
    for name in names:
        if name in COLUMNS and names.count(name) > 1:
            raise BadInput(source, f"has two columns {name!r}", record=1)
        if name and name not in COLUMNS:
            if near := difflib.get_close_matches(name, set(COLUMNS) - set(names), n=1, cutoff=0.8):
                raise BadInput(source, f"has a column {name!r}: did you mean {near[0]!r}?", record=1)
            notes.append(Drop(item=f"the column {name}", by="labels", reason="is not a column of labels: not read"))
    if "case" in names and "id" in names:
        notes.append(Drop(item="the column id", by="labels", reason="the column case names the subject: not read"))
    return [name if name in COLUMNS else "" for name in names]


# --- one label -----------------------------------------------------------------------------------------------------


def _label(
    cells: Mapping[str, object], source: str, number: int, value: Callable[[object], object]
) -> Label | tuple[str, str]:
    """The label of one row, whose empty cells are absent; (rater, dimension) where there is no value."""
    row = {_FIELDS.get(name, name): _plain_cell(name, cell) for name, cell in cells.items()}
    row["case"] = row.get("case", row.pop("id", None))
    for name in ("case", "rater", "dimension"):
        if row.get(name) is None:
            raise BadInput(source, "is empty", record=number, field=_SHOWN_AS.get(name, name))
    if "value" not in row:
        return str(row["rater"]), str(row["dimension"])
    subject = {name: row.pop(name) for name in _SUBJECT if name in row}
    subject["kind"] = _subject_kind(subject)
    row.pop("id", None)
    try:
        return Label.model_validate({"subject": subject, **row, "value": value(row["value"])})
    except ValidationError as error:
        place, problem = first_problem(error)
        place = place.removeprefix("subject.")
        raise BadInput(source, problem, record=number, field=_SHOWN_AS.get(place, place)) from None
    except ValueError as error:
        raise BadInput(source, str(error), record=number, field="value") from None


def _plain_cell(name: str, cell: object) -> object:
    """A cell as the record takes it: ids and names are text, and a number may have a decimal comma."""
    if name in _NUMBERS and isinstance(cell, str):
        return cell.replace(",", ".")
    if name in ("kind", "consensus") and isinstance(cell, str):
        return cell.lower()
    return str(cell) if name in _WORDS and isinstance(cell, int) and not isinstance(cell, bool) else cell


def _subject_kind(subject: Mapping[str, object]) -> SubjectKind:
    """What a label is about, by the columns that name it."""
    if "claim" in subject:
        return SubjectKind.LINK if "system" in subject else SubjectKind.CLAIM
    if "comment" in subject and "reference" in subject:
        return SubjectKind.PAIR
    if "comment" in subject or "reference" in subject:
        return SubjectKind.COMMENT
    return SubjectKind.REVIEW if "system" in subject else SubjectKind.CHANGE


_SUBJECT = ("case", "system", "attempt", "comment", "reference", "claim")
_FIELDS = {"kind": "rater_kind"}
_NUMBERS = ("confidence", "seconds", "at")
_WORDS = ("id", "case", "system", "comment", "reference", "claim", "rater", "dimension", "batch", "round", "reason")


def _csv_value(cell: object, comma: bool) -> str | int | float:
    """A number where the cell is one, else a word. With `comma`, 3,5 is a number: cells are not separated by commas."""
    word = str(cell)
    _refuse_no_value(word)
    if _COMMA_NUMBER.fullmatch(word):
        if not comma:
            raise ValueError(
                f"{word!r:.40} is ambiguous (decimal comma or thousands): write it with a point, or without"
            )
        word = word.replace(",", ".")
    if _SHARE.fullmatch(word):
        raise ValueError(f"{word!r:.40} is a share: write the number alone, such as 80 or 4")
    if _WHOLE.fullmatch(word):
        return int(word)
    if not _NUMBER.fullmatch(word):
        return word
    if not math.isfinite(found := float(word)):
        raise ValueError(f"is not a finite number: {word!r:.40}")
    return found


def _json_value(cell: object) -> str | int | float | bool:
    if isinstance(cell, str):
        _refuse_no_value(cell)
    if not isinstance(cell, str | int | float) or (isinstance(cell, float) and not math.isfinite(cell)):
        raise ValueError(f"is neither text nor a finite number: {cell!r:.40}")
    return cell


def _refuse_no_value(word: str) -> None:
    if word.lower().lstrip("+-") in _NO_VALUE:
        raise ValueError(f"{word!r} is not a value: leave the cell empty where there is none")


FILES = ("labels.csv", "labels.jsonl")  # what a folder's labels are called
LARGEST = 512 * 1024 * 1024  # bytes


@dataclass(frozen=True)
class LabelFile:
    """The labels of a file; `notes` count rows without a value and columns that were not read."""

    labels: Sequence[Label]
    lines: Sequence[int]  # the line of each label
    notes: tuple[Drop, ...] = ()


def read_label_file(path: Path) -> LabelFile:
    """The labels in `path`: a CSV table, a JSON lines file, or a folder with labels.csv or labels.jsonl.

    A row without a system is about the change with that id. Raises BadInput with line and column, UserError.
    """
    file = find_labels(path) if path.is_dir() else path
    if file is None:
        raise UserError(f"{path} holds no labels", remedy=f"put them into {FILES[0]}, {ONE_A_ROW}")
    try:
        if file.stat().st_size > LARGEST:
            raise BadInput(file.name, f"is {file.stat().st_size:,} bytes, over {LARGEST:,}")
        raw = read_file(file)
    except FileNotFoundError:
        raise UserError(f"{file} does not exist") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    notes: list[Drop] = []
    found = from_json(raw, file.name) if file.suffix in (".jsonl", ".ndjson") else from_csv(raw, file.name, notes)
    labels, numbers = ReplayableStream(Label), array("L")
    missing: Counter[tuple[str, str]] = Counter()
    for number, label in found:
        if isinstance(label, Label):
            labels.add(label)
            numbers.append(number)
        else:
            missing[label] += 1
    if not labels:
        raise BadInput(file.name, "holds no label", remedy=ONE_A_ROW)
    _refuse_twice(labels, numbers, file.name)
    _refuse_ambiguous(labels, numbers, file.name)
    for (rater, dimension), count in sorted(missing.items()):
        item = f"{count} row{'s' * (count != 1)} of {rater} in {dimension}"
        notes.append(Drop(item=item, by="labels", reason="the value is empty: missing"))
    return LabelFile(labels, numbers, tuple(notes))


def find_labels(folder: Path) -> Path | None:
    """The file of labels in a folder, None where there is none. Raises UserError where there are two."""
    found = [folder / name for name in FILES if (folder / name).is_file()]
    if len(found) > 1:
        raise UserError(f"{folder} holds both {' and '.join(FILES)}", remedy="keep one of them")
    return plain_file(found[0]) if found else None


def on_reviews(read: LabelFile, reviews: Sequence[Review], source: str) -> Sequence[Label]:
    """The labels as judgements of `reviews`: one on a case with a single review is on that review.

    Raises BadInput for a label without a matching review, or with several.
    """
    of_case: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for review in reviews:
        of_case[review.case].append((sys.intern(review.system), review.attempt))
    found = ReplayableStream(Label)
    for given, number in zip(read.labels, read.lines, strict=True):
        label, subject = given, given.subject
        there = of_case[subject.case]
        if not there:
            raise BadInput(source, f"there is no review of {subject.case!r}", record=number, field="id")
        if subject.kind is SubjectKind.CHANGE:
            if len(there) > 1:
                problem = f"{subject.case!r} has {len(there)} reviews: which one was judged?"
                raise BadInput(source, problem, record=number, remedy="add a column system (and attempt)")
            update = {"kind": SubjectKind.REVIEW, "system": there[0][0], "attempt": there[0][1]}
            label = label.model_copy(update={"subject": subject.model_copy(update=update)})
        elif subject.system is not None and (subject.system, subject.attempt) not in there:
            problem = f"there is no review of {subject.case!r} by {subject.system!r}, attempt {subject.attempt}"
            raise BadInput(source, problem, record=number, field="system")
        found.add(label)
    _refuse_twice(found, read.lines, source)  # one row may name the review's system, and another leave it out
    return found


def observed_scales(labels: Sequence[Label]) -> dict[str, Scale]:
    """The range of the numbers of each dimension; a dimension of words has no scale."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for label in labels:
        if isinstance(label.value, int | float) and not isinstance(label.value, bool):
            values[label.dimension].append(float(label.value))
    return {
        dimension: Scale(
            low=min(found),
            high=max(found),
            step=1.0 if all(value.is_integer() for value in found) else 0.0,
            meaning="the range that occurs in the labels",
        )
        for dimension, found in values.items()
    }


def _refuse_twice(labels: Sequence[Label], numbers: Sequence[int], source: str) -> None:
    """Raise BadInput for two judgements of one thing by one rater in one round."""
    seen: dict[tuple[object, ...], int] = {}  # the fields of a subject take a tenth of it
    for label, number in zip(labels, numbers, strict=True):
        subject = tuple(label.subject.model_dump().values())
        first = seen.setdefault((label.rater, subject, label.dimension, label.round), number)
        if first != number:
            problem = f"{label.rater!r} judged {label.subject.case!r} in {label.dimension!r} twice: line {first} too"
            remedy = "keep one of the two, or tell them apart in a column round"
            raise BadInput(source, problem, record=number, remedy=remedy)


def _refuse_ambiguous(labels: Sequence[Label], numbers: Sequence[int], source: str) -> None:
    """Raise BadInput for names and words that differ only in form, and for numbers mixed with words."""
    known: dict[tuple[str, str, str], str] = {}
    numeric: dict[str, tuple[bool, int]] = {}
    for label, number in zip(labels, numbers, strict=True):
        words = [("rater", "", label.rater), ("dimension", "", label.dimension)]
        if isinstance(label.value, str):
            words.append(("value", label.dimension, label.value))
        is_number = not isinstance(label.value, str)
        before, line = numeric.setdefault(label.dimension, (is_number, number))
        if before != is_number:
            what = "a number" if is_number else "not a number"
            raise BadInput(
                source,
                f"{label.value!r:.40} is {what}, unlike the value of {label.dimension!r} in line {line}",
                record=number,
                field="value",
                remedy="use numbers or words, not both; an empty cell is a missing value",
            )
        for field, of, word in words:
            other = known.setdefault((field, of, _plain(word)), word)
            if other != word:
                problem = f"{word!r} and {other!r} are nearly the same: write them alike"
                raise BadInput(source, problem, record=number, field=field)


@lru_cache(maxsize=1024)
def _plain(word: str) -> str:
    """A word without what case, blanks and the Unicode form add to it."""
    return " ".join(unicodedata.normalize("NFKC", word).casefold().split())
