"""audit.md, and stages.md on stages that ask a model: their figures and words are the code's."""

from __future__ import annotations

import re
from pathlib import Path

from reviewgauge.core.building import Decision
from reviewgauge.engine.build.audit import COLUMNS, audit_stage, margin, wilson
from reviewgauge.stages.asking.change_points import RULES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "guides" / "audit.md").read_text(encoding="utf-8")


def percent(value: float | None) -> str:
    assert value is not None
    return f"{100 * value:.2f}%"


def test_the_columns_and_the_figures_are_named(tmp_path: Path) -> None:
    for column in COLUMNS:
        assert f"| `{column}` |" in PAGE
    made = [Decision(item=str(n), by="s", shown=f"{n}", decided="y") for n in range(4)]
    section = audit_stage(tmp_path, "s", made, 2, 0)
    table = tmp_path / "audit" / "s.csv"
    table.write_text(table.read_text("utf-8-sig").replace(",y,,,", ",y,,y,"))
    section = audit_stage(tmp_path, "s", made, 0, 0)
    assert section is not None
    assert "accuracy" in section.figures
    for figure in section.figures:
        assert f"`{figure}`" in PAGE


def test_its_margins_are_those_of_the_code() -> None:
    for n, share, populations in ((350, 0.9236, (12_715, 3_328)), (300, 0.95, (1_119,))):
        row = next(line for line in PAGE.split("\n") if f"{n} checked | " in line)
        assert percent(margin(n)) in row
        assert percent(margin(n, share=share)) in row
        for population in populations:
            assert f"{percent(margin(n, population))} of {population:,}" in row
    (told,) = re.findall(r"50 rows give a margin of at most (\S+)%, 100 rows (\S+)%, 300 rows (\S+)%", PAGE)
    assert list(told) == [f"{100 * (margin(n, 1_000) or 0):.1f}" for n in (50, 100, 300)]
    low, high = wilson(255, 300) or (0, 0)
    assert f"{100 * low:.1f}% to {100 * high:.1f}% for exactly 85%" in PAGE
    low, high = wilson(17, 18, 819) or (0, 0)
    assert f"Wilson's interval: {percent(low)} to {percent(high)}" in PAGE
    assert f"a margin of at most {percent(margin(18, 819))}" in PAGE


def test_the_rules_of_extract_points_are_named() -> None:
    stages = (DOCS / "reference" / "stages.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert f'| `"{rule}"` |' in stages
