"""published.md says what comes out: each row that names a spec is computed again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from judged_studies import graded, of_language
from reviewgauge.analysis.stats import classification

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "published.md").read_text(encoding="utf-8")
SPEC = re.compile(r"`([^`]+)`")


class Line(NamedTuple):
    """One row of a table with a column `spec`: its cells by the table's head."""

    spec: str
    cells: dict[str, str]


def lines() -> Iterator[Line]:
    head: list[str] = []
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            head = []
        elif not head:
            head = cells
        elif "spec" in head and not cells[0].startswith("---"):
            row = dict(zip(head, cells, strict=True))
            found = SPEC.fullmatch(row["spec"])
            assert found, line
            yield Line(found[1], row)


OF_GRADES = [line for line in lines() if "here: Spearman" in line.cells or "here" in line.cells]
OF_LANGUAGES = [line for line in lines() if "Python: here" in line.cells]


def test_the_training_of_the_tree_is_called_ours() -> None:
    """GradedReviews prints "Decision Tree" over Table 4 and nothing on how it was trained."""
    assert "SMOTE, the split in halves and growth until all leaves are pure are ours." in " ".join(PAGE.split())
    assert "follows the GradedReviews paper" not in (classification.__doc__ or "")


def test_every_table_of_the_page_is_read() -> None:
    assert (len(OF_GRADES), len(OF_LANGUAGES)) == (3, 7)


@pytest.mark.parametrize("line", OF_GRADES, ids=lambda line: line.spec)
def test_graded_reviews(shared_data: Path, line: Line) -> None:
    rows = graded(shared_data, line.spec)
    if line.cells.get("rows", "all") != "all":
        assert line.cells["rows"] == "grade < 5"
        rows = rows.rows(rows.human < 5)
    found = rows.spearman()
    printed = line.cells.get("here: Spearman") or line.cells["here"]
    assert found.value == pytest.approx(float(printed), abs=0.00006)
    assert rows.n == int(line.cells.get("n", "5,164").replace(",", ""))
    if "here: p" in line.cells:
        assert found.p == pytest.approx(float(line.cells["here: p"]), rel=0.01)


@pytest.mark.parametrize("line", OF_LANGUAGES, ids=lambda line: line.spec)
@pytest.mark.parametrize("language", ["Python", "Java"])
def test_crscore(shared_data: Path, line: Line, language: str) -> None:
    rows = of_language(shared_data, line.spec, "rel", language.lower())
    found = rows.spearman().value
    assert rows.n == 882
    assert found == pytest.approx(float(line.cells[f"{language}: here"]), abs=0.00006)
    printed = line.cells[f"{language}: Table 11"]
    assert found is not None
    assert printed == "–" or found > float(printed) + 0.05
