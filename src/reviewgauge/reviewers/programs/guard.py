"""The process that starts a user's program and ends it with all that it started: a guard between us and it.

It is started as a program (`python -I -S _guard.py`), so that the program ends even when we are killed: its stdin is a
pipe that closes then, and the folders made for it go too. It reads one JSON line from stdin (`argv`, `cwd`, `env`,
`stdin`, `seconds`, `out`, `err`, `processes`, and those folders in `scratch`) and prints one line (`ended`, `code`,
`words`, `left`, `out`, `err`, `seconds`; the last three but one are the lengths of what follows), then what the program
printed. On Linux it adopts what the program leaves behind, also in sessions of their own, and ends that too; elsewhere
the process group is ended. It imports nothing of ReviewGauge.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

SUBREAPER, DEATH_SIGNAL = 36, 1  # prctl's numbers
LOOK = 0.02  # seconds between two looks at the clock
COUNT = 0.2  # seconds between two counts of the processes
BLOCK = 1 << 16


def main() -> None:
    """Run the job on stdin."""
    job = json.loads(sys.stdin.buffer.readline())
    _prctl(SUBREAPER, 1)
    began = time.monotonic()
    try:
        program = _Program(job)
    except (OSError, ValueError) as error:
        _report({"ended": "not started", "words": getattr(error, "strerror", None) or str(error)}, b"", b"")
        return
    ended = program.watch(began + job["seconds"])
    left = program.end()
    if ended == "abandoned":
        for folder in job["scratch"]:
            with contextlib.suppress(RecursionError):  # of a tree that is meant to be too deep
                shutil.rmtree(folder, ignore_errors=True)
    seconds = round(time.monotonic() - began, 3)
    answer = {"ended": ended, "code": program.code, "left": left, "seconds": seconds}
    _report(answer, bytes(program.out), bytes(program.err))


class _Program:
    """The running program and its output so far: all of stdout up to a limit, the end of stderr."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.most_out, self.most_err, self.most_processes = job["out"], job["err"], job["processes"]
        self.out, self.err = bytearray(), bytearray()
        self.code: int | None = None
        with open(job["stdin"] or os.devnull, "rb") as stdin:  # noqa: PTH123 - nothing but the built-ins is imported
            self.process = subprocess.Popen(
                job["argv"],
                cwd=job["cwd"],
                env=job["env"],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=_before,  # noqa: PLW1509 - there is one thread here
            )
        assert self.process.stdout is not None and self.process.stderr is not None
        self.pipes = selectors.DefaultSelector()
        for pipe, name in ((self.process.stdout, "out"), (self.process.stderr, "err")):
            os.set_blocking(pipe.fileno(), False)
            self.pipes.register(pipe, selectors.EVENT_READ, name)
        self.pipes.register(sys.stdin.buffer, selectors.EVENT_READ, "us")

    def watch(self, deadline: float) -> str:
        """How it ended: `exit`, or the limit that it exceeded; `abandoned` when our parent is gone."""
        counted = 0.0
        while True:
            if not self._read(LOOK):
                return "abandoned"
            if len(self.out) > self.most_out:
                return "output"
            if self._reap():
                while self._read(0.0) and self.fresh and len(self.out) <= self.most_out:
                    pass  # what is still in the pipes
                return "output" if len(self.out) > self.most_out else "exit"
            now = time.monotonic()
            if now >= deadline:
                return "timeout"
            if now >= counted + COUNT:
                counted = now
                if len(_descendants()) > self.most_processes:
                    return "processes"

    def end(self) -> int:
        """End it and whatever it left behind; how many processes were still there beside the program itself."""
        left = len([pid for pid in _descendants() if pid != self.process.pid])
        for _ in range(200):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            alive = _descendants()
            for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that none has children meanwhile
                for pid in alive:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, number)
            self._reap()
            if not _descendants() and self.code is not None:
                break
            time.sleep(LOOK)
        return left

    def _read(self, seconds: float) -> bool:
        """Read all available output; False when our parent is gone. `fresh`: there was output."""
        self.fresh = False
        for key, _ in self.pipes.select(seconds):
            data = os.read(key.fd, BLOCK)
            if key.data == "us":
                if not data:
                    return False
            elif not data:
                self.pipes.unregister(key.fileobj)
            else:
                self.fresh = True
                kept = self.out if key.data == "out" else self.err
                kept += data
                if key.data == "err" and len(kept) > self.most_err:
                    del kept[: len(kept) - self.most_err]
        return True

    def _reap(self) -> bool:
        """Reap every process that ended; True once the program has."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return self.code is not None
            if not pid:
                return self.code is not None
            if pid == self.process.pid:
                self.code = self.process.returncode = os.waitstatus_to_exitcode(status)


def _descendants() -> list[int]:
    """Every process that comes from this one and is not a zombie; empty where the system does not tell."""
    parents: dict[int, list[int]] = {}
    dead = set()
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - nothing but the built-ins is imported
    except OSError:
        return []
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(name))
            if fields[0] in (b"Z", b"X"):
                dead.add(int(name))
    found, todo = [], [os.getpid()]
    while todo:
        children = parents.get(todo.pop(), [])
        found += [pid for pid in children if pid not in dead]
        todo += children
    return found


def _before() -> None:
    """In the new process, before the program: it ends when the guard does, and leaves no core file."""
    _prctl(DEATH_SIGNAL, signal.SIGKILL)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # Linux alone has it
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _report(answer: dict[str, Any], out: bytes, err: bytes) -> None:
    whole = {"code": None, "words": "", "left": 0, "seconds": 0.0, **answer, "out": len(out), "err": len(err)}
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.buffer.write(json.dumps(whole).encode() + b"\n" + out + err)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
