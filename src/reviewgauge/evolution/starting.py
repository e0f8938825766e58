"""Starts the process that proposes: no network, no files of the user's, no keys in its environment."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import IO, Any

from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.repo.guarded.sandbox import SandboxView, check_sandbox, needed, sandboxed

_LOG_LINES = 3


def sandbox_problem() -> str:
    """Why bubblewrap cannot hold the process that proposes here; empty where it can."""
    try:
        check_sandbox()
    except UserError as error:
        return error.problem
    return ""


def check_gepa() -> Path:
    """The folder of gepa, which is not imported in this process. Raises MissingExtra."""
    found = importlib.util.find_spec("gepa")
    if found is None or not found.submodule_search_locations:
        raise MissingExtra("--optimizer gepa", "evolve")
    return Path(found.submodule_search_locations[0]).resolve()  # the sandbox has no links to follow


class Child:
    """The running process: questions come in, answers go out, one JSON line each."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process, self._log = process, log

    def questions(self) -> Iterator[dict[str, Any]]:
        """What it asks, until it ends. Raises UserError where it ends otherwise than it should."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = _read(line)
            if found["ask"] == "end":
                return
            yield found
        self._process.wait()
        last = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-_LOG_LINES:]
        raise UserError(
            f"the process that proposes ended early: {' / '.join(last) or self._process.returncode}",
            remedy=f"{self._log} has all that it said; run the same command again to go on",
        )

    def answer(self, **values: Any) -> None:
        """Send it its job, or the answer to its last question."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(values) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it ended: `questions` says why


def _read(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict) or "ask" not in found:
        raise UserError("the process that proposes said something that is no question", remedy="run it again")
    return found


@contextmanager
def started(job: Mapping[str, Any], log: Path, *, sandbox: bool, source: str = "") -> Iterator[Child]:
    """The process with its job; it is gone when the block ends. `source` is another program in its place, for tests."""
    program = source or resources.files("reviewgauge.evolution").joinpath("child.py").read_text(encoding="utf-8")
    gepa = [check_gepa()] if job["optimizer"] == "gepa" else []
    standard = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    places = [Path(sys.base_prefix).resolve() / "lib", *standard, *gepa]
    whole = {
        **job,
        "libraries": [str(one.parent) for one in gepa],
        "standard": [str(one) for one in standard],
        "packages": [str(one) for one in gepa],
    }
    python = Path(getattr(sys, "_base_executable", sys.executable) or sys.executable)
    argv = [str(python), "-I", "-S", "-B", "-c", program]
    if sandbox:
        argv = sandboxed(argv, SandboxView(needed([python, *places])), Path("/"))
    with log.open("w", encoding="utf-8") as errors, _running(argv, errors) as process:
        child = Child(process, log)
        child.answer(**whole)
        yield child


@contextmanager
def _running(argv: list[str], errors: IO[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        encoding="utf-8",
        env={"PYTHONHASHSEED": "0", "LANG": "C.UTF-8", "PATH": os.defpath},
        cwd="/",
        start_new_session=True,  # Ctrl-C is for the parent, which ends it
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            try:
                if stream is not None:
                    stream.close()
            except BrokenPipeError:
                pass
