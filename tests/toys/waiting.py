"""Waiting until something has happened, however long a busy machine takes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

HANGS = 900.0  # seconds after which it will never happen


def until(holds: Callable[[], object], process: subprocess.Popen[str] | subprocess.Popen[bytes] | None = None) -> None:
    """Return once `holds`; fail once `process` has ended without it."""
    end = time.monotonic() + HANGS
    while not holds():
        assert process is None or process.poll() is None or holds(), "it ended before"
        assert time.monotonic() < end, "it never happens"
        time.sleep(0.01)
