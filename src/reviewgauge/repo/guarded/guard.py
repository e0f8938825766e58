"""The process that starts a program and ends it with all that it started: a guard between us and it.

It is started as a program (`python -I -S guard.py`), so that the program ends even when we are killed: its stdin is a
pipe that closes then, and the folders made for it go too. It reads one JSON line from stdin (`argv`, `cwd`, `env`,
`stdin`, `seconds`, `out`, `err`, `processes`, `namespace`, and those folders in `scratch`) and prints one line as soon
as the program runs (`hold`), one when everything is over (`ended`, `code`, `words`, `left`, `seconds`, `remain`, and
`out` and `err`, the lengths of what follows), then what the program printed. It imports nothing of ReviewGauge.

`hold` says how the program is held:

- `namespace`: in a PID namespace, with a /proc of its own. When its first process (ours) is killed, the system kills
  every other one at once, and lets the first one end only after they are gone.
- `adopted`: where the system allows no namespace. The guard is a subreaper: whatever the program leaves behind, also in
  sessions of its own, becomes a child of the guard, and is killed until the system says that there is no child.
- `group`: where there are no subreapers (macOS). The process group is killed; sessions of its own are not seen.

`remain` is None where everything is known to be gone. Otherwise it names the processes that were seen and could not be
ended in time, as far as the system tells of any.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import selectors
import signal
import subprocess
import sys
import time

TYPE_CHECKING = False  # every program waits for the imports
if TYPE_CHECKING:
    from typing import Any, NoReturn

SUBREAPER, DEATH_SIGNAL, DUMPABLE = 36, 1, 4  # prctl's numbers
NEW_USER, NEW_PID, NEW_MOUNTS = 0x10000000, 0x20000000, 0x00020000  # unshare's flags
NO_SUID, NO_DEVICES, NO_EXEC, RECURSIVE, SLAVE = 2, 4, 8, 0x4000, 0x80000  # mount's flags
LOOK = 0.02  # seconds between two looks at the clock
COUNT = 0.2  # seconds between two counts of the processes
ENDING = 8.0  # seconds to end everything
QUICK = 500  # rounds of ending without a pause: a chain that forks and exits must meet one between two steps
BLOCK = 1 << 16


def main() -> None:
    """Run the job on stdin."""
    job = json.loads(sys.stdin.buffer.readline())
    adopts = _call("prctl", SUBREAPER, 1, 0, 0, 0)
    began = time.monotonic()
    try:
        program = _Program(job, adopts)
    except (OSError, ValueError) as error:
        _print({"hold": ""})
        _report({"ended": "not started", "words": getattr(error, "strerror", None) or str(error)}, b"", b"")
        return
    _print({"hold": program.hold})
    ended = program.watch(began + job["seconds"])
    left, remain = program.end()
    if ended == "abandoned":
        import shutil

        for folder in job["scratch"]:
            with contextlib.suppress(RecursionError):  # of a tree that is meant to be too deep
                shutil.rmtree(folder, ignore_errors=True)
    seconds = round(time.monotonic() - began, 3)
    answer = {"ended": ended, "code": program.code, "left": left, "remain": remain, "seconds": seconds}
    _report(answer, bytes(program.out), bytes(program.err))


class _Program:
    """The running program and its output so far: all of stdout up to a limit, the end of stderr."""

    def __init__(self, job: dict[str, Any], adopts: bool) -> None:
        self.most_out, self.most_err, self.most_processes = job["out"], job["err"], job["processes"]
        self.out, self.err = bytearray(), bytearray()
        self.code: int | None = None
        out, err = os.pipe(), os.pipe()
        self.status: Any = None
        self.pid = 0  # of the program, or of the first process of its namespace
        if adopts and job["namespace"]:
            self.pid, self.status = _start_namespace(job, out[1], err[1])
        self.hold = "namespace" if self.pid else "adopted" if adopts else "group"
        if not self.pid:
            self.process = _start(job, out[1], err[1])
            self.pid = self.process.pid
        self.pipes = selectors.DefaultSelector()
        for (pipe, ours), name in ((out, "out"), (err, "err")):
            os.close(ours)
            os.set_blocking(pipe, False)
            self.pipes.register(pipe, selectors.EVENT_READ, name)
        self.pipes.register(sys.stdin.buffer, selectors.EVENT_READ, "us")
        with contextlib.suppress(AttributeError, OSError):  # else its end is seen at the next look
            over = self.status.fileno() if self.status is not None else os.pidfd_open(self.pid)
            self.pipes.register(over, selectors.EVENT_READ, "over")

    def watch(self, deadline: float) -> str:
        """How it ended: `exit`, or the limit that it exceeded; `abandoned` when our parent is gone."""
        counted = 0.0
        while True:
            if not self._read(LOOK):
                return "abandoned"
            if len(self.out) > self.most_out:
                return "output"
            if self._is_over():
                while self._read(0.0) and self.fresh and len(self.out) <= self.most_out:
                    pass  # what is still in the pipes
                return "output" if len(self.out) > self.most_out else "exit"
            now = time.monotonic()
            if now >= deadline:
                return "timeout"
            if now >= counted + COUNT:
                counted = now
                if len(self._others()) > self.most_processes:
                    return "processes"

    def end(self) -> tuple[int, list[str] | None]:
        """End it and whatever it left behind: how many processes were there beside the program, and what remains."""
        others = self._others()
        left = len([pid for pid in others if pid != self.pid]) - (self.status is not None and self.code is None)
        until, rounds = time.monotonic() + ENDING, 0
        while not (self._reap() and self._reap()):
            if time.monotonic() > until:
                return left, [_named(pid) for pid in _descendants()]
            self._kill(everything=rounds % 50 == 0)
            rounds += 1
            if rounds > QUICK:
                time.sleep(LOOK)
        return left, [] if self.hold == "group" else None

    def _kill(self, everything: bool) -> None:
        """One round: the groups of our children, ended ones included, as those of a chain have one; the children.

        A group is killed at once, also while its processes fork. Until we reap a child its number is not given away,
        and whoever comes from the program is in a session of its own. `everything`: what is further down, too, stopped
        first so that it has no children meanwhile.
        """
        if self.hold == "group":
            _signal(-self.pid, signal.SIGKILL)
        ours = os.getpgrp()
        for pid in _children():
            with contextlib.suppress(OSError):
                if (group := os.getpgid(pid)) > 1 and group != ours:
                    _signal(-group, signal.SIGKILL)
            _signal(pid, signal.SIGKILL)
        if everything:
            found = _descendants()
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for pid in found:
                    _signal(pid, number)

    def _others(self) -> list[int]:
        """The processes of the program: all that come from us but the first one of its namespace, which is ours."""
        return [pid for pid in _descendants() if self.status is None or pid != self.pid]

    def _read(self, seconds: float) -> bool:
        """Read all available output; False when our parent is gone. `fresh`: there was output."""
        self.fresh = False
        for key, _ in self.pipes.select(seconds):
            if key.data == "over":
                continue
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

    def _is_over(self) -> bool:
        """Whether the program has ended; `code` is known then."""
        if self.status is None:
            self._reap()
        elif select.select([self.status], [], [], 0)[0]:
            self.code = json.loads(self.status.readline() or '{"code": -9}')["code"]
        return self.code is not None

    def _reap(self) -> bool:
        """Reap every process that ended; True where the system says that we have no child, running or ended."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if not pid:
                return False
            if pid == self.pid and self.status is None:
                self.code = self.process.returncode = os.waitstatus_to_exitcode(status)


def _start(job: dict[str, Any], out: int, err: int) -> subprocess.Popen[bytes]:
    with open(job["stdin"] or os.devnull, "rb") as stdin:  # noqa: PTH123 - nothing but the built-ins is imported
        return subprocess.Popen(
            job["argv"],
            cwd=job["cwd"],
            env=job["env"],
            stdin=stdin,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=_before,  # noqa: PLW1509 - there is one thread here
        )


# --- a namespace of its own ----------------------------------------------------------------------------------------


def _start_namespace(job: dict[str, Any], out: int, err: int) -> tuple[int, Any]:
    """(the first process of a new PID namespace, the pipe that tells of its program); (0, None) where that is refused.

    A child of ours asks for the namespace, starts its first process and ends, so that we adopt that one. Raises OSError
    where the program cannot be started.
    """
    (status, told), (heard, go) = os.pipe(), os.pipe()
    helper = os.fork()
    if not helper:
        os.close(status)
        os.close(go)
        _found(job, out, err, told, heard)
    os.close(told)
    os.close(heard)
    os.waitpid(helper, 0)
    pipe = open(status, "rb", buffering=0)  # noqa: PTH123, SIM115 - it is read until the program's end
    first = json.loads(pipe.readline() or "0")
    with contextlib.suppress(BrokenPipeError):
        os.write(go, b".")  # and it stays open: its end is ours
    answer = json.loads(pipe.readline() or "{}")
    if "problem" in answer:
        raise OSError(0, answer["problem"])
    if answer:
        return first, pipe
    pipe.close()
    if first:
        os.waitpid(first, 0)
    return 0, None


def _found(job: dict[str, Any], out: int, err: int, told: int, heard: int) -> NoReturn:
    """In a process of its own: found a namespace, and say who is the first in it."""
    try:
        user, group = os.geteuid(), os.getegid()
        if not _call("unshare", NEW_PID):
            if not _call("unshare", NEW_USER | NEW_PID):
                os._exit(1)
            for name, text in (
                ("setgroups", "deny"),
                ("uid_map", f"{user} {user} 1"),
                ("gid_map", f"{group} {group} 1"),
            ):
                with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123
                    file.write(text)
        if pid := os.fork():
            os.write(told, b"%d\n" % pid)
        else:
            _be_first(job, out, err, told, heard)
    finally:
        os._exit(1)


def _be_first(job: dict[str, Any], out: int, err: int, told: int, heard: int) -> None:
    """The first process of the namespace: starts the program, says how it ended, and takes in orphans until killed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # without a handler it is deaf to all that the namespace sends
    if not os.read(heard, 1):
        return
    _call("prctl", DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if select.select([heard], [], [], 0)[0]:  # the guard ended before that
        return
    options = NO_SUID | NO_DEVICES | NO_EXEC
    if not (
        _call("unshare", NEW_MOUNTS)
        and _call("mount", b"none", b"/", None, RECURSIVE | SLAVE, None)
        and _call("mount", b"proc", b"/proc", b"proc", options, None)
        and os.readlink("/proc/self") == str(os.getpid())  # noqa: PTH115
    ):
        return
    _call("prctl", DUMPABLE, 0, 0, 0, 0)  # the program neither traces it nor finds its pipes
    with open(os.devnull, "r+b") as nothing:  # noqa: PTH123 - the guard's own pipes are not for it
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    try:
        program = _start(job, out, err)
    except (OSError, ValueError) as error:
        os.write(told, json.dumps({"problem": getattr(error, "strerror", None) or str(error)}).encode() + b"\n")
        return
    os.close(out)
    os.close(err)
    os.write(told, b'{"runs": true}\n')
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            signal.pause()
        else:
            if pid == program.pid:
                os.write(told, json.dumps({"code": os.waitstatus_to_exitcode(status)}).encode() + b"\n")


# --- the system ----------------------------------------------------------------------------------------------------


def _children() -> list[int]:
    """Our own children, ended ones included; by a walk over all processes where the system keeps no list."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return _parents().get(os.getpid(), [])


def _descendants() -> list[int]:
    """Every process that comes from this one and is not a zombie; empty where the system does not tell."""
    dead: set[int] = set()
    parents = _parents(dead)
    found, todo = [], [os.getpid()]
    while todo:
        children = parents.get(todo.pop(), [])
        found += [pid for pid in children if pid not in dead]
        todo += children
    return found


def _parents(dead: set[int] | None = None) -> dict[int, list[int]]:
    """The children of each process; those that have ended are put into `dead`, too."""
    parents: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - nothing but the built-ins is imported
    except OSError:
        return {}
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(name))
            if dead is not None and fields[0] in (b"Z", b"X"):
                dead.add(int(name))
    return parents


def _named(pid: int) -> str:
    """A process for a message: its number, and its name where that is known."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            name = "".join(c if c.isprintable() else "?" for c in file.read().strip())
            return f"{pid} ({name})"
    except OSError:
        return str(pid)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


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


def _report(answer: dict[str, Any], out: bytes, err: bytes) -> None:
    whole = {"code": None, "words": "", "left": 0, "remain": None, "seconds": 0.0, **answer}
    _print({**whole, "out": len(out), "err": len(err)}, out, err)


def _print(answer: dict[str, Any], *pieces: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.buffer.write(b"".join((json.dumps(answer).encode(), b"\n", *pieces)))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
    os._exit(0)  # without the interpreter's own tidying, for which we would wait
