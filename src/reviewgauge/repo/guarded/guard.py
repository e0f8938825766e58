"""The process that starts a program and ends it with all that it started: a guard between us and it.

It is started as a program (`python -I -S guard.py FD`), so that the program ends even when we are killed: its stdin is
a pipe that closes then, and the folders made for it go too. It reads one JSON line from stdin (`argv`, `cwd`, `env`,
`stdin`, `processes`, `held`, and those folders in `scratch`), and starts the program with its own stdout and stderr. On
the pipe FD it prints one JSON line as soon as the program runs (`adopts`) and one when everything is over (`ended`,
`code`, `started`, `remain`). A byte on stdin tells it to end the program. It imports nothing of ReviewGauge.

The guard is a subreaper: whatever the program leaves behind, also in sessions of its own, becomes a child of the guard,
and is killed until the system says that there is no child. A program that is `held` is a bubblewrap with a PID
namespace, which the system ends as a whole, and from which the guard cannot be seen. Where there are no subreapers
(macOS) the process group is killed, and sessions of its own are not seen.

`remain` is None where everything is known to be gone. Otherwise it names the processes that were seen and could not be
ended in time, as far as the system tells of any.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time

TYPE_CHECKING = False  # every program waits for the imports
if TYPE_CHECKING:
    from typing import Any

SUBREAPER, DEATH_SIGNAL = 36, 1  # prctl's numbers
HOLDERS = 2  # processes of bubblewrap's around a program that it holds
LOOK = 0.02  # seconds between two looks whether the program ended, where the system does not tell
COUNT = 0.2  # seconds between two counts of the processes
ENDING = 8.0  # seconds to end everything
BLOCK = 1 << 16
QUICK = 500  # rounds of ending without a pause: a chain that forks and exits must meet one between two steps


def main() -> None:
    """Run the job on stdin."""
    told = int(sys.argv[1])
    job = json.loads(sys.stdin.buffer.readline())
    adopts = _call("prctl", SUBREAPER, 1, 0, 0, 0)
    try:
        program = _Program(job)
    except (OSError, ValueError) as error:
        _tell(told, problem=getattr(error, "strerror", None) or str(error))
        return
    _tell(told, adopts=adopts)
    ended = program.watch(job["processes"] + HOLDERS * job["held"])
    gone = program.end(adopts)
    if ended == "abandoned":
        import shutil

        for folder in job["scratch"]:
            with contextlib.suppress(RecursionError):  # of a tree that is meant to be too deep
                shutil.rmtree(folder, ignore_errors=True)
    remain = None if gone and adopts else [] if gone else _descendants()
    _tell(told, ended=ended, code=program.code, started=program.has_started(), remain=remain)


class _Program:
    """The running program; `code` is known once it has ended."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.code: int | None = None
        self.status, theirs = os.pipe() if job["held"] else (0, 0)  # where bubblewrap tells of it
        argv = job["argv"]
        with open(job["stdin"] or os.devnull, "rb") as stdin:  # noqa: PTH123 - nothing but the built-ins is imported
            self.process = subprocess.Popen(
                argv[:1] + ["--json-status-fd", str(theirs)] * job["held"] + argv[1:],
                cwd=job["cwd"],
                env=job["env"],
                stdin=stdin,
                start_new_session=True,
                pass_fds=(theirs,) * job["held"],
                preexec_fn=_before,  # noqa: PLW1509 - there is one thread here
            )
        if theirs:
            os.close(theirs)
        nothing = os.open(os.devnull, os.O_RDWR)  # both pipes are the program's alone, and end with it
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)

    def watch(self, most: int) -> str:
        """How it ended: `exit`, `processes` for more than `most`, `told`, or `abandoned` when our parent is gone."""
        counted, watched = 0.0, [0]
        with contextlib.suppress(AttributeError, OSError):
            watched.append(os.pidfd_open(self.process.pid))
        while True:
            self._reap()
            if self.code is not None:
                return "exit"
            if 0 in select.select(watched, [], [], LOOK)[0]:
                return "told" if os.read(0, 1) else "abandoned"
            now = time.monotonic()
            if now >= counted + COUNT:
                counted = now
                if len(_descendants()) > most:
                    return "processes"

    def has_started(self) -> bool:
        """Whether the program itself was started: bubblewrap's exit code alone does not tell."""
        return not self.status or b"exit-code" in os.read(self.status, BLOCK)

    def end(self, adopts: bool) -> bool:
        """End it and whatever it left behind; False where the system still had a child of ours at the end."""
        until, rounds = time.monotonic() + ENDING, 0
        while not (self._reap() and self._reap()):
            if time.monotonic() > until:
                return False
            self._kill(adopts)
            rounds += 1
            if rounds > QUICK:
                time.sleep(LOOK)
        return True

    def _kill(self, adopts: bool) -> None:
        """One round: the groups of our children, ended ones included, as those of a chain have one; the children.

        A group is killed at once, also while its processes fork. Until we reap a child its number is not given away,
        and whoever comes from the program is in a session of its own.
        """
        if not adopts:
            _signal(-self.process.pid)
        ours = os.getpgrp()
        for pid in _children():
            with contextlib.suppress(OSError):
                if (group := os.getpgid(pid)) > 1 and group != ours:
                    _signal(-group)
            _signal(pid)

    def _reap(self) -> bool:
        """Reap every process that ended; True where the system says that we have no child, running or ended."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if not pid:
                return False
            if pid == self.process.pid:
                self.code = self.process.returncode = os.waitstatus_to_exitcode(status)


# --- the system ----------------------------------------------------------------------------------------------------


def _children() -> list[int]:
    """Our own children, ended ones included; by a walk over all processes where the system keeps no list."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return _parents().get(os.getpid(), [])


def _descendants() -> list[int]:
    """Every running process that comes from this one; empty where the system does not tell."""
    parents = _parents()
    found, todo = [], [os.getpid()]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def _parents() -> dict[int, list[int]]:
    """The running children of each process."""
    parents: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - nothing but the built-ins is imported
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state not in (b"Z", b"X"):
                    parents.setdefault(int(parent), []).append(int(name))
    return parents


def _signal(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _before() -> None:
    """In the new process, before the program: it ends when the guard does, and leaves no core file."""
    _call("prctl", DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _call(name: str, *arguments: object) -> bool:
    """Call a function of the C library; whether it is there and worked."""
    try:
        return bool(getattr(ctypes.CDLL(None), name)(*arguments) == 0)
    except (OSError, AttributeError):  # Linux alone has them
        return False


def _tell(told: int, **answer: Any) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(told, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
    os._exit(0)  # without the interpreter's own tidying, for which we would wait
