"""cost.md is true: its commands are run in order, and print what the page shows."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from documented import CONSOLE, run, write_files

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "cost.md").read_text(encoding="utf-8")


def plain(text: str, numbers: bool = True) -> str:
    """Without line breaks, seconds and sizes, which differ from run to run; without any numbers where told."""
    text = re.sub(r"\d+\.\d s\b", "N s", re.sub(r"\d+\.\d KB", "N KB", text))
    return " ".join((text if numbers else re.sub(r"\d[\d,.]*", "N", text)).split())


def test_every_command_prints_what_the_page_shows(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    count = 0
    for section in PAGE.split("\n## "):
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)  # each begins with an empty cache
        for block in CONSOLE.finditer(section):
            for part in block["text"].split("$ ")[1:]:
                command, _, shown = part.partition("\n")
                done = run(command, tmp_path)
                exact = "--budget" not in command  # which calls come first there is a matter of threads
                printed = done.stdout + done.stderr
                assert plain(shown, exact) in plain(printed, exact), (command, printed)
                assert done.returncode == (2 if "error: " in shown else 0), command
                count += 1
    assert count > 8


def test_the_python_of_the_page_is_there() -> None:
    code = "from reviewgauge import ModelOptions; ModelOptions(budget=5.0)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert shlex.split("models=ModelOptions(budget=5.0)")[0] in PAGE
