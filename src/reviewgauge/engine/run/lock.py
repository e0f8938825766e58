"""One writer at a time: a file lock that the operating system releases when its process ends, however it ends."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.journal import write_error


class Lock:
    """The lock on a run folder. The file holds the writer's process id for people to read; it is never removed."""

    def __init__(self, path: Path) -> None:
        """Take the lock. Raises UserError that names the process which has it."""
        self._path = path
        self._lock = FileLock(path, timeout=0, mode=0o644, thread_local=False, fallback_to_soft=False)
        try:
            self._lock.acquire()
        except Timeout:
            raise UserError(
                f"{path.parent} is being written by {_holder(path)}",
                remedy="wait until it ends, or use another folder",
            ) from None
        except NotImplementedError:
            raise UserError(f"cannot lock {path}: its file system has no locks", remedy="use a local disk") from None
        except OSError as error:
            raise write_error(path, error) from None
        with suppress(OSError):  # a full disk: the lock holds without its label
            path.write_text(f"{os.getpid()}\n")

    def release(self) -> None:
        """Let the next writer in."""
        if self._lock.is_locked:
            with suppress(OSError):
                self._path.write_text("")
            self._lock.release()


def _holder(path: Path) -> str:
    try:
        holder = path.read_text(errors="replace").strip()
    except OSError:
        holder = ""
    return "this process" if holder == str(os.getpid()) else f"process {holder}" if holder else "another process"
