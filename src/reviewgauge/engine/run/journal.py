"""Append-only JSON lines that survive being killed at any moment."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Generic, NamedTuple, TypeVar

from filelock import FileLock, Timeout

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import FULL, open_within, read_within, sync_folder, write_error, writing
from reviewgauge.core.parsing import LONGEST_LINE, parse_record, placed_lines
from reviewgauge.core.stored import checked_line
from reviewgauge.models.cache.stores import CALLS, RecordedCalls, read_calls
from reviewgauge.models.request.messages import Answer, Call

R = TypeVar("R", bound=Record)


class PlacedRecord(NamedTuple, Generic[R]):
    """A record, the number of its line, and the bytes of the file that this line takes."""

    number: int
    start: int
    size: int
    record: R


class Journal(Generic[R]):
    """One file of records, one JSON line each. Reading needs nothing; writing follows `open_for_writing`."""

    def __init__(self, path: Path, model: type[R]) -> None:
        self.path, self.model = path, model
        self._descriptor: int | None = None

    @property
    def stamp(self) -> tuple[int, int, int] | None:
        """What changes when the file does; None while there is none."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def read(self, wanted: Callable[[bytes], bool] | None = None) -> Iterator[tuple[int, R]]:
        """(line number, record). A last line without its newline is still being written, or was torn: left out.

        Lines that are not `wanted` are passed over unread. Raises BadInput that names file, line and field for any
        other line that is not a record.
        """
        try:
            stream = os.fdopen(open_within(self.path, os.O_RDONLY), "rb")
        except FileNotFoundError:
            return
        with stream:
            for line in self.read_from(stream, wanted):
                yield line.number, line.record

    def read_from(self, stream: BinaryIO, wanted: Callable[[bytes], bool] | None = None) -> Iterator[PlacedRecord[R]]:
        """As `read`, from the file opened by the caller, with the place of each line in it."""
        for number, start, line in placed_lines(stream, str(self.path)):
            if line.endswith(b"\n") and (wanted is None or wanted(line)):
                yield PlacedRecord(number, start, len(line), parse_record(self.model, line, str(self.path), number))

    def open_for_writing(self) -> None:
        """Open at the end, after moving half a line that a killed process left into `<name>.torn`."""
        try:
            new = not self.path.exists()
            self._descriptor = open_within(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            if new:
                sync_folder(self.path.parent)
            size = os.fstat(self._descriptor).st_size
            keep = _end_of_last_line(self._descriptor, size)
            if keep < size:
                self._move_torn(keep, size)
        except OSError as error:
            self.close()
            raise write_error(self.path, error) from None

    def _move_torn(self, keep: int, size: int) -> None:
        assert self._descriptor is not None
        torn = os.pread(self._descriptor, min(size - keep, LONGEST_LINE), keep)
        aside = self.path.with_name(self.path.name + ".torn")
        try:
            with writing(aside, append=True) as out:
                out.write(torn + b"\n")
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            if error.errno not in FULL:  # on a full disk the folder can still be cleaned up
                raise
        os.ftruncate(self._descriptor, keep)
        os.fsync(self._descriptor)

    def write(self, record: R, *, sync: bool = True) -> None:
        """Append one line in one write. With `sync` it is on the disk when this returns.

        Raises UserError; whatever came before is untouched, and half a line is taken back.
        """
        line = checked_line(record)
        if self._descriptor is None:
            raise UserError(f"{self.path} is open for reading only")
        start = os.fstat(self._descriptor).st_size
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            if sync:
                os.fsync(self._descriptor)
        except BaseException as error:  # also Ctrl-C between two halves of a line
            os.ftruncate(self._descriptor, start)
            if isinstance(error, OSError):
                raise write_error(self.path, error) from None
            raise

    def sync(self) -> None:
        """Put on the disk what was written without `sync`."""
        if self._descriptor is None:
            return
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise write_error(self.path, error) from None

    def close(self) -> None:
        """Close the file; reading still works."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _end_of_last_line(descriptor: int, size: int) -> int:
    """The offset behind the last newline: where the next whole line belongs."""
    end = size
    while end > 0:
        start = max(0, end - (1 << 16))
        at = os.pread(descriptor, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


class Lock:
    """The lock on a run folder. The file holds the writer's process id for people to read; it is never removed."""

    def __init__(self, path: Path) -> None:
        """Take the lock. Raises UserError that names the process which has it."""
        self._path = path
        try:
            os.close(open_within(path, os.O_RDWR | os.O_CREAT))  # filelock would follow a link, and empty its target
        except OSError as error:
            raise write_error(path, error) from None
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
            self._label(f"{os.getpid()}\n")

    def _label(self, text: str) -> None:
        with os.fdopen(open_within(self._path, os.O_WRONLY | os.O_TRUNC), "w") as out:
            out.write(text)

    def release(self) -> None:
        """Let the next writer in."""
        if self._lock.is_locked:
            with suppress(OSError):
                self._label("")
            self._lock.release()


def writer_of(lock: Path) -> int | None:
    """The process on this machine that holds the lock of a run folder; None where none does."""
    holder = _holding(lock)
    try:
        os.kill(int(holder), 0)  # asks whether it is there
    except PermissionError:
        pass  # it is, and is somebody else's
    except (OSError, ValueError, OverflowError):
        return None
    return int(holder)


def _holding(path: Path) -> str:
    try:
        return read_within(path, 100).decode("utf-8", "replace").strip()
    except (OSError, UserError):
        return ""


def _holder(path: Path) -> str:
    holder = _holding(path)
    return "this process" if holder == str(os.getpid()) else f"process {holder}" if holder else "another process"


class CallLog:
    """The calls of one folder, which pays for them as `payer`. Safe for several threads; the first call makes the file.

    A paid call is always written. An answer from a cache is written once, and again only if it differs from the one on
    record: the last line under a key is the answer that was used.
    """

    def __init__(self, folder: Path, payer: str = "") -> None:
        self.path, self.payer = folder / CALLS, payer
        self._journal = Journal(self.path, Call)
        self._lock = threading.Lock()
        self._open = self._unsynced = False
        self._before: RecordedCalls | None = None
        self._now: dict[str, Answer] = {}

    def append_call(self, call: Call, *, ours: bool = False) -> None:
        """Record one call; it is with the operating system when this returns, and on the disk after `sync`.

        `ours`: the answer came from a cache, and this run paid for it before it was killed.
        """
        with self._lock:
            if not self._open:
                self._begin()
            if not call.paid:
                if self._holds(call):
                    return
                call = call.model_copy(update={"paid": ours})
            self._journal.write(call, sync=False)
            self._now[call.key] = call.answer
            self._unsynced = True

    def _begin(self) -> None:
        self._journal.open_for_writing()
        self._before = RecordedCalls(self.path)
        self._open = True

    def _holds(self, call: Call) -> bool:
        if call.key in self._now:
            return self._now[call.key] == call.answer
        assert self._before is not None
        recorded = self._before.get(call.key)
        return recorded is not None and recorded.answer == call.answer

    def read(self) -> Iterator[Call]:
        """The calls, oldest first; none where there is no file."""
        if self.path.exists():
            yield from read_calls(self.path)

    def unkept_calls(self) -> Iterator[Call]:
        """The calls that the cache could not take when they were paid for."""
        for _, call in self._journal.read(lambda line: b'"unkept":true' in line):
            yield call

    def spent(self) -> float:
        """Dollars paid, as far as the prices were known."""
        return sum(call.answer.usage.dollars or 0.0 for call in self.read() if call.paid)

    def sync(self) -> None:
        """Put on the disk what was appended."""
        if self._unsynced:
            self._unsynced = False
            self._journal.sync()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._before is not None:
                self._before.close()
            self._journal.close()
            self._before, self._open = None, False
