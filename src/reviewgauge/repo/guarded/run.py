"""Runs a program that is not ours under the guard, and returns once everything that it started has ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.files import search_path
from reviewgauge.repo.processes import Child, ChildEnded

_GUARD = Path(__file__).with_name("guard.py")
LAST_WORDS = 20_000  # bytes of stderr that are kept, from its end
_GRACE = 10.0  # seconds that the guard has to end everything

Ending = Literal["exit", "timeout", "output", "processes", "not started"]
_NO_MORE = "its guard ended first: what it started may still run"
UNSEEN = "this system cannot tell whether it left processes in sessions of their own"


@dataclass(frozen=True)
class ProcessLimits:
    """`seconds` of wall-clock time, `output` in bytes on stdout, `processes` at one time, `errors`: kept of stderr.

    A guard without an answer `patience` seconds later counts as stopped, which a hostile program can do outside of a
    namespace. `namespace=False` does without one.
    """

    seconds: float
    output: int
    processes: int
    patience: float = 60.0
    errors: int = LAST_WORDS
    namespace: bool = True


@dataclass(frozen=True)
class Ended:
    """How a program ended. `code` is negative for a signal; `left` counts processes that it left behind (ended too).

    `unproved` says which processes may still run; empty where all are known to be gone.
    """

    ending: Ending
    code: int | None
    out: bytes
    err: bytes
    words: str = ""
    left: int = 0
    seconds: float = 0.0
    unproved: str = ""


def run_guarded(
    argv: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limits: ProcessLimits,
    *,
    stdin: Path | None = None,
    scratch: Sequence[Path] = (),
) -> Ended:
    """Run `argv` in `folder` with `environment` alone, and return once all of its processes have ended.

    If this process is killed meanwhile, the program ends and the folders of `scratch` are removed. Raises UserError
    where the guard itself fails.
    """
    if os.name != "posix":
        raise UserError("running programs needs Linux or macOS")
    job = {
        "argv": list(argv),
        "cwd": str(folder),
        "env": dict(environment),
        "stdin": str(stdin or ""),
        "seconds": limits.seconds,
        "out": limits.output,
        "err": limits.errors,
        "processes": limits.processes,
        "namespace": limits.namespace,
        "scratch": [str(folder) for folder in scratch],
    }
    guard = Child("the guard", _start, min(limits.seconds + limits.patience, threading.TIMEOUT_MAX))
    hold = ""
    try:
        guard.ask(json.dumps(job).encode() + b"\n")
        hold = json.loads(guard.line())["hold"]
        report = json.loads(guard.line())
        out, err = guard.take(report["out"]), guard.take(report["err"])
    except OSError as error:
        raise UserError(f"cannot start a process: {error.strerror}") from None
    except ChildEnded as error:
        unproved = "" if hold == "namespace" else _NO_MORE  # the system ends a namespace with its guard
        if error.late:
            return Ended("timeout", None, b"", b"", seconds=limits.seconds, unproved=unproved)
        why = one_line(error.errors) or "it was killed, perhaps by the program"
        why = f"{why}; {unproved}" if unproved else why
        raise UserError(f"the process that supervises the program failed: {why}") from None
    finally:
        guard.finish(_GRACE)
    return Ended(
        report["ended"],
        report["code"],
        out,
        err,
        report["words"],
        report["left"],
        report["seconds"],
        _unproved(hold, report["remain"]),
    )


def _start(errors: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_GUARD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={key: found for key in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if (found := search_path(key))},
        cwd="/",
        start_new_session=True,  # Ctrl-C is ours to handle
    )


def _unproved(hold: str, remain: Sequence[str] | None) -> str:
    """What is not known to be gone, for the trace."""
    if remain is None:
        return ""
    if hold == "group":
        return UNSEEN
    known = f": {', '.join(remain[:5])}" if remain else ""
    more = f" and {len(remain) - 5} more" if len(remain) > 5 else ""
    return f"processes that it started could not be ended, and may still run{known}{more}"
