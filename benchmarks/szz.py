"""How often each SZZ variant finds the commit that brought a bug, on made histories of which that is known.

    python benchmarks/szz.py [--bugs 300] [--seed 1] [--json]

Precision: of the commits that a variant names, how many brought the bug. Recall: of the bugs, for how many it names
the commit. Intervals: 95%, Wilson. Then, for bugs whose line one thing happened to before the fix, the share that is
found and nothing else is named. What is made here is as hard as its author made it: compare variants, not papers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from _szz_histories import EVENTS, Bug, History

from reviewbench.analysis.judge_agreement import wilson
from reviewbench.repo.git import Repository
from reviewbench.repo.szz import SzzSettings, Trace, index_history, trace_many

VARIANTS = {
    "basic": SzzSettings("basic"),
    "basic, white space ignored": SzzSettings("basic", whitespace=False),
    "ag": SzzSettings("ag"),
    "ma": SzzSettings("ma"),
    "ma, refactoring": SzzSettings("ma", refactoring=True),
    "ma, refactoring, latest": SzzSettings("ma", refactoring=True, choose="latest"),
    "ma, refactoring, beside=1": SzzSettings("ma", refactoring=True, beside=1),
}
PLAIN, SEVERAL = "nothing", "several of these"


@dataclass
class Row:
    """What one variant did."""

    name: str
    right: int
    named: int
    found: int
    bugs: int
    seconds: float
    exact: dict[str, tuple[int, int]]


def build(history: History, folder: Path) -> dict[int, str]:
    """Put a history into a git repository; the commit of each number."""
    marks = folder.with_suffix(".marks")
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    command = ["git", "fast-import", "--quiet", f"--export-marks={marks}"]
    subprocess.run(command, cwd=folder, input=history.script(), check=True)
    rows = (line.split() for line in marks.read_text().splitlines())
    return {int(mark[1:]): commit for mark, commit in rows}


def measure(name: str, repository: Repository, history: History, commits: dict[int, str]) -> Row:
    """Trace every fix of the history with one variant."""
    began = time.perf_counter()
    fixes = [commits[bug.fix] for bug in history.bugs]
    row = Row(name, 0, 0, 0, len(fixes), 0.0, {})
    for bug, trace in zip(history.bugs, trace_many(repository, fixes, VARIANTS[name]), strict=True):
        truth = commits[bug.brought]
        row.named += len(trace.commits)
        row.right += truth in trace.commits
        row.found += truth in trace.commits
        kind = what_happened(bug)
        exact, count = row.exact.get(kind, (0, 0))
        row.exact[kind] = exact + is_exact(trace, truth), count + 1
    row.seconds = time.perf_counter() - began
    return row


def is_exact(trace: Trace, truth: str) -> bool:
    """Whether the true commit is named and no other."""
    return trace.commits == (truth,)


def what_happened(bug: Bug) -> str:
    """The one thing that happened to a bug's line before its fix."""
    if bug.kind == "only adds":
        return "the fix only adds lines"
    events = set(bug.events)
    return PLAIN if not events else events.pop() if len(events) == 1 else SEVERAL


def share(k: int, n: int) -> str:
    """A share with its 95% Wilson interval."""
    if not n:
        return "-"
    low, high = wilson(k, n)
    return f"{k / n:.2f} {low:.2f}..{high:.2f}"


def show(rows: list[Row]) -> None:
    print(f"\n{'variant':<28} {'precision':<17} {'of':>5}   {'recall':<17} {'of':>5} {'fixes/s':>8}")
    for row in rows:
        precision, recall = share(row.right, row.named), share(row.found, row.bugs)
        rate = row.bugs / row.seconds
        print(f"{row.name:<28} {precision:<17} {row.named:>5}   {recall:<17} {row.bugs:>5} {rate:>8.0f}")
    print(f"\n{'what happened to the line':<40} {'bugs':>4}  found, and nothing else named, by")
    names = [row.name.replace("white space ignored", "-w").replace("refactoring", "ref.") for row in rows]
    print(f"{'':<40} {'':>4}  " + "  ".join(f"{name:>{max(len(name), 5)}}" for name in names))
    for kind in (PLAIN, *EVENTS, SEVERAL, "the fix only adds lines"):
        count = rows[0].exact.get(kind, (0, 0))[1]
        cells = [f"{row.exact.get(kind, (0, 0))[0]}" for row in rows]
        line = "  ".join(f"{cell:>{max(len(name), 5)}}" for cell, name in zip(cells, names, strict=True))
        print(f"{kind:<40} {count:>4}  {line}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bugs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of tables")
    options = parser.parse_args()
    history = History(options.seed, options.bugs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.git"
        commits = build(history, path)
        repository = Repository(path)
        index_history(repository, Path(folder))
        if not options.json:
            print(f"{len(commits):,} commits, {len(history.bugs)} bugs, seed {options.seed}")
        rows = [measure(name, repository, history, commits) for name in VARIANTS]
    if options.json:
        json.dump([vars(row) for row in rows], sys.stdout, indent=1)
    else:
        show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
