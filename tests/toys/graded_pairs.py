"""The 5,164 graded pairs of GradedReviews, read straight from the official xlsx: for golden tests of text metrics.

Columns by position: id, reference, code, then a review and its grade for each of four tools (four columns are called
Grade). One cell is `#VALUE!` and one the integer 7; both are real rows. Reads the file apart from `datasets/`, so
that a mistake there does not hide one here.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

TOOLS = ("Tufano's", "commentFinder", "Auger", "LLaMA-Reviewer")


class Graded(NamedTuple):
    """One generated review held against one reference, and the grade that people gave it (1 to 5)."""

    hypothesis: str
    reference: str
    grade: int
    tool: str
    row: str


@cache
def pairs(shared_data: Path) -> tuple[Graded, ...]:
    """Every pair, row by row, the tools in the order of the columns."""
    from openpyxl import load_workbook

    book = load_workbook(shared_data / "graded-reviews" / "dataset.xlsx", read_only=True)
    found = []
    for row in book.worksheets[0].iter_rows(min_row=2, values_only=True):
        for i, tool in enumerate(TOOLS):
            review, grade = row[3 + 2 * i], row[4 + 2 * i]
            assert isinstance(grade, int)
            found.append(Graded(str(review), str(row[1]), grade, tool, str(row[0])))
    book.close()
    assert len(found) == 5164
    return tuple(found)


def grades(shared_data: Path) -> list[int]:
    """The grades alone, in the order of `pairs`."""
    return [pair.grade for pair in pairs(shared_data)]
