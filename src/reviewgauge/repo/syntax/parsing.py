"""Asks the parsing processes. What kills one (memory, time) is an answer too: the parser gave up on that source."""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.repo.syntax.grammars import GRAMMARS

SECONDS = 10.0  # for one source; ordinary ones take milliseconds
PROCESSES = 2
_ROOT = str(Path(__file__).resolve().parents[3])
_CODE = "import sys; sys.path.insert(0, {!r}); from reviewgauge.repo.syntax.worker import main; main()"
_READY = b"ready\n"


class Parsers:
    """Up to two parsing processes, started when they are needed. Safe to use from several threads."""

    def __init__(self, most: int = PROCESSES, seconds: float = SECONDS) -> None:
        self._most, self._seconds = most, seconds
        self._free = threading.Condition()
        self._idle: list[_Process] = []
        self._busy = 0
        self._owner = os.getpid()

    def ask(self, key: str, want: str, source: bytes) -> dict[str, Any] | None:
        """The worker's answer about a source; None where it died or took too long.

        Raises MissingExtra without tree-sitter or the grammar, UserError where the process does not start at all.
        """
        _check_installed(key)
        process = self._take()
        kept = False
        try:
            answer = process.ask(key, want, source, self._seconds)
            kept = answer is not None
        finally:
            if not kept:
                process.end()
            with self._free:
                self._busy -= 1
                if kept:
                    self._idle.append(process)
                self._free.notify()
        return answer

    def close(self) -> None:
        """End the processes that are idle; those of the process that this one was forked from are left alone."""
        with self._free:
            if self._owner == os.getpid():
                for process in self._idle:
                    process.end()
            self._idle = []

    def _take(self) -> _Process:
        with self._free:
            if self._owner != os.getpid():  # this process was forked: the pipes belong to the other one
                self._idle, self._busy, self._owner = [], 0, os.getpid()
            while not self._idle and self._busy >= self._most:
                self._free.wait()
            self._busy += 1
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
                process.end()  # somebody else ended it
        try:
            return _Process()
        except BaseException:
            with self._free:
                self._busy -= 1
                self._free.notify()
            raise


class _Process:
    """One parsing process."""

    def __init__(self) -> None:
        # `-I`: no PYTHON* variable and no folder of the user's on the path
        command = [sys.executable, "-I", "-c", _CODE.format(_ROOT)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=os.sep
        )
        if self._line(time.monotonic() + 60) != _READY:
            self._process.kill()
            _, said = self._process.communicate()
            reason = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise UserError(f"the parsing process does not start: {reason or self._process.returncode}")

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def ask(self, key: str, want: str, source: bytes, seconds: float) -> dict[str, Any] | None:
        """The answer; None where the process died or took too long."""
        head = json.dumps({"grammar": key, "want": want, "size": len(source)}).encode()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(head + b"\n" + source)
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self._line(time.monotonic() + seconds)
        if line is None:
            return None
        found: dict[str, Any] = json.loads(line)
        return found

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue

    def _line(self, until: float) -> bytes | None:
        """One line of its output; None where it ended or the time is over."""
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        parts: list[bytes] = []
        while (left := until - time.monotonic()) > 0:
            if not select.select([pipe], [], [], left)[0]:
                break
            part = os.read(pipe, 1 << 20)
            if not part:
                break
            parts.append(part)
            if part.endswith(b"\n"):
                return b"".join(parts)
        return None


def _check_installed(key: str) -> None:
    for module in ("tree_sitter", GRAMMARS[key].wheel):
        if module not in _FOUND:
            if importlib.util.find_spec(module) is None:
                raise MissingExtra(f"{module.replace('_', '-')}, which reads {GRAMMARS[key].name},", "build")
            _FOUND.add(module)


_FOUND: set[str] = set()
PARSERS = Parsers()
atexit.register(PARSERS.close)
