"""Runs a program that is not ours under the guard, and returns once everything that it started has ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.files import search_path
from reviewgauge.repo.guarded.sandbox import SandboxView, can_hold, held, sandboxed
from reviewgauge.repo.processes import pieces

_GUARD = Path(__file__).with_name("guard.py")
LAST_WORDS = 20_000  # bytes of stderr that are kept, from its end
_PATIENCE = 60.0  # seconds that the guard has to start, and to end everything: outside of a namespace it can be stopped
_GRACE = 10.0  # seconds that it has for that when we are interrupted
_BLOCK = 1 << 16

Ending = Literal["exit", "timeout", "output", "processes", "not started"]
_NO_MORE = "its guard ended first: what it started may still run"
UNSEEN = "this system cannot tell whether it left processes in sessions of their own"


@dataclass(frozen=True)
class ProcessLimits:
    """`seconds` of wall-clock time, `output` in bytes on stdout, `processes` at one time, `errors`: kept of stderr.

    `namespace=False` does without a PID namespace of its own.
    """

    seconds: float
    output: int
    processes: int
    errors: int = LAST_WORDS
    namespace: bool = True


@dataclass(frozen=True)
class Ended:
    """How a program ended. `code` is negative for a signal, or 128 and the signal where bubblewrap held it.

    `words` say why it could not be started; `unproved` which processes may still run, empty where all are known to be
    gone.
    """

    ending: Ending
    code: int | None
    out: bytes
    err: bytes
    words: str = ""
    seconds: float = 0.0
    unproved: str = ""


def run_guarded(
    argv: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limits: ProcessLimits,
    *,
    view: SandboxView | None = None,
    stdin: Path | None = None,
    scratch: Sequence[Path] = (),
) -> Ended:
    """Run `argv` in `folder` with `environment` alone, and return once all of its processes have ended.

    With a `view` it runs in a sandbox that shows that alone; else in a PID namespace where this machine allows one. If
    this process is killed meanwhile, the program ends and the folders of `scratch` are removed. Raises UserError where
    the guard itself fails.
    """
    if os.name != "posix":
        raise UserError("running programs needs Linux or macOS")
    is_held = view is not None or (limits.namespace and can_hold())
    told, theirs = os.pipe()
    try:
        if is_held:
            argv = held(argv, folder) if view is None else sandboxed(argv, view, folder)
        job = {
            "argv": list(argv),
            "cwd": str(folder),
            "env": dict(environment),
            "stdin": str(stdin or ""),
            "processes": limits.processes,
            "held": is_held,
            "scratch": [str(folder) for folder in scratch],
        }
        try:
            guard = _start(theirs)
        finally:
            os.close(theirs)
        with guard:
            try:
                return _GuardedProgram(guard, told, limits, is_held).run(job)
            finally:
                assert guard.stdin is not None
                guard.stdin.close()  # it ends everything, if it has not yet
                with contextlib.suppress(subprocess.TimeoutExpired):
                    guard.wait(_GRACE)
                guard.kill()
    except OSError as error:
        raise UserError(f"cannot start a process: {error.strerror}") from None
    finally:
        os.close(told)


def _start(told: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_GUARD), str(told)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env={key: found for key in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if (found := search_path(key))},
        cwd="/",
        start_new_session=True,  # Ctrl-C is ours to handle
        pass_fds=(told,),
    )


class _GuardedProgram:
    """A program under its guard: its output so far, and what was told of it."""

    def __init__(self, guard: subprocess.Popen[bytes], told: int, limits: ProcessLimits, is_held: bool) -> None:
        assert guard.stdin is not None and guard.stdout is not None and guard.stderr is not None
        self._orders, self._out, self._err = guard.stdin, guard.stdout.fileno(), guard.stderr.fileno()
        self._told, self._limits, self._held = told, limits, is_held
        self._read = {pipe: bytearray() for pipe in (self._out, self._err, told)}
        self._open = set(self._read)
        self._ending: Ending | None = None

    def run(self, job: Mapping[str, Any]) -> Ended:
        """Start it, see it through, and say how it ended."""
        self._order(json.dumps(job).encode() + b"\n")
        runs = self._until(time.monotonic() + _PATIENCE, b"\n")
        began = time.monotonic()
        answered = runs and self._until(began + self._limits.seconds)
        if not answered:
            self._ending = self._ending or "timeout"
            self._order(b".")
            answered = self._until(time.monotonic() + _PATIENCE)
        return self._ended(answered, time.monotonic() - began)

    def _order(self, order: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):  # it ended: what it told, or did not, says how
            while order:
                order = order[self._orders.write(order) or 0 :]

    def _until(self, end: float, text: bytes = b"") -> bool:
        """Read until the guard told `text`, or all; False where it is to end the program before: at `end`, or by size.

        What comes after a limit was passed is not kept.
        """
        with contextlib.suppress(TimeoutError):
            for pipe, piece in pieces(set(self._open), end) if self._told in self._open else ():
                self._keep(pipe, piece)
                if not piece:
                    self._open.remove(pipe)
                if len(self._read[self._out]) > self._limits.output and self._ending is None:
                    self._ending = "output"
                    return False
                if self._told not in self._open or (text and text in self._read[self._told]):
                    return True
        return self._told not in self._open

    def _keep(self, pipe: int, piece: bytes) -> None:
        if pipe != self._out or self._ending is None:
            self._read[pipe] += piece
        if pipe == self._err:
            del self._read[pipe][: -self._limits.errors]

    def _ended(self, answered: bool, seconds: float) -> Ended:
        told: dict[str, Any] = {}
        for line in self._read[self._told].splitlines():
            told |= json.loads(line)
        if answered:
            self._drain()
        out, err = bytes(self._read[self._out]), bytes(self._read[self._err])
        if "problem" in told:
            return Ended("not started", None, b"", b"", told["problem"])
        unproved = "" if self._held else _NO_MORE  # the system ends a namespace with its guard
        if not answered:
            return Ended("timeout", None, out, err, seconds=seconds, unproved=unproved)
        if "ended" not in told:
            why = "" if told else one_line(err.decode("utf-8", "replace"))
            why = f"{why or 'it was killed, perhaps by the program'}{'; ' * bool(unproved)}{unproved}"
            raise UserError(f"the process that supervises the program failed: {why}")
        if told["ended"] == "exit" and not told["started"]:
            return Ended("not started", None, b"", b"", one_line(err.decode("utf-8", "replace")))
        ending = self._ending or told["ended"]
        if ending == "exit" and len(out) > self._limits.output:
            ending = "output"
        return Ended(ending, told["code"], out, err, "", seconds, _unproved(told["adopts"], told["remain"]))

    def _drain(self) -> None:
        """Read what is still in the pipes, which hold no more once everything ended."""
        for pipe in (self._out, self._err):
            os.set_blocking(pipe, False)
            with contextlib.suppress(BlockingIOError):
                for _ in range(100):  # somebody may still write
                    self._keep(pipe, os.read(pipe, _BLOCK))


def _unproved(adopts: bool, remain: Sequence[int] | None) -> str:
    """What is not known to be gone, for the trace."""
    if remain is None:
        return ""
    if not adopts and not remain:
        return UNSEEN
    known = f": {', '.join(map(str, remain[:5]))}" if remain else ""
    more = f" and {len(remain) - 5} more" if len(remain) > 5 else ""
    return f"processes that it started could not be ended, and may still run{known}{more}"
