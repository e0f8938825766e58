"""bandit, radon, complexipy and lizard: one process for all of them, in `worker.py`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from reviewgauge.repo.analysers.raw import AnalyserCrash, AnalyserJob, Output, RawFinding, Unread, run_program, said

LIBRARIES = ("bandit", "radon", "complexipy", "lizard")
_WORKER = Path(__file__).with_name("worker.py")


def run_libraries(tools: Sequence[str], python: Sequence[str], other: Sequence[str], bench: AnalyserJob) -> Output:
    """What the `tools` find in the exported `python` files and in the `other` ones (lizard alone reads those).

    Raises AnalyserCrash that names the tool at fault, AnalyserTimeout.
    """
    job = {
        "tools": ["parse", *tools],
        "python": list(python),
        "other": list(other),
        "cyclomatic": bench.cyclomatic,
        "cognitive": bench.cognitive,
        "suppressions": bench.suppressions,
    }
    # `-I`: no PYTHON* variable, no user packages, and above all no module from the folder under review
    command = [sys.executable, "-I", str(_WORKER)]
    status, out, err = run_program("the Python analysers", command, bench, json.dumps(job).encode())
    return read_answer(out, status, err)


def read_answer(out: bytes, status: int, err: bytes) -> Output:
    """What the worker printed, and how it ended. Raises AnalyserCrash that names the tool which was at work."""
    findings: list[RawFinding] = []
    unread: list[Unread] = []
    functions: dict[str, list[tuple[str, int, int]]] = {}
    running = "parse"
    for line in out.splitlines():
        answer = json.loads(line)
        running = answer["tool"]
        for row in answer.get("rows", ()):
            if "unread" in row:
                unread.append(Unread(running, row["path"], row["unread"]))
            elif "functions" in row:
                functions[row["path"]] = [(name, start, end) for name, start, end in row["functions"]]
            else:
                findings.append(RawFinding(tool=running, **row))
    if status != 0:
        how = f"ended by signal {-status}" if status < 0 else said(err)
        raise AnalyserCrash(f"{running} crashed: {how}")
    return Output(tuple(findings), tuple(unread), functions)
