"""Pages as programs: the files that they show and the commands that they print, run word for word."""

from __future__ import annotations

import importlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from difflib import get_close_matches
from pathlib import Path

import pytest

from reviewgauge.cli.main import main

FILE = re.compile(r"```\w+ title=\"(?P<name>[^\"]+)\"\n(?P<text>.*?)```", re.DOTALL)
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


def follow(page: str, folder: Path, request: pytest.FixtureRequest) -> int:
    """Do what a page says: write its files, run its commands in order, and find each shown line in what they print.

    With REMAKE=1 in the environment a line that is not printed any more is replaced in the page by the printed line
    that is nearest to it: read the difference before you commit it.

    A command ends with 0, with 2 where the page shows an error, or as a comment behind it says: `# exit code 1`. A
    line `...` stands for what is left out. `../shared/data` holds the public data sets. The
    demo is run once for all pages. Returns how many commands were run.
    """
    write_files(page, folder)
    count = 0
    wrong: list[str] = []
    nearest: dict[str, str] = {}
    for written, shown in _shown(page):
        command, _, note = written.partition("  # exit code ")
        if "../shared/data" in command:
            command = command.replace("../shared/data", str(request.getfixturevalue("shared_data")))
        if command == "reviewgauge demo":  # it takes long, and several pages begin with it
            made, _ = request.getfixturevalue("demo")
            shutil.copytree(made / "runs", folder / "runs", symlinks=True)
            continue
        done = run(command, folder)
        printed = done.stdout + done.stderr
        wanted = int(note) if note else 2 if "error: " in shown else 0
        if done.returncode != wanted:
            wrong.append(f"{command}\nended with {done.returncode}\n{printed}")
        place, flat = 0, steady(printed)
        for raw in shown.splitlines():
            line = steady(raw)
            if line in ("", "..."):
                continue
            if line in flat[place:]:
                place = flat.index(line, place) + len(line)
            else:
                wrong.append(f"{command}\ndoes not print (here)\n{line}\nbut\n{printed}")
                nearest[raw] = next(iter(get_close_matches(raw, printed.splitlines(), 1, 0.4)), raw)
        count += 1
    if nearest and os.environ.get("REMAKE"):
        _remake(page, nearest)
    assert not wrong, "\n\n".join(wrong)
    return count


def _remake(page: str, nearest: dict[str, str]) -> None:
    """Write the page with these lines exchanged."""
    root = Path(__file__).parents[2]
    for file in (root / "README.md", *(root / "docs").rglob("*.md")):
        if file.read_text(encoding="utf-8") == page:
            lines = [nearest.get(line, line).rstrip() for line in page.split("\n")]
            file.write_text("\n".join(lines), encoding="utf-8")


def _shown(page: str) -> Iterator[tuple[str, str]]:
    """Each command of the console blocks, its continued lines joined, and what the page shows that it prints."""
    for block in CONSOLE.finditer(page):
        for part in ("\n" + block["text"].replace("\\\n", " ")).split("\n$ ")[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


def steady(text: str) -> str:
    """Without line breaks, seconds, sizes and the hashes of benchmarks, which say nothing to a reader."""
    text = re.sub(r"\d+\.\d (s|KB|MB)\b", r"N \1", text)
    return " ".join(re.sub(r"\b[0-9a-f]{12}\b", "H", text).split())


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a user in `folder` would, with the data home in there.

    `reviewgauge` runs in this process, and `python scripts/...` is a program of the repository.
    """
    words = shlex.split(command)
    if words[0] == "python" and words[1].startswith("scripts/"):
        words = [sys.executable, str(Path(__file__).parents[2] / words[1]), *words[2:]]
    if words[0] != "reviewgauge":
        return subprocess.run(words, cwd=folder, env=home(folder), capture_output=True, text=True, check=False)
    return run_here(folder, *words[1:])


def run_here(folder: Path, *words: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    """`reviewgauge` with `words` in this process, as if it were one of its own in `folder` on such a terminal."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    with _as_in(folder), redirect_stdout(out), redirect_stderr(err):
        code = main(list(words))
    return subprocess.CompletedProcess(["reviewgauge", *words], code, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


@contextmanager
def _as_in(folder: Path) -> Iterator[None]:
    """This process in `folder`, with the environment of a user there."""
    before, paths, modules = dict(os.environ), list(sys.path), set(sys.modules)
    os.environ.update(home(folder))
    importlib.invalidate_caches()
    try:
        with chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        sys.path[:] = paths
        for name in set(sys.modules) - modules:  # code of the folder: the next folder has its own under this name
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]


def home(folder: Path) -> dict[str, str]:
    """The environment of a user whose data and cache are in `folder`."""
    programs = str(Path(sys.executable).parent)
    return {
        **os.environ, "PATH": programs + os.pathsep + os.environ["PATH"], "REVIEWGAUGE_DATA": str(folder / "data"),
        "REVIEWGAUGE_CACHE": str(folder / "cache"), "PYTHONUNBUFFERED": "1", "COLUMNS": "100",
    }  # fmt: skip
