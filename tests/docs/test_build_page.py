"""guides/build.md on pull requests and audits: what it shows is printed, and its tables name what there is."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from documented import run, steady
from recorded_forge import TOKEN, serve
from reviewgauge.core.building import Decision
from reviewgauge.core.shares import margin, wilson
from reviewgauge.engine.build.recipes import read_recipe
from reviewgauge.repo.forge.reading import read_archive
from reviewgauge.stages.from_forge import FromForge
from reviewgauge.stages.sampling.audit import audit_stage
from reviewgauge.stages.sampling.audit_table import COLUMNS

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "build.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"{title}\n")[2].partition("\n## ")[0]


@pytest.mark.drill
def test_pull_requests_and_hosted_reviews(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("COLUMNS", "110")
    blocks = re.findall(r"```text\n(\$ .*?)```", section("## From pull requests"), re.DOTALL)
    assert len(blocks) == 2
    with serve(tmp_path / "forge", "papers") as forge:
        for block in blocks:
            printed = ""
            for command in (line[2:] for line in block.splitlines() if line.startswith("$ reviewgauge")):
                done = run(command + (f" --set \"api='{forge.url}'\"" if " build " in command else ""), tmp_path)
                assert done.returncode == 0, done.stderr
                printed += done.stdout
            lines = [steady(line) for line in printed.splitlines()]
            for line in (steady(line) for line in block.splitlines() if not line.startswith("$ ")):
                assert line in lines, f"{line!r} is not printed"
    dump = tmp_path / "shop" / "forge" / "pulls.jsonl.gz"
    with gzip.open(dump) as stream:
        first = json.loads(stream.readline())
    listed = re.search(r"```json\n(\{\"repo\".*?)```", PAGE, re.DOTALL)
    assert listed is not None
    assert set(json.loads(listed[1])) - {"timeline"} <= set(first), "what the page says stands in each line"
    assert len(list(read_archive(dump))) == 12


def test_the_parameters_of_pull_requests_are_those_of_the_recipes_and_of_the_source() -> None:
    table = section("## From pull requests").partition("| parameter |")[2].partition("`from_forge` has a few more")[0]
    named = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))
    for recipe in ("pull_requests", "hosted_reviews"):
        assert named <= set(read_recipe(recipe).parameters)
    more = PAGE.partition("`from_forge` has a few more")[2].partition("\n\n")[0]
    assert named | set(re.findall(r"`(\w+)`", more)) == {field.name for field in fields(FromForge)}


def test_the_parameters_of_a_history_are_those_of_the_recipe() -> None:
    table = section("## From a history").partition("| parameter |")[2].partition("\n\n")[0]
    rows = [line.split("|") for line in table.splitlines()[2:]]
    defaults = {name: cells[2] for cells in rows for name in re.findall(r"`(\w+)`", cells[1])}
    parameters = read_recipe("local").parameters
    assert defaults and defaults.keys() <= parameters.keys()
    for name in ("clean_days", "certainty"):
        assert defaults[name].strip() == str(parameters[name])


def test_the_columns_figures_and_margins_of_an_audit(tmp_path: Path) -> None:
    audits = " ".join(section("## Audit what a model decided").split())
    for column in COLUMNS:
        assert f"`{column}`" in audits
    decisions = [Decision(item=str(n), by="s", shown=f"{n}", decided="y") for n in range(4)]
    audit_stage(tmp_path, "s", decisions, 2)
    table = tmp_path / "audit" / "s.csv"
    table.write_text(table.read_text("utf-8-sig").replace(",y,,,", ",y,,y,"))
    card = audit_stage(tmp_path, "s", decisions, 0)
    assert card is not None and "accuracy" in card.figures
    for figure in card.figures:
        assert f"`{figure}`" in audits
    (shown,) = re.findall(r"50 rows give a margin of at most (\S+)%, 100 rows (\S+)%, 300 rows (\S+)%", audits)
    assert list(shown) == [f"{100 * (margin(n, 1_000) or 0):.1f}" for n in (50, 100, 300)]
    low, high = wilson(17, 18, 819) or (0, 0)
    assert f"Wilson's interval: {100 * low:.2f}% to {100 * high:.2f}%" in audits
    assert f"a margin of at most {100 * (margin(18, 819) or 0):.2f}%" in audits
