"""ruff: fast linter for Python, run once for all files of a change."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from reviewgauge.repo.analysers.raw import AnalyserCrash, AnalyserJob, Output, RawFinding, Unread, run_program, said

# What a reviewer could rightly say of any project. Left out: layout and import order (a formatter's business), style
# that a project may settle either way (SIM, UP, C4, D, Q: UP also depends on the oldest Python a project supports,
# which its own settings say and those are not obeyed), and C90 (radon measures the same).
RULES = (
    "E7",  # comparison with None, bare except, lambda assignment
    "E9",  # cannot run
    "F",  # pyflakes: undefined and unused names, broken format strings
    "B",  # bugbear: likely bugs
    "S",  # the security rules of bandit
    "PLE",
    "PLW",  # pylint's errors and warnings
    "PERF",  # needless copies and loops
    "ASYNC",  # blocking calls in coroutines
    "DTZ",  # dates without a time zone
    "BLE",  # an except that catches everything
    "LOG",
    "N80",  # names of the wrong shape for what they name
    "T10",  # a debugger left in
    "SIM115",  # a file that is opened and not closed
    "RUF006",  # a task that nobody keeps
    "RUF008",
    "RUF009",
    "RUF012",  # mutable defaults of classes
    "RUF016",  # an index of the wrong type
    "RUF018",  # an assignment inside an assert
)
_NEWEST = "py313"  # syntax of every version up to this one is not a finding


def find_ruff() -> str | None:
    """The program: the one that the package brings, else the one on PATH."""
    try:
        from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]

        return os.fsdecode(find_ruff_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("ruff")
        return found and str(Path(found).absolute())


def run_ruff(program: str, paths: Sequence[str], bench: AnalyserJob) -> Output:
    """What ruff finds in the exported `paths`. Raises AnalyserCrash, AnalyserTimeout."""
    command = [program, "check", "--isolated", "--no-cache", "--exit-zero", "--quiet", "--no-fix", "--no-preview"]
    command += ["--output-format=json", f"--target-version={_NEWEST}", f"--select={','.join(RULES)}"]
    command += [] if bench.suppressions else ["--ignore-noqa"]
    # "./": ruff reads `@name` as a file of arguments, and `-name` as an option
    status, out, err = run_program("ruff", [*command, "--", *(f"./{path}" for path in paths)], bench)
    if status != 0:
        raise AnalyserCrash(f"ruff crashed: {said(err)}")
    try:
        answer = json.loads(out)
        return _read(answer, os.path.realpath(bench.files))
    except (ValueError, KeyError, TypeError) as error:
        raise AnalyserCrash(f"ruff printed what cannot be read: {type(error).__name__}: {error}") from None


def _read(answer: list[dict[str, object]], root: str) -> Output:
    findings: list[RawFinding] = []
    unread: dict[str, Unread] = {}
    for item in answer:
        path = os.path.relpath(str(item["filename"]), root).replace(os.sep, "/")
        rule = item["code"]
        message = str(item["message"])
        start, end = item["location"], item["end_location"]
        assert isinstance(start, dict) and isinstance(end, dict)
        if rule is None or rule == "invalid-syntax":
            unread.setdefault(path, Unread("ruff", path, f"does not parse: {message} (line {start['row']})"))
            continue
        last = end["row"] - (end["column"] == 1 and end["row"] > start["row"])  # ends before that line's first letter
        findings.append(RawFinding("ruff", str(rule), path, start["row"], last, _advice(message, item.get("fix"))))
    return Output(tuple(findings), tuple(unread.values()))


def _advice(message: str, fix: object) -> str:
    advice = fix.get("message") if isinstance(fix, dict) else None
    return f"{message.rstrip('.')}. {advice}" if advice and advice not in message else message
