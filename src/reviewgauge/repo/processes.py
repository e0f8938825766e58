"""Child processes: read as they print, or kept and asked one question after the other.

`RecentlyUsed` keeps what they answered.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

_BLOCK = 1 << 18
_LONGEST_WAIT = 3600.0  # seconds of one call of the system
_PIPE = 1 << 16  # bytes that a pipe holds
_MOST_ERRORS = 4_000  # bytes of a child's errors that are read
_WORKER = f"import sys; sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r}); from {{}} import main; main()"


class ChildEnded(Exception):
    """A child ended before it had answered, or took too long (`late`). `errors`: what it wrote to standard error."""

    def __init__(self, problem: str, errors: str = "", code: int = 1, late: bool = False) -> None:
        super().__init__(problem)
        self.errors, self.code, self.late = errors, code, late


class Child:
    """A process that answers questions: started with the first one, and anew for the next after it ended.

    `start` gets the file for the child's standard error. An answer may take `seconds` (None: any time). Not for
    several threads at once.
    """

    def __init__(self, name: str, start: Callable[[IO[bytes]], subprocess.Popen[bytes]], seconds: float | None) -> None:
        self._name, self._start, self.seconds = name, start, seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._read = bytearray()
        self._deadline: float | None = None

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.poll() is None

    def ask(self, question: bytes) -> None:
        """Send a question. Raises ChildEnded."""
        if not self.alive:
            self.close()
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
            self._process = self._start(self._errors)
        assert self._process is not None and self._process.stdin is not None
        self._deadline = None if self.seconds is None else time.monotonic() + self.seconds
        try:
            self._process.stdin.write(question)
            self._process.stdin.flush()
        except OSError as error:
            raise self._ended(f"{self._name} ended: {error.strerror}") from None

    def line(self) -> bytes:
        """The next line of the answer, without its end. Raises ChildEnded, as all below."""
        while (at := self._read.find(b"\n")) < 0:
            self._receive()
        return self._cut(at + 1)[:-1]

    def take(self, size: int) -> bytes:
        """The next `size` bytes of the answer."""
        while len(self._read) < size:
            self._receive()
        return self._cut(size)

    def skip(self, size: int) -> None:
        """Read `size` bytes and forget them."""
        while size > 0:
            if not self._read:
                self._receive()
            size -= len(self._cut(min(size, len(self._read))))

    def until(self, end: bytes, most: int) -> bytes:
        """The answer up to `end`, its last line; at most `most` bytes."""
        while not self._read.endswith(end):
            if len(self._read) > most:
                raise self._ended(f"the answer of {self._name} is larger than {most} bytes")
            self._receive()
        return self._cut(len(self._read))[: -len(end)]

    def close(self) -> None:
        """End the process."""
        process, errors = self._process, self._errors
        self._process = self._errors = None
        self._read.clear()
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # what was not sent cannot be flushed
                        pipe.close()
        if errors is not None:
            errors.close()

    def _cut(self, size: int) -> bytes:
        found = bytes(self._read[:size])
        del self._read[:size]
        return found

    def _receive(self) -> None:
        if self._process is None or self._process.stdout is None:
            raise ChildEnded(f"{self._name} ended")
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        pipe = self._process.stdout.fileno()
        if left is not None and not select.select([pipe], [], [], left)[0]:
            raise self._ended(f"{self._name} took longer than {self.seconds:g} seconds", late=True)
        chunk = os.read(pipe, _PIPE)
        if not chunk:
            self._process.wait()
            raise self._ended(f"{self._name} ended without an answer")
        self._read += chunk

    def _ended(self, problem: str, late: bool = False) -> ChildEnded:
        """The error of a child that cannot go on, which is closed."""
        errors, code = "", 1
        if self._process is not None and self._errors is not None:
            code = self._process.poll() or code
            self._errors.seek(0)
            errors = self._errors.read(_MOST_ERRORS).decode("utf-8", "replace")
        self.close()
        return ChildEnded(problem, errors, code, late)


def start_tied(command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """Start a program in a session and group of its own, which the system ends when we are gone, however we end.

    It holds one end of a pipe, we the other; when ours closes, with this process, Linux sends the signal to the group.
    Elsewhere it ends when it next reads from us or writes to us. Raises as Popen does.
    """
    theirs, ours = os.pipe()
    try:
        process = subprocess.Popen(command, start_new_session=True, pass_fds=(theirs,), **how)
        weakref.finalize(process, os.close, ours)
    except BaseException:
        os.close(ours)
        raise
    else:
        with contextlib.suppress(AttributeError, OSError):  # only Linux has F_SETSIG; and it may have ended already
            fcntl.fcntl(theirs, fcntl.F_SETOWN, -process.pid)
            fcntl.fcntl(theirs, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(theirs, fcntl.F_SETFL, os.O_ASYNC)
    finally:
        os.close(theirs)
    return process


def start_worker(module: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start `main` of one of our modules as a child that is asked and answers. Raises as Popen does."""
    # `-I`: no PYTHON* variable and no folder of the user's on the path
    command = [sys.executable, "-I", "-c", _WORKER.format(module)]
    return start_tied(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=os.sep)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group, and its children, if it is still running."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def pieces(pipes: Collection[int], until: float) -> Iterator[tuple[int, bytes]]:
    """Each piece that comes out of a pipe, empty at its end, until all have ended. Raises TimeoutError at `until`."""
    waiting = select.poll()
    for pipe in pipes:
        waiting.register(pipe, select.POLLIN)
    running = len(pipes)
    while running:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        for pipe, _ in waiting.poll(1000 * min(left, _LONGEST_WAIT)):
            piece = os.read(pipe, _BLOCK)
            if not piece:
                waiting.unregister(pipe)
                running -= 1
            yield pipe, piece


_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class RecentlyUsed(Generic[_Key, _Value]):
    """The values that were used last, up to a total weight. Safe to use from several threads.

    `at_once` values are made at a time (0: any number), where each takes much memory.
    """

    def __init__(self, most: int, at_once: int = 0) -> None:
        self._most, self._weight = most, 0
        self._lock = threading.Lock()
        self._held: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()
        self._making: dict[_Key, threading.Lock] = {}
        self._places = threading.BoundedSemaphore(at_once) if at_once else contextlib.nullcontext()

    def get(self, key: _Key) -> _Value | None:
        """The value of `key`; None where it is not held."""
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def of(self, key: _Key, make: Callable[[], _Value], weigh: Callable[[_Value], int] = lambda _: 1) -> _Value:
        """The value of `key`, made where it is not held; who asks meanwhile waits for it."""
        value = self.get(key)
        if value is not None:
            return value
        with self._lock:
            mine = self._making.setdefault(key, threading.Lock())
        with mine, self._places:
            if (value := self.get(key)) is None:
                value = make()
                self.put(key, value, weigh(value))
        with self._lock:
            self._making.pop(key, None)
        return value

    def put(self, key: _Key, value: _Value, weight: int = 1) -> None:
        """Hold a value; those not used for longest make room, all but the newest."""
        with self._lock:
            self._weight += weight - self._held.pop(key, (value, 0))[1]
            self._held[key] = (value, weight)
            while self._weight > self._most and len(self._held) > 1:
                self._weight -= self._held.popitem(last=False)[1][1]
