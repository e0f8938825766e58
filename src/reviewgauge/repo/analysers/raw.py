"""What every analyser returns, and how a program is run on files that nobody trusts."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

STACK = 256 << 20  # bytes; a sum of some thousand terms in generated code nests as deep, and is not a reason to crash
OUTPUT_LIMIT = 200_000_000  # bytes of a tool's output that are read


@dataclass(frozen=True, slots=True)
class RawFinding:
    """One complaint in a tool's own words. Lines are 1-based and count in the head version.

    `function` is set where the complaint is about a whole function, which then reaches from `start` to `end`.
    """

    tool: str
    rule: str
    path: str
    start: int
    end: int
    message: str
    level: str = ""
    function: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that a tool could not read, and why. It is counted, and it is not a failure."""

    tool: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Output:
    """What one tool made of one change. `functions` holds (name, first line, last line) by path."""

    findings: tuple[RawFinding, ...] = ()
    unread: tuple[Unread, ...] = ()
    functions: Mapping[str, Sequence[tuple[str, int, int]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnalyserJob:
    """Where the tools work, the exported files and an empty home folder, and under which terms.

    `seconds` is what each tool may take, `suppressions` whether comments may silence it, `cyclomatic` and
    `cognitive` are the highest complexities that are not finding.
    """

    files: Path
    home: Path
    seconds: float = 60.0
    suppressions: bool = False
    cyclomatic: int = 10
    cognitive: int = 15


class AnalyserCrash(RuntimeError):
    """An analyser broke: it crashed or printed what it never prints. The change has no result."""


class AnalyserTimeout(TimeoutError):
    """An analyser ran out of time. The change has no result."""


def run_program(name: str, argv: Sequence[str], bench: AnalyserJob, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """(exit status, stdout, stderr) of a program in the exported files.

    It starts without a shell, in its own process group (all of which ends with it), with an empty home and few
    variables of ours (PATH, the library path), so that neither the repository nor the user's settings speak to it.
    Raises AnalyserTimeout after `bench.seconds`, AnalyserCrash when it cannot be started or prints without end.
    """
    try:
        process = subprocess.Popen(
            list(argv),
            cwd=bench.files,
            env=_environment(bench.home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise AnalyserCrash(f"{name} could not be started: {error.strerror}") from error
    _limit_time(process.pid, bench.seconds)
    try:
        out, err = process.communicate(stdin, timeout=bench.seconds)
    except subprocess.TimeoutExpired:
        raise AnalyserTimeout(f"{name} did not finish within {bench.seconds:g} s") from None
    finally:
        _end(process)
    if len(out) > OUTPUT_LIMIT:
        raise AnalyserCrash(f"{name} printed more than {OUTPUT_LIMIT:,} bytes")
    return process.returncode, out, err


def _limit_time(process: int, seconds: float) -> None:
    """Let the system end a program that computes on after we are gone (several threads at a time may count)."""
    try:
        import resource

        most = int(seconds * 8) + 1
        resource.prlimit(process, resource.RLIMIT_CPU, (most, most))
    except (ImportError, AttributeError, ValueError, OSError):
        pass  # Linux alone has it; the clock of `run_program` stands on every system


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()


def _environment(home: Path) -> dict[str, str]:
    kept = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH") if key in os.environ}
    here = str(home)
    return kept | {
        "HOME": here,
        "USERPROFILE": here,
        "XDG_CONFIG_HOME": here,
        "XDG_CACHE_HOME": here,
        "TMPDIR": here,
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "RUST_MIN_STACK": str(STACK),
        "ESLINT_USE_FLAT_CONFIG": "true",
    }


def said(err: bytes, limit: int = 300) -> str:
    """The end of what a program printed on stderr, on one line."""
    text = " ".join(err.decode("utf-8", "replace").split())
    return text[-limit:] or "it said nothing"
