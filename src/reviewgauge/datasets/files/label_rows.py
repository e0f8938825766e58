"""Reads labels from CSV tables, as people and spreadsheets write them, and JSON lines (docs/guides/people.md)."""

from __future__ import annotations

import codecs
import csv
import difflib
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from pydantic import ValidationError

from reviewgauge.core.errors import BadInput
from reviewgauge.core.labels import Label, RaterKind, SubjectKind
from reviewgauge.core.parsing import first_problem, lines, parse_record
from reviewgauge.core.results import Drop

REQUIRED = ("rater", "dimension", "value")
COLUMNS = (
    *("id", "case", "system", "attempt", "claim", *REQUIRED),
    *("kind", "batch", "round", "confidence", "reason", "seconds", "consensus"),
)
_DELIMITERS = (",", ";", "\t", "|")
_WHOLE = re.compile(r"[+-]?\d{1,15}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
_SHARE = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)\s*%|\d+\s*/\s*\d+")  # 80% and 4/5, which as words would have no order
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
# What programs write for a missing value. Words that may be ratings, such as "none", are not among them.
_NO_VALUE = {"nan", "na", "n/a", "#n/a", "null", "#value!", "#ref!", "#div/0!", "inf", "infinity"}
_SHOWN_AS = {"case": "id"}

Found = Iterator[tuple[int, Label | tuple[str, str]]]
"""(line, label), or (line, (rater, dimension)) where the value is empty."""


def from_json(raw: bytes, source: str) -> Found:
    """The labels of JSON lines: Label records, or objects with the columns of the table as fields."""
    for number, line in lines(io.BytesIO(raw), source):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
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
            row = {name: cell.strip() for name, cell in zip(names, cells, strict=False) if name and cell.strip()}
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
    if "case" not in cells and "id" in cells:
        cells = {**cells, "case": cells["id"]}
    for name in ("case", "rater", "dimension"):
        if name not in cells:
            raise BadInput(source, "is empty", record=number, field=_SHOWN_AS.get(name, name))
    readers: dict[str, Callable[[object], object]] = {**_READERS, "value": value}
    row: dict[str, object] = {}
    for name, reader in readers.items():
        if name in cells:
            try:
                row[name] = reader(cells[name])
            except ValueError as error:
                raise BadInput(source, str(error), record=number, field=_SHOWN_AS.get(name, name)) from None
    if "value" not in row:
        return str(row["rater"]), str(row["dimension"])
    subject = {name: row.pop(name) for name in _SUBJECT if name in row}
    if "claim" in subject:
        subject["kind"] = SubjectKind.LINK if "system" in subject else SubjectKind.CLAIM
    else:
        subject["kind"] = SubjectKind.REVIEW if "system" in subject else SubjectKind.CHANGE
    if "kind" in row:
        row["rater_kind"] = row.pop("kind")
    try:
        return Label.model_validate({"subject": subject, **row})
    except ValidationError as error:
        place, problem = first_problem(error)
        place = place.removeprefix("subject.")
        raise BadInput(source, problem, record=number, field=_SHOWN_AS.get(place, place)) from None


def _word(cell: object) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) and not isinstance(cell, bool):
        return str(cell)
    raise ValueError(f"is not text: {cell!r:.40}")


def _whole(cell: object) -> int:
    if isinstance(cell, bool) or not _WHOLE.fullmatch(str(cell)):
        raise ValueError(f"is not a whole number: {cell!r:.40}")
    return int(str(cell))


def _number(cell: object) -> float:
    try:
        found = float(str(cell).replace(",", "."))
    except ValueError:
        raise ValueError(f"is not a number: {cell!r:.40}") from None
    if not math.isfinite(found) or found < 0:
        raise ValueError(f"must be 0 or more, got {cell!r:.40}")
    return found


def _flag(cell: object) -> bool:
    word = str(cell).lower()
    if word not in _FLAGS:
        raise ValueError(f"is neither true nor false: {cell!r:.40}")
    return _FLAGS[word]


def _rater_kind(cell: object) -> RaterKind:
    word = str(cell).lower()
    if word not in list(RaterKind):
        raise ValueError(f"is neither human nor model: {cell!r:.40}")
    return RaterKind(word)


_SUBJECT = ("case", "system", "attempt", "claim")
_READERS: Mapping[str, Callable[[object], object]] = {
    **dict.fromkeys(("case", "system", "claim", "rater", "dimension", "batch", "round", "reason"), _word),
    "attempt": _whole,
    "kind": _rater_kind,
    "confidence": _number,
    "seconds": _number,
    "consensus": _flag,
}


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
