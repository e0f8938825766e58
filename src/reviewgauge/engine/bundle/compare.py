"""What a bundle says compared with what comes out again: the first difference, with its file, row and column.

Numbers are compared as numbers, so that the one that differs is named.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise, zip_longest

from reviewgauge.core.errors import one_line

DIGITS = 9  # to which numbers must agree
CLOSE = 1e-4  # relative; numbers this close may differ by machine alone, and the hint says so
_TINY = 1e-12
_SMALL = 1e-3  # numbers below are held to the same distance as this one


class Differs(Exception):
    """The first difference: the file, row and column where it is, what the bundle says, and what was found."""

    def __init__(
        self, file: str, stored: object, found: object, *, row: str = "", column: str = "", hint: str = ""
    ) -> None:
        self.file, self.row, self.column = file, row, column
        self.stored, self.found = (one_line(str(value), 200) for value in (stored, found))
        where = ", ".join(part for part in (file, row, column) if part)
        if _is_close(self.stored, self.found, CLOSE):
            hint = "--digits 4 allows for rounding"
        super().__init__(f"{where}: the bundle says {self.stored}, it is {self.found}" + (f" ({hint})" if hint else ""))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_close(stored: str, found: str, tolerance: float) -> bool:
    """Whether two texts are the same number, within a relative tolerance."""
    one, other = _number(stored), _number(found)
    return one is not None and other is not None and same_value(one, other, tolerance)


def same_value(stored: object, found: object, tolerance: float) -> bool:
    """Whether two values are the same; of numbers, within a relative tolerance."""
    numbers = [value for value in (stored, found) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == 2:
        return math.isclose(*numbers, rel_tol=tolerance, abs_tol=max(_TINY, tolerance * _SMALL))
    return type(stored) is type(found) and stored == found


def first_difference(
    stored: object, found: object, tolerance: float, path: str = ""
) -> tuple[str, object, object] | None:
    """(place, stored, found) of the first difference of two JSON values; numbers may differ by rounding."""
    if isinstance(stored, Mapping) and isinstance(found, Mapping):
        keys = dict.fromkeys([*stored, *found])
        pairs = [(f"{path}.{key}" if path else str(key), stored.get(key), found.get(key)) for key in keys]
    elif isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        pairs = [(f"{path}[{at}]", *pair) for at, pair in enumerate(zip(stored, found, strict=True))]
    else:
        return None if same_value(stored, found, tolerance) else (path, stored, found)
    return next((d for place, a, b in pairs if (d := first_difference(a, b, tolerance, place))), None)


def compare_table(name: str, stored: str, found: str, tolerance: float) -> int:
    """Compare a CSV table with the recomputed one; returns how many figures it holds. Raises Differs."""
    old, new = (list(csv.reader(io.StringIO(text))) for text in (stored, found))
    head = new[0]
    for number, (one, other) in enumerate(zip_longest(old, new, fillvalue=())):
        row = " ".join((other or one)[: _texts(head)]) if number else "the heading"
        if not (one and other):
            raise Differs(name, *("a row" if cells else "no such row" for cells in (one, other)), row=row)
        for column, a, b in zip_longest(head, one, other, fillvalue=""):
            if a != b and not _is_close(a, b, tolerance):
                raise Differs(name, a or "nothing", b or "nothing", row=row, column=column)
    return sum(_number(cell) is not None for cells in new[1:] for cell in cells)


def _texts(head: Sequence[str]) -> int:
    """How many columns on the left name a row: those before the first figure, which has columns about it."""
    figures = (at for at, (one, other) in enumerate(pairwise(head)) if other.startswith(f"{one}: "))
    return next(figures, 1)


def compare_text(name: str, stored: str, found: str) -> None:
    """Compare a text file with the recomputed one, line by line. Raises Differs."""
    lines = zip_longest(stored.splitlines(), found.splitlines(), fillvalue="no such line")
    for number, (one, other) in enumerate(lines, start=1):
        if one != other:
            raise Differs(name, one, other, row=f"line {number}")
