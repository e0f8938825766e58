"""One writer at a time: an flock that the operating system lets go of when its process ends, however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.journal import write_error


class Lock:
    """The lock on a run folder. The file holds the writer's process id for people to read; it is never removed."""

    def __init__(self, path: Path) -> None:
        """Take the lock. Raises UserError that names the process which has it."""
        if sys.platform == "win32":
            raise UserError("run folders are locked with flock, which Windows does not have", remedy="use WSL")
        import fcntl

        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise write_error(path, error) from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            if not isinstance(error, BlockingIOError):
                raise UserError(f"cannot lock {path}: {error.strerror}", remedy="use a local disk") from None
            who = "this process" if holder == str(os.getpid()) else f"process {holder}" if holder else "another process"
            raise UserError(
                f"{path.parent} is being written by {who}", remedy="wait until it ends, or use another folder"
            ) from None
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError:  # a full disk: the lock holds without its label
            pass

    def release(self) -> None:
        """Let the next writer in."""
        if self._descriptor >= 0:
            import fcntl

            try:
                os.ftruncate(self._descriptor, 0)
                # Closing alone is not enough: a child between its fork and its exec still holds the open file.
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            finally:
                os.close(self._descriptor)
                self._descriptor = -1
