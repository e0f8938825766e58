"""docs/reference/stages.md: the stages that it names exist with these parameters, and its samples come out."""

from __future__ import annotations

import re
from pathlib import Path

import documented
from reviewgauge.core.protocols import Stage
from reviewgauge.core.specs import load, names
from reviewgauge.stages.stratify import Stratify

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "stages.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Stages that draw a sample")[2].partition("\n## ")[0]


def test_every_spec_is_one() -> None:
    specs = [spec for spec in re.findall(r"`(\w+\([^`]*\))`", PAGE) if "..." not in spec]
    stages = [spec for spec in specs if spec.partition("(")[0] in names("stages")]
    assert len(stages) > 15
    for spec in stages:
        load(Stage, spec)


def test_the_draws_keep_so_many_cases(tmp_path: Path) -> None:
    shown = [documented.run(command, tmp_path).stdout for command in documented.commands(SECTION)]
    for count, printed in zip((8, 16, 24), shown, strict=True):  # eight of each verdict; all, as few are clean
        assert f", {count} cases" in printed


def test_the_spec_of_the_papers_sample_is_one() -> None:
    spec = next(line for line in SECTION.splitlines() if line.startswith("stratify(by=('period'"))
    stage = load(Stage, spec)
    assert isinstance(stage, Stratify)
    assert (len(stage.periods) + 1) * 9 * stage.per_cell == 1080
    assert isinstance(load(Stage, "stratify(by=('repo', 'domain', 'size'), total=200)"), Stratify)
    assert "stratify(by=('repo', 'domain', 'size'), total=200)" in SECTION
