"""Runs a user's program under a guard process that ends it, and all that it started, in time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, NamedTuple

from reviewgauge.core.errors import UserError, one_line
from reviewgauge.repo.processes import Child, ChildEnded

_GUARD = Path(__file__).with_name("guard.py")
LAST_WORDS = 20_000  # bytes of stderr that are kept, from its end
_GRACE = 10.0  # seconds that the guard has to end everything

Ending = Literal["exit", "timeout", "output", "processes", "not started"]


@dataclass(frozen=True)
class ProcessLimits:
    """`seconds` of wall-clock time, `output` in bytes on stdout, `processes` at one time.

    A guard without an answer `patience` seconds later counts as stopped, which a hostile program can do.
    """

    seconds: float
    output: int
    processes: int
    patience: float = 60.0


@dataclass(frozen=True)
class Ended:
    """How a program ended. `code` is negative for a signal; `left` counts processes that it left behind (ended too)."""

    ending: Ending
    code: int | None
    out: bytes
    err: bytes
    words: str = ""
    left: int = 0
    seconds: float = 0.0


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
        raise UserError("running programs as reviewers needs Linux or macOS")
    job = {
        "argv": list(argv),
        "cwd": str(folder),
        "env": dict(environment),
        "stdin": str(stdin or ""),
        "seconds": limits.seconds,
        "out": limits.output,
        "err": LAST_WORDS,
        "processes": limits.processes,
        "scratch": [str(folder) for folder in scratch],
    }
    ours = {key: os.environ[key] for key in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if key in os.environ}

    def start(errors: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(_GUARD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=ours,
            cwd="/",
            start_new_session=True,  # Ctrl-C is ours to handle
        )

    guard = Child("the guard", start, min(limits.seconds + limits.patience, threading.TIMEOUT_MAX))
    try:
        guard.ask(json.dumps(job).encode() + b"\n")
        report = json.loads(guard.line())
        out, err = guard.take(report["out"]), guard.take(report["err"])
    except OSError as error:
        raise UserError(f"cannot start a process: {error.strerror}") from None
    except ChildEnded as error:
        if error.late:
            return Ended("timeout", None, b"", b"", seconds=limits.seconds)
        why = one_line(error.errors) or "it was killed, perhaps by the program"
        raise UserError(f"the process that supervises the program failed: {why}") from None
    finally:
        guard.finish(_GRACE)
    return Ended(report["ended"], report["code"], out, err, report["words"], report["left"], report["seconds"])


# ECMA-48: CSI (colours, cursor), strings such as OSC (titles, links) up to BEL or ST, and the short ones.
_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])",
)
_FEW = 0.01  # share of what is not text, above which it is taken for binary data


class Printed(NamedTuple):
    """`data` without escape sequences, and in UTF-8 where nearly all of it was; `replaced` counts the other bytes."""

    data: bytes
    replaced: int


def as_text(data: bytes) -> Printed:
    """`data` made readable for a format. Data that is hardly text stays as it is, so that a format rejects it."""
    plain = _ESCAPES.sub(b"", data)
    there = plain.count("\N{REPLACEMENT CHARACTER}".encode())
    text = plain.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    replaced = text.count("\N{REPLACEMENT CHARACTER}") - there
    if replaced > max(1, _FEW * len(text)):
        return Printed(plain, 0)
    return Printed(text.encode("utf-8") if replaced else plain, replaced)
