"""guides/review.md: its scripts do what it says, and it names every parameter and placeholder of `command`."""

from __future__ import annotations

import dataclasses
import re
import typing
from pathlib import Path

import pytest

from documented import run
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.specs import load
from reviewgauge.repo.guarded.sandbox import Sandbox
from reviewgauge.reviewers.command import Command

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "review.md").read_text(encoding="utf-8")
STAND_IN = """#!/bin/sh
[ "$ANTHROPIC_API_KEY" = stand-in ] || exit 2
git diff --quiet HEAD || exit 3
echo "$2" | grep -q "Review the change from commit" || exit 4
commit=$(echo "$2" | sed -n 's/^Review the change from commit \\([0-9a-f]*\\) to .*/\\1/p')
git diff --name-only "$commit" HEAD | sed 's/.*/- &:1 A stand-in looked at this file./'
"""


def test_the_agents_preset_works_with_a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").write_text(STAND_IN, encoding="utf-8")
    (programs / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/local/bin:/usr/bin:/bin")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "stand-in")
    command, *_ = re.findall(r"^\$ (reviewgauge .*claude-code.*)$", PAGE, re.MULTILINE)
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.match(r"claude-code: 9 reviews with (\d+) comments", done.stdout)
    assert found is not None and int(found[1]) >= 9


def test_the_sandboxes_of_the_page_are_those_there_are() -> None:
    words = typing.get_args(typing.get_args(Sandbox)[0])
    part = PAGE.partition("### A sandbox\n")[2].partition("\n## ")[0]
    assert set(re.findall(r'`"([^"]+)"`', part)) == set(words)


def test_the_page_names_every_parameter_and_placeholder() -> None:
    reviewer = load(Reviewer, "command(run=('sh',))")
    assert isinstance(reviewer, Command)
    for field in dataclasses.fields(reviewer):
        assert re.search(rf"`{field.name}\b|\b{field.name}=", PAGE), field.name
    for word in (
        "base",
        "head",
        "workspace",
        "case",
        "diff",
        "title",
        "description",
        "issues",
        "given",
        "output",
        "here",
    ):
        assert f"{{{word}}}" in PAGE, word
