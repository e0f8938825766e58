"""github.md: its commands print what it shows when the fake forge answers; its tables name what there is."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from documented import commands, run
from fake_forge.project import main_project
from fake_forge.server import TOKEN, serve
from reviewgauge.engine.build.recipes import read_recipe
from reviewgauge.repo.forge.archive import Archive
from reviewgauge.stages.from_github import FromGithub

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "github.md").read_text(encoding="utf-8")
OUTPUT = re.compile(r"```text\n(.*?)```", re.DOTALL)


def shown() -> list[str]:
    """The lines of output on the page."""
    blocks = [block for block in OUTPUT.findall(PAGE) if "pulls/12.json" not in block]
    return [" ".join(line.split()) for block in blocks for line in block.splitlines() if line.strip()]


def test_the_page_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("COLUMNS", "110")
    printed = ""
    with serve(tmp_path / "forge", main_project()) as forge:
        for command in commands(PAGE):
            if command.startswith("export") or "api/v3" in command:
                continue
            asked = f"{command} --set \"api='{forge.url}'\"" if " build " in command else command
            done = run(asked, tmp_path)
            assert done.returncode == 0, done.stderr
            printed += done.stdout
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    for line in shown():
        assert line in lines, f"{line!r} is not printed"
    dump = tmp_path / "shop" / "forge" / "pulls.jsonl.gz"
    with gzip.open(dump) as stream:
        first = json.loads(stream.readline())
    listed = re.search(r"```json\n(\{\"repo\".*?)```", PAGE, re.DOTALL)
    assert listed is not None
    assert set(json.loads(listed[1])) - {"timeline"} <= set(first), "what the page says stands in each line"
    with Archive(dump) as archive:
        assert len(list(archive.pulls())) == 12


def test_its_parameters_are_those_of_the_recipes_and_of_the_source() -> None:
    table = PAGE.partition("## What is read")[2].partition("`from_github` has a few more")[0]
    named = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))
    for recipe in ("pull_requests", "hosted_reviews"):
        assert named <= set(read_recipe(recipe).parameters)
    more = PAGE.partition("`from_github` has a few more")[2].partition("\n\n")[0]
    known = {field.name for field in fields(FromGithub)}
    assert named | set(re.findall(r"`(\w+)`", more)) == known
