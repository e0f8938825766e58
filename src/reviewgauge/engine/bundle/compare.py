"""A bundle compared with what is found: the first difference, with its file, row, column and both values.

Numbers are compared as numbers, so that the one that differs is named, and hashes that were made to fit do not help.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard, TypeVar

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput
from reviewgauge.core.files import read_within
from reviewgauge.core.parsing import parse_record, records
from reviewgauge.engine.bundle.archive import Unpacked
from reviewgauge.engine.bundle.contents import BUNDLE, README, BundleManifest, RunEntry
from reviewgauge.engine.run.manifest import MANIFEST, Manifest

R = TypeVar("R", bound=Record)
DIGITS = 9  # to which numbers must agree
CLOSE = 1e-4  # relative; numbers this close may differ by machine alone, and the hint says so
_TINY = 1e-12
_SMALL = 1e-3  # numbers below are held to the same distance as this one


class Difference(Record):
    """The first difference: where it is, what the bundle says, and what was found."""

    file: str
    row: str = ""
    column: str = ""
    stored: str
    found: str
    hint: str = ""

    @property
    def sentence(self) -> str:
        """The difference in one line."""
        where = ", ".join(part for part in (self.file, self.row, self.column) if part)
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}: the bundle says {self.stored}, it is {self.found}{hint}"


class Differs(Exception):
    """Raised at the first difference."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(difference.sentence)
        self.difference = difference


@dataclass(frozen=True)
class Contents:
    """An unpacked bundle: `folder` holds the files, `found` what each of them is, by name.

    Scores that are measured again must agree with the stored ones to `digits` digits.
    """

    folder: Path
    manifest: BundleManifest
    found: Mapping[str, Unpacked]
    digits: int = DIGITS
    changed: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Names the files whose hash is not the one in the manifest."""
        listed = self.manifest.files
        names = {name for name, one in self.found.items() if name in listed and one.sha256 != listed[name].sha256}
        object.__setattr__(self, "changed", frozenset(names))

    def differs(self, file: str, stored: object, found: object, *, row: str = "", column: str = "") -> Differs:
        """The difference to raise; it says whether the file was changed after it was packed."""
        hint = "the file's hash differs too: it was changed after it was packed" if file in self.changed else ""
        if not hint and same_value(stored, found, CLOSE):
            hint = "another machine or library may round so; --digits 4 lets it pass"
        return Differs(
            Difference(file=file, row=row, column=column, stored=_shown(stored), found=_shown(found), hint=hint)
        )

    def read(self, model: type[R], name: str) -> list[R]:
        """The records of one file. What is not a record is a difference."""
        try:
            with self._file(name).open("rb") as stream:
                return list(records(model, stream, name))
        except BadInput as error:
            row = f"line {error.record}" if error.record is not None else ""
            raise self.differs(name, "a record", str(error), row=row, column=error.field) from None

    def read_one(self, model: type[R], name: str) -> R:
        """The one record that a whole file is. What is not a record is a difference."""
        try:
            return parse_record(model, read_within(self._file(name)), name)
        except BadInput as error:
            raise self.differs(name, "a record", str(error), column=error.field) from None

    def text(self, name: str) -> str:
        """The text of one file. Raises Differs where it is not there."""
        return read_within(self._file(name)).decode("utf-8", "replace")

    def _file(self, name: str) -> Path:
        if not (path := self.folder / name).exists():
            raise self.differs(name, "a file", "missing")
        return path

    def manifest_of(self, entry: RunEntry) -> Manifest:
        """The manifest of a run. Raises Differs where it is of another benchmark, or is none."""
        name = f"{entry.folder}/{MANIFEST}"
        found = self.read_one(Manifest, name)
        for column, stored, there in (
            ("benchmark", entry.benchmark, found.benchmark),
            ("dataset", entry.dataset, found.dataset),
            ("cases", entry.cases, found.cases),
        ):
            if stored != there:
                raise self.differs(name, stored, there, column=column)
        return found


def check_files(contents: Contents) -> None:
    """Every file is there, and none that is not listed."""
    listed, there = contents.manifest.files, contents.found
    for name in sorted(listed.keys() | there.keys() - {BUNDLE}):
        if name not in there:
            raise contents.differs(name, f"{listed[name].bytes:,} bytes", "missing")
        if name not in listed:
            raise contents.differs(name, "no such file", "there")


def check_nothing_else(contents: Contents, expected: Iterable[str]) -> None:
    """Raise Differs for a file that was not verified, even if it is listed."""
    if more := sorted(contents.found.keys() - {BUNDLE, README, *expected, *contents.manifest.parameters.values()}):
        raise contents.differs(more[0], "no such file", "there")


def check_hashes(contents: Contents) -> None:
    """Every file has its hash; last, because a hash does not name the number that differs."""
    for name in sorted(contents.changed):
        listed, there = contents.manifest.files[name], contents.found[name]
        raise contents.differs(name, listed.sha256, there.sha256, column="sha256")


# --- values --------------------------------------------------------------------------------------------------------


def first_difference(
    stored: object, found: object, tolerance: float = 10.0**-DIGITS, path: str = ""
) -> tuple[str, object, object] | None:
    """(place, stored, found) of the first difference of two JSON values; numbers may differ by rounding."""
    if isinstance(stored, Mapping) and isinstance(found, Mapping):
        for key in dict.fromkeys([*stored, *found]):
            place = f"{path}.{key}" if path else str(key)
            if deeper := first_difference(stored.get(key), found.get(key), tolerance, place):
                return deeper
        return None
    if _is_list(stored) and _is_list(found):
        if len(stored) != len(found):
            return path, f"{len(stored)} entries", f"{len(found)} entries"
        pairs = enumerate(zip(stored, found, strict=True))
        return next((d for at, (a, b) in pairs if (d := first_difference(a, b, tolerance, f"{path}[{at}]"))), None)
    return None if same_value(stored, found, tolerance) else (path, stored, found)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def same_value(stored: object, found: object, tolerance: float = 10.0**-DIGITS) -> bool:
    """Whether two values are the same; of numbers, within a relative tolerance."""
    numbers = [value for value in (stored, found) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == 2:
        return math.isclose(*numbers, rel_tol=tolerance, abs_tol=max(_TINY, tolerance * _SMALL))
    return type(stored) is type(found) and stored == found


def compare_tables(contents: Contents, name: str, found: str, labels: int) -> None:
    """Compare a stored CSV table with the recomputed one. `labels` columns name a row. Raises Differs."""
    stored = _rows(contents.text(name))
    again = _rows(found)
    head = again[0] if again else []
    for number, (one, other) in enumerate(_pad(stored, again)):
        row = "the heading" if number == 0 else " ".join((other or one)[:labels]) or f"row {number}"
        if one == [] or other == []:
            raise contents.differs(
                name, "no such row" if one == [] else "a row", "none" if other == [] else "one", row=row
            )
        for at in range(max(len(one), len(other))):
            a, b = (cells[at] if at < len(cells) else "" for cells in (one, other))
            if not _same_cell(a, b):
                column = head[at] if at < len(head) else f"column {at + 1}"
                raise contents.differs(name, a or "nothing", b or "nothing", row=row, column=column)


def count_figures(text: str) -> int:
    """How many numbers a CSV table holds."""
    return sum(_is_number(cell) for row in _rows(text)[1:] for cell in row)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def compare_text(contents: Contents, name: str, found: str) -> None:
    """Compare a stored text file with the recomputed one, line by line. Raises Differs."""
    stored = contents.text(name).splitlines()
    for number, (one, other) in enumerate(
        _pad([[line] for line in stored], [[x] for x in found.splitlines()]), start=1
    ):
        if one != other:
            stored_, found_ = (line[0] if line else "no such line" for line in (one, other))
            raise contents.differs(name, stored_, found_, row=f"line {number}")


def _rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def _pad(one: list[list[str]], other: list[list[str]]) -> Iterator[tuple[list[str], list[str]]]:
    for at in range(max(len(one), len(other))):
        yield one[at] if at < len(one) else [], other[at] if at < len(other) else []


def _same_cell(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return same_value(float(one), float(other))
    except ValueError:
        return False


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else text[:199] + "…"
