"""docs/command.md: its scripts and commands run and print what it says; an agent's stand-in gets what it promises."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from documented import commands, run, write_files
from reviewbench.core.plugins import load
from reviewbench.core.protocols import Reviewer
from reviewbench.reviewers.command import Command

PAGE = (Path(__file__).parents[1] / "docs" / "command.md").read_text(encoding="utf-8")
STAND_IN = """#!/bin/sh
[ "$ANTHROPIC_API_KEY" = stand-in ] || exit 2
git diff --quiet HEAD || exit 3
echo "$2" | grep -q "Review the change from commit" || exit 4
commit=$(echo "$2" | sed -n 's/^Review the change from commit \\([0-9a-f]*\\) to .*/\\1/p')
git diff --name-only "$commit" HEAD | sed 's/.*/- &:1 A stand-in looked at this file./'
"""


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The commands of the page in a folder with its files and a stand-in for the agent: what each printed."""
    folder = tmp_path_factory.mktemp("page")
    write_files(PAGE, folder)
    programs = folder / "bin"
    programs.mkdir()
    (programs / "claude").write_text(STAND_IN, encoding="utf-8")
    (programs / "claude").chmod(0o755)
    printed = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{programs}:/usr/local/bin:/usr/bin:/bin")
        patch.setenv("ANTHROPIC_API_KEY", "stand-in")
        for command in commands(PAGE):
            found = run(command, folder)
            assert found.returncode == 0, (command, found.stdout, found.stderr)
            printed[command] = found.stdout
    return printed


def test_its_commands_print_what_it_says(done: dict[str, str]) -> None:
    answers = flat("\n".join(done.values()))
    shown = [block.split("```")[0] for block in PAGE.split("```text\n")[1:]]
    assert len(shown) == 2
    for block in shown:
        for line in block.splitlines():
            assert line == "..." or flat(line) in answers, line


def test_the_agents_script_works_with_a_stand_in(done: dict[str, str]) -> None:
    (said,) = [text for command, text in done.items() if "agent.sh" in command and "reviewbench" in command]
    found = re.match(r"agent: 9 reviews with (\d+) comments", said)
    assert found is not None and int(found[1]) >= 9


def test_the_page_names_every_parameter_and_placeholder() -> None:
    reviewer = load(Reviewer, "command(run=('sh',))")
    assert isinstance(reviewer, Command)
    for field in dataclasses.fields(reviewer):
        assert re.search(rf"`{field.name}\b|\b{field.name}=", PAGE), field.name
    for word in ("base", "head", "workspace", "case", "diff", "title", "description", "issues", "output", "here"):
        assert f"{{{word}}}" in PAGE, word
