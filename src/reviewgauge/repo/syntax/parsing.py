"""The parsing processes. Where a source kills one (by memory or time), the parser gave up on that source."""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.repo.processes import Child, ChildEnded
from reviewgauge.repo.syntax.grammars import GRAMMARS

SECONDS = 10.0  # for one source; ordinary ones take milliseconds
PROCESSES = 2
_ROOT = str(Path(__file__).resolve().parents[3])
_CODE = "import sys; sys.path.insert(0, {!r}); from reviewgauge.repo.syntax.worker import main; main()"
_READY = b"ready"
_SECONDS_TO_START = 60.0


class Parsers:
    """Up to two parsing processes, started when they are needed. Safe to use from several threads."""

    def __init__(self, most: int = PROCESSES, seconds: float = SECONDS) -> None:
        self._most, self._seconds = most, seconds
        self._free = threading.Condition()
        self._idle: list[Child] = []
        self._busy = 0
        self._owner = os.getpid()

    def ask(self, key: str, want: str, source: bytes) -> dict[str, Any] | None:
        """The worker's answer about a source; None where it died or took too long.

        Raises MissingExtra without tree-sitter or the grammar, UserError where the process does not start at all.
        """
        _check_installed(key)
        head = json.dumps({"grammar": key, "want": want, "size": len(source)}).encode()
        child = self._take()
        child.seconds = self._seconds
        answered = False
        try:
            child.ask(head + b"\n" + source)
            answer: dict[str, Any] = json.loads(child.line())
            answered = True
            return answer
        except ChildEnded:
            return None
        finally:
            if not answered:
                child.close()
            with self._free:
                self._busy -= 1
                if answered:
                    self._idle.append(child)
                self._free.notify()

    def close(self) -> None:
        """End the processes that are idle; those of the process that this one was forked from are left alone."""
        with self._free:
            if self._owner == os.getpid():
                for child in self._idle:
                    child.close()
            self._idle = []

    def _take(self) -> Child:
        with self._free:
            if self._owner != os.getpid():  # this process was forked: the pipes belong to the other one
                self._idle, self._busy, self._owner = [], 0, os.getpid()
            while not self._idle and self._busy >= self._most:
                self._free.wait()
            self._busy += 1
            while self._idle:
                child = self._idle.pop()
                if child.alive:
                    return child
                child.close()  # ended by something else
        try:
            return _started()
        except BaseException:
            with self._free:
                self._busy -= 1
                self._free.notify()
            raise


def _start(errors: IO[bytes]) -> subprocess.Popen[bytes]:
    # `-I`: no PYTHON* variable and no folder of the user's on the path
    command = [sys.executable, "-I", "-c", _CODE.format(_ROOT)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=os.sep)


def _started() -> Child:
    """A parsing process that is ready. Raises UserError where it does not start at all."""
    child = Child("the parser", _start, _SECONDS_TO_START)
    try:
        child.ask(b"")
        ready = child.line() == _READY
        reason = "" if ready else "it printed something else than that it is ready"
    except ChildEnded as error:
        reason = error.errors.strip().rpartition("\n")[2] or str(error)
    if reason:
        child.close()
        raise UserError(f"the parsing process does not start: {reason}")
    return child


def _check_installed(key: str) -> None:
    for module in ("tree_sitter", GRAMMARS[key].wheel):
        if module not in _FOUND:
            if importlib.util.find_spec(module) is None:
                raise MissingExtra(f"{module.replace('_', '-')}, which reads {GRAMMARS[key].name},", "build")
            _FOUND.add(module)


_FOUND: set[str] = set()
PARSERS = Parsers()
atexit.register(PARSERS.close)
