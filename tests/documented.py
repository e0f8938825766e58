"""Pages as programs: the files that they show and the commands that they print, run word for word."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

FILE = re.compile(r"```\w+ title=(?P<name>\S+)\n(?P<text>.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(?P<text>.*?)```", re.DOTALL)


def write_files(page: str, folder: Path) -> None:
    """Write the files that a page shows under a title."""
    for found in FILE.finditer(page):
        path = folder / found["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found["text"], encoding="utf-8")


def commands(page: str) -> list[str]:
    """The lines of the page's console blocks that begin with `$ `, without it."""
    blocks = (found["text"].splitlines() for found in CONSOLE.finditer(page))
    return [line[2:] for lines in blocks for line in lines if line.startswith("$ ")]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a user in `folder` with the environment's own programs would; its data home is in there."""
    programs = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": programs + os.pathsep + os.environ["PATH"],
        "REVIEWBENCH_DATA": str(folder / "data"),
    }
    return subprocess.run(
        shlex.split(command), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
