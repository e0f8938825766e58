"""metrics.md: every metric is in its tables, its commands run, and its figures come out of the metrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from documented import commands, run, write_files
from judged_studies import graded
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import load

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[dict[str, str]]:
    """The rows of the last table under a heading, by the table's head."""
    part = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    tables: list[list[list[str]]] = [[]]
    for line in part.splitlines():
        if line.startswith("|"):
            tables[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif tables[-1]:
            tables.append([])
    head, _, *found = [table for table in tables if table][-1]
    return [dict(zip(head, row, strict=True)) for row in found]


def spec_of(row: dict[str, str]) -> str:
    return (row.get("spec") or row["metric"]).strip("`")


def test_the_table_says_what_each_metric_says() -> None:
    listed = {spec_of(row): row for row in rows("Text metrics")}
    assert len(listed) > 10
    for name, row in listed.items():
        metric = load(Metric, name)
        assert row["headline"] == f"`{metric.headline}`"
        unit = metric.units.get(metric.headline, "0 to 1" if name != "embedding" else "-1 to 1")
        assert unit.split(",")[0] in row["unit"] or row["unit"] == "0 or 1", row


@pytest.mark.parametrize("row", rows("What parameters do to the number"), ids=spec_of)
def test_figures_on_graded_reviews(shared_data: Path, row: dict[str, str]) -> None:
    found = graded(shared_data, spec_of(row))
    assert found.n == 5164
    assert found.score.mean() == pytest.approx(float(row["mean"]), abs=0.00006)
    assert found.spearman().value == pytest.approx(float(row["Spearman"]), abs=0.00006)


def test_the_example_prints_what_the_page_shows(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    review, score = commands(PAGE)
    assert run(review, tmp_path).returncode == 0
    shown = PAGE.split("```text\n")[1].split("```")[0]
    assert " ".join(shown.split()) in " ".join(run(score, tmp_path).stdout.split())
