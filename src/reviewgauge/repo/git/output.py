"""What a process says on both its pipes, with a limit on time.

`Popen.communicate` with a limit sleeps in steps of up to 50 ms once the pipes are at their end. For a process of 5 ms,
as one `git blame` is, that is a tenth of its time.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from subprocess import TimeoutExpired

_BLOCK = 1 << 18


def gather(process: subprocess.Popen[bytes], seconds: float) -> tuple[bytes, bytes]:
    """(output, errors) of a process that reads nothing; it has ended then. Raises TimeoutExpired after `seconds`."""
    assert process.stdout is not None and process.stderr is not None
    until = time.monotonic() + seconds
    parts: dict[int, list[bytes]] = {process.stdout.fileno(): [], process.stderr.fileno(): []}
    waiting = select.poll()
    for pipe in parts:
        waiting.register(pipe, select.POLLIN)
    running = len(parts)
    while running:
        left = until - time.monotonic()
        ready = waiting.poll(1000 * left) if left > 0 else []
        if not ready:
            raise TimeoutExpired(process.args, seconds)
        for pipe, _ in ready:
            piece = os.read(pipe, _BLOCK)
            if piece:
                parts[pipe].append(piece)
            else:
                waiting.unregister(pipe)
                running -= 1
    _wait(process, until)
    out, errors = (b"".join(some) for some in parts.values())
    return out, errors


def _wait(process: subprocess.Popen[bytes], until: float) -> None:
    """Wait for the end of a process, which is near; without steps where the system can tell when it comes."""
    with contextlib.suppress(AttributeError, OSError):  # no pidfd on this system
        ended = os.pidfd_open(process.pid)
        try:
            waiting = select.poll()
            waiting.register(ended, select.POLLIN)
            waiting.poll(1000 * max(0.0, until - time.monotonic()))
        finally:
            os.close(ended)
    process.wait(timeout=max(0.0, until - time.monotonic()))
