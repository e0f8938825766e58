"""The README's first ten minutes, word for word."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from documented import commands, free_port, run, started, write_files

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PARTS = {part.partition("\n")[0]: part for part in README.split("\n### ")[1:]}


@pytest.mark.parametrize("title", PARTS)
def test_first_ten_minutes(title: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    part = PARTS[title].split("\n## ")[0]
    write_files(part, tmp_path)
    found = commands(part)
    assert found
    port = str(free_port())
    with ExitStack() as servers:
        for command in found:
            words = command.replace("8011", port)
            if "../shared/data" in command:
                words = words.replace("../shared/data", str(request.getfixturevalue("shared_data")))
            if "fake-server" in command:
                servers.enter_context(started(words, tmp_path))
                continue
            done = run(words, tmp_path)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def test_the_two_commands_are_the_makefile_s() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^\$ make (\w+)$", README, re.MULTILINE):
        assert f"\n{target}:" in makefile
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_demo_prints_what_the_readme_says(tmp_path: Path) -> None:
    """The lines that do not hang on which analysers this machine has."""
    shown = README.split("$ make demo\n")[1].split("```")[0].splitlines()
    built = ("from_git", "horizon", "drop_", "resample", "runs/demo/bench: ", "card: ", "  share", "  half-life")
    reviewed = ("blind-reader .", "blind-reader was", "parrot", "silent", "hits on", "next: ")
    wanted = [line.split() for line in shown if line.startswith((*built, *reviewed))]
    assert len(wanted) == 19
    done = run("reviewgauge demo", tmp_path)
    assert done.returncode == 0, done.stderr
    printed = [line.split() for line in done.stdout.splitlines()]
    assert all(words in printed for words in wanted)
