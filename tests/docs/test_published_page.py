"""published.md says what comes out: each row that names a spec is computed again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from judged_studies import graded, of_language
from reviewgauge.analysis.stats import classification
from reviewgauge.datasets.aacr_bench import AacrBench

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


# --- AACR-Bench ----------------------------------------------------------------------------------------------------

# Tables 3 and 4 of arXiv:2601.19494: recall on all, then by context level
RECALL = {
    ("No context", "Claude-4.5-Sonnet"): (42.86, (45.76, 40.54, 38.63)),
    ("No context", "Deepseek-V3.2"): (36.54, (39.26, 32.43, 36.91)),
    ("No context", "GLM-4.7"): (27.57, (31.43, 24.90, 21.03)),
    ("No context", "GPT-5.2"): (47.11, (50.66, 43.82, 42.92)),
    ("No context", "Qwen-480B-Coder"): (27.44, (33.82, 22.59, 17.60)),
    ("Embedding", "Claude-4.5-Sonnet"): (42.86, (46.82, 38.03, 40.77)),
    ("Embedding", "Deepseek-V3.2"): (36.35, (39.39, 33.40, 33.05)),
    ("Embedding", "GLM-4.7"): (26.98, (30.11, 26.64, 17.60)),
    ("Embedding", "GPT-5.2"): (47.24, (52.39, 42.28, 41.63)),
    ("Embedding", "Qwen-480B-Coder"): (24.25, (27.06, 22.78, 18.45)),
}


def weighted(levels: tuple[float, ...]) -> float:
    return sum(n * value for n, value in zip((754, 518, 233), levels, strict=True)) / 1505


def rows_under(first: str) -> list[list[str]]:
    """The rows of the table of the page whose head begins with this cell."""
    body = PAGE.split(f"| {first} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in body]


def test_each_of_the_five_papers_has_a_part() -> None:
    heads = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert heads == ["GradedReviews", "CRScore", "AACR-Bench", "ContextCRBench", "SWR-Bench"]


def test_aacr_figure_2_is_that_of_the_file(shared_data: Path) -> None:
    cases = AacrBench(path=str(shared_data / "aacr-bench")).cases()
    found = []
    for name in sorted({str(case.facts["language"]) for case in cases}):
        own = [case for case in cases if case.facts["language"] == name]
        ai = [bool(one.extra["is_ai"]) for case in own for one in case.references]
        found.append((name, len(own), sum(bool(case.references) for case in own), ai.count(False), ai.count(True)))
    printed = " ".join(PAGE.split("Figure 2 (", 1)[1].split("\n\n", 1)[0].split()).split("): ")[1]
    assert printed == "; ".join(f"{name} {', '.join(map(str, counts))}" for name, *counts in found) + "."
    assert [sum(column) for column in zip(*(counts for _, *counts in found), strict=True)] == [200, 196, 391, 1114]


def test_aacr_bm25_rows_stand_at_other_models() -> None:
    for total, levels in RECALL.values():
        assert weighted(levels) == pytest.approx(total, abs=0.011)
    rows = rows_under("BM25")
    of = {row[0]: weighted(tuple(map(float, row[1].split("/")))) for row in rows}
    for model, _, own, printed, other in rows:
        assert of[model] == pytest.approx(float(own), abs=0.006)
        assert of[other] == pytest.approx(float(printed), abs=0.015)
        assert abs(of[model] - float(printed)) > 1
