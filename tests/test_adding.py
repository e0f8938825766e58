"""The pages under docs/adding are followed word for word, in a package outside the tree."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[1] / "docs" / "adding").glob("*.md"))
FILE = re.compile(r"```\w+ title=(?P<name>\S+)\n(?P<text>.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(?P<text>.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_works_word_for_word(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for found in FILE.finditer(text):
        path = tmp_path / found["name"]
        path.parent.mkdir(exist_ok=True)
        path.write_text(found["text"], encoding="utf-8")
    commands = [line[2:] for found in CONSOLE.finditer(text) for line in found["text"].splitlines() if line[:2] == "$ "]
    assert commands, f"{page.name} shows no command"
    environment = {**os.environ, "REVIEWBENCH_DATA": str(tmp_path / "data")}
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "reviewbench"
        done = subprocess.run(
            [sys.executable, "-m", "reviewbench", *words[1:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert done.stdout.strip(), f"{command} printed nothing"
