"""Waiting until something has happened, however long a busy machine takes, and until processes have ended."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

HANGS = 900.0  # seconds after which it will never happen


def until(holds: Callable[[], object], process: subprocess.Popen[str] | subprocess.Popen[bytes] | None = None) -> None:
    """Return once `holds`; fail once `process` has ended without it."""
    end = time.monotonic() + HANGS
    while not holds():
        assert process is None or process.poll() is None or holds(), "it ended before"
        assert time.monotonic() < end, "it never happens"
        time.sleep(0.01)


class Pulse:
    """A named pipe that processes hold open as long as they live, and write a line to when they have begun."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._pipe, self._read = os.open(path, os.O_RDONLY | os.O_NONBLOCK), b""
        self.hold = f"exec 9> '{path}'; echo >&9"  # for a shell; what it starts holds it too

    def begun(self, count: int) -> bool:
        """Whether so many lines were written."""
        self.gone()
        return self._read.count(b"\n") >= count

    def gone(self) -> bool:
        """Whether nobody holds it."""
        with suppress(BlockingIOError):  # somebody does
            while piece := os.read(self._pipe, 1000):
                self._read += piece
            return True
        return False
