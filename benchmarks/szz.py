"""How often each SZZ variant finds the commit that brought a bug, in made histories and by developers' own word.

    python benchmarks/szz.py [--bugs 300] [--seed 1] [--json]
    python benchmarks/szz.py --real PATH      # a git repository whose developers write "Fixes: COMMIT", as Linux does

Precision: of the commits that a variant names, how many brought the bug. Recall: of the commits that brought a bug,
how many it names. Intervals: 95%, Wilson. Then, for made bugs whose line one thing happened to before the fix, how
many are found with nothing else named. What is made is as hard as its author made it: compare variants. What
developers write is their word, and what they leave out of it counts as wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from szz_histories import EVENTS, Bug, History

from reviewgauge.core.errors import UserError
from reviewgauge.core.shares import wilson
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.mirrors.mirrors import mirror_local
from reviewgauge.repo.szz.trace import SzzSettings, index_history, trace_many

VARIANTS = {
    "basic": SzzSettings("basic"),
    "basic, white space ignored": SzzSettings("basic", whitespace=False),
    "ag": SzzSettings("ag"),
    "ma": SzzSettings("ma"),
    "ma, refactoring": SzzSettings("ma", refactoring=True),
    "ma, refactoring, latest": SzzSettings("ma", refactoring=True, choose="latest"),
    "ma, refactoring, beside=1": SzzSettings("ma", refactoring=True, beside=1),
}
PLAIN, SEVERAL, ONLY_ADDS = "nothing", "several of these", "the fix only adds lines"
_FIXES = re.compile(r"^Fixes: ?([0-9a-f]{7,40})\b", re.MULTILINE)


@dataclass
class Row:
    """What one variant did: the commits it named, the true ones, and those that are both."""

    name: str
    right: int
    named: int
    truths: int
    fixes: int
    seconds: float
    exact: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Known:
    """A fix, the commits that brought its bug, and what happened in between."""

    fix: str
    truth: frozenset[str]
    kind: str = PLAIN


def build(history: History, folder: Path) -> dict[int, str]:
    """Put a history into a git repository; the commit of each number."""
    marks = folder.with_suffix(".marks")
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    command = ["git", "fast-import", "--quiet", f"--export-marks={marks}"]
    subprocess.run(command, cwd=folder, input=history.script(), check=True)
    rows = (line.split() for line in marks.read_text().splitlines())
    return {int(mark[1:]): commit for mark, commit in rows}


def real_fixes(repository: Repository) -> list[Known]:
    """The commits that say which earlier commits of this repository they mend."""
    found = []
    for row in repository.run("log", "--no-merges", "--format=%H%x00%B%x01").decode("utf-8", "replace").split("\x01"):
        fix, _, message = row.strip().partition("\x00")
        truth = frozenset(filter(None, (ancestor(repository, short, fix) for short in _FIXES.findall(message))))
        if truth:
            found.append(Known(fix, truth))
    return found


def ancestor(repository: Repository, short: str, fix: str) -> str:
    """The commit that a message names; empty where it is none of this repository, or does not come before the fix."""
    try:
        name = (
            repository.run("rev-parse", "--quiet", "--verify", "--end-of-options", f"{short}^{{commit}}")
            .decode()
            .strip()
        )
        repository.run("merge-base", "--is-ancestor", name, f"{fix}^")
    except UserError:
        return ""
    return name


def measure(name: str, repository: Repository, known: list[Known]) -> Row:
    """Trace every fix with one variant."""
    began = time.perf_counter()
    row = Row(name, 0, 0, 0, len(known), 0.0, {})
    traces = trace_many(repository, [one.fix for one in known], VARIANTS[name])
    for one, trace in zip(known, traces, strict=True):
        named = set(trace.commits)
        row.named += len(named)
        row.truths += len(one.truth)
        row.right += len(one.truth & named)
        exact, count = row.exact.get(one.kind, (0, 0))
        row.exact[one.kind] = exact + (named == one.truth), count + 1
    row.seconds = time.perf_counter() - began
    return row


def what_happened(bug: Bug) -> str:
    """The one thing that happened to a bug's line before its fix."""
    if bug.kind == "only adds":
        return ONLY_ADDS
    events = set(bug.events)
    return PLAIN if not events else events.pop() if len(events) == 1 else SEVERAL


def share(k: int, n: int) -> str:
    """A share with its 95% Wilson interval."""
    if not n:
        return "-"
    low, high = wilson(k, n) or (0.0, 1.0)
    return f"{k / n:.2f} {low:.2f}..{high:.2f}"


def show(rows: list[Row], kinds: Sequence[str]) -> None:
    print(f"\n{'variant':<28} {'precision':<17} {'of':>5}   {'recall':<17} {'of':>5} {'fixes/s':>8}")
    for row in rows:
        precision, recall = share(row.right, row.named), share(row.right, row.truths)
        rate = row.fixes / row.seconds
        print(f"{row.name:<28} {precision:<17} {row.named:>5}   {recall:<17} {row.truths:>5} {rate:>8.0f}")
    if kinds:
        names = [row.name.replace("white space ignored", "-w").replace("refactoring", "ref.") for row in rows]
        print(f"\n{'what happened to the line':<38} {'bugs':>4}  found, and nothing else named, by")
        print(f"{'':<43}  " + "  ".join(f"{name:>5}" for name in names))
        for kind in kinds:
            cells = zip((row.exact.get(kind, (0, 0))[0] for row in rows), names, strict=True)
            line = "  ".join(f"{cell:>{max(len(name), 5)}}" for cell, name in cells)
            print(f"{kind:<38} {rows[0].exact.get(kind, (0, 0))[1]:>4}  {line}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bugs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", type=Path, help="a git repository in which messages say what they fix")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of tables")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copy.git"
        if options.real:
            repository = mirror_local(options.real, path)
            known = real_fixes(repository)
            truths = sum(len(one.truth) for one in known)
            about = f"{len(known)} fixes name {truths} commits that brought their bugs"
        else:
            history = History(options.seed, options.bugs)
            commits = build(history, path)
            repository = Repository(path)
            known = [Known(commits[b.fix], frozenset({commits[b.brought]}), what_happened(b)) for b in history.bugs]
            about = f"{len(commits):,} commits, {len(known)} bugs, seed {options.seed}"
        index_history(repository, Path(folder))
        if not options.json:
            print(about)
        rows = [measure(name, repository, known) for name in VARIANTS]
    if options.json:
        json.dump([vars(row) for row in rows], sys.stdout, indent=1)
    else:
        show(rows, () if options.real else (PLAIN, *EVENTS, SEVERAL, ONLY_ADDS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
