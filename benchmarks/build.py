"""How fast a history is traced, beside PyDriller, parsed and built from, on a repository of your choice.

    python benchmarks/build.py PATH [--fixes 500] [--hunks 5000]

One run, side by side, on private bare copies of the repository at PATH, which is left as it is (PyDriller writes into
the configuration of what it reads). Both trace the same fixes. PyDriller runs with the interpreter of the reference
environment (`make test` sets it up; --reference names another). Each run is a process of its own. The commit-graph that
our SZZ begins with is written into our copy only, and its time counts as ours. Last, `reviewgauge build` with the
recipe `local` makes a benchmark of the first --first commits and of all. Exit code 1 where an aim is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import inspect, read_history
from reviewgauge.repo.history.fix_messages import FixKind, read_message
from reviewgauge.repo.mirrors.mirrors import mirror_local

HERE = Path(__file__).parent
REFERENCE = HERE.parent / ".venv-reference" / "bin" / "python"
SZZ_AIM, HUNKS_AIM = 15.0, 1_000.0  # times PyDriller, hunks a second
MEMORY_AIM = 50.0  # MB that the peak may grow by from 1,000 commits to all
BUILD_AIM = 5.0  # minutes for 10,000 commits on two processors
Found = dict[str, Any]


def run(python: Path | str, script: str, **job: object) -> Found:
    """One job in a process of its own."""
    done = subprocess.run(
        [str(python), str(HERE / script)],
        env={**os.environ, "PYTHONPATH": str(HERE)},
        input=json.dumps(job) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        found: Found = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        raise UserError(f"{script} could not do {job['what']}: {done.stderr[-500:]}") from None
    return found


def ours(**job: object) -> Found:
    return run(sys.executable, "timed/build_ours.py", **job)


def evenly(items: Sequence[str], count: int) -> list[str]:
    """`count` of `items`, spread evenly."""
    count = min(count, len(items))
    return [items[number * len(items) // count] for number in range(count)]


def held(figure: float, aim: float, *, most: bool = False) -> tuple[str, bool]:
    """(what is printed behind a figure, whether it reaches the aim)."""
    good = figure <= aim if most else figure >= aim
    return f"  aim {'at most ' if most else ''}{aim:g}" + ("" if good else " MISSED"), good


def compare_szz(mine: Path, theirs: Path, reference: Path | None, fixes: list[str]) -> bool:
    print(f"\nSZZ on {len(fixes):,} fixes (commits whose message says so), spread over the history")
    runs = {}
    for variant, jobs, index in (("basic", 2, True), ("basic", 1, False), ("ag", 2, False)):
        name = f"ours, {variant}, {jobs} thread{'s' * (jobs > 1)}"
        runs[name] = got = ours(what="szz", path=str(mine), commits=fixes, variant=variant, jobs=jobs, index=index)
        said = f", {got['indexed']:.2f} s of it the commit-graph" if index else " (the commit-graph is there)"
        print(f"  {name:<24} {got['wall']:>8.2f} s{cpu(got)}{said}")
    if reference is None:
        return True
    peer = run(reference, "peers/build_peers.py", what="szz", path=str(theirs), commits=fixes)
    best = next(iter(runs.values()))
    ratio = peer["wall"] / best["wall"]
    note, good = held(ratio, SZZ_AIM)
    print(f"  {'PyDriller, 1 thread':<24} {peer['wall']:>8.2f} s{cpu(peer)}  ({peer['version']})")
    by_processor = peer["processor"] / best["processor"]
    print(f"  ours is {ratio:.1f} times as fast ({by_processor:.1f} by processor), the commit-graph included{note}")
    theirs_found = {tuple(one) for one in peer["found"]}
    print("  of (fix, file, inducing commit):")
    for name, got in runs.items():
        found = {tuple(one[:3]): one[3] for one in got["found"]}
        both = found.keys() & theirs_found
        skipped = sum(found[one] for one in found.keys() - theirs_found)
        share = len(both) / max(1, len(found.keys() | theirs_found) - skipped)
        print(f"  {name:<24} {len(both):,} in both, {len(theirs_found - both):,} only PyDriller's,", end=" ")
        print(f"{len(found) - len(both):,} only ours ({skipped:,} of lines that it takes for comments);", end=" ")
        print(f"without those the overlap is {share:.1%}")
    return good


def time_functions(mine: Path, hunks: int) -> bool:
    got = ours(what="functions", path=str(mine), hunks=hunks)
    rate = got["hunks"] / got["wall"]
    note, good = held(rate, HUNKS_AIM)
    print(f"\nThe function around each of the newest {got['hunks']:,} hunks, before and after, blobs read from git")
    print(
        f"  {got['wall']:.2f} s, {rate:,.0f} hunks/s{note}; {got['windows'] / got['sides']:.0%} are windows of lines;"
    )
    print(f"  with the parser and the reading of the history{cpu(got)}")
    return good


def time_builds(mine: Path, folder: Path, first: int) -> bool:
    """Whole builds of two sizes: their time, and whether memory stays as it is."""
    order = Repository(mine).run("rev-list", "--first-parent", "HEAD").decode("ascii").split()
    whole = int(Repository(mine).run("rev-list", "--count", "HEAD"))
    print("\n`reviewgauge build PATH`, recipe local, nothing remembered; it works on a copy of its own")
    runs = []
    for commits, tip in (reaching(mine, order, first), (whole, order[0])):
        got = ours(what="build", path=str(mine), commit=tip, out=str(folder / f"bench-{commits}"))
        runs.append(got)
        print(
            f"  {commits:>7,} commits  {got['wall']:>6.1f} s{cpu(got)}  {got['cases']:,} cases  "
            f"peak {mb(got['memory_self'])}, the largest of git and the parser {mb(got['memory_git'])}"
        )
    minutes = runs[-1]["wall"] / 60 / whole * 10_000
    note, quick = held(minutes, BUILD_AIM, most=True)
    print(f"  {minutes:.1f} minutes for 10,000 commits{note}")
    grown = (runs[-1]["memory_self"] - runs[0]["memory_self"]) / 1e6
    note, flat = held(grown, MEMORY_AIM, most=True)
    print(f"  our peak grows by {grown:.0f} MB from the first to all{note}")
    return quick and flat


def reaching(path: Path, line: list[str], least: int) -> tuple[int, str]:
    """(commits that it reaches, the earliest commit of the main line that reaches so many); `line` is newest first."""
    low, high = 0, len(line) - 1  # the index from which on fewer are reached lies between
    count = int(Repository(path).run("rev-list", "--count", line[0]))
    while low < high:
        middle = (low + high + 1) // 2
        reached = int(Repository(path).run("rev-list", "--count", line[middle]))
        if reached >= least:
            low, count = middle, reached
        else:
            high = middle - 1
    return count, line[low]


def cpu(found: Found) -> str:
    return f"  ({found['processor']:.2f} s of processor)"


def mb(size: float) -> str:
    return f"{size / 1e6:.0f} MB"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="a git repository with a real history")
    parser.add_argument("--fixes", type=int, default=500, help="fixes that both trace")
    parser.add_argument("--hunks", type=int, default=5_000, help="hunks whose functions are looked for")
    parser.add_argument("--first", type=int, default=1_000, help="commits of the smaller build")
    parser.add_argument("--reference", type=Path, default=REFERENCE, help="a Python with PyDriller")
    options = parser.parse_args()
    reference = options.reference if options.reference.is_file() else None
    try:
        with tempfile.TemporaryDirectory() as folder:
            mine, theirs = Path(folder) / "ours" / "copy.git", Path(folder) / "theirs" / "copy.git"
            for copy in (mine, theirs):
                copy.parent.mkdir()
                mirror_local(options.path, copy)
            fixes = chosen(mine)
            found = inspect(Repository(mine))
            print(f"{found.commits:,} commits, {found.merges:,} of them merges; {platform.machine()},", end=" ")
            print(f"Python {platform.python_version()}, {os.cpu_count()} processors")
            if reference is None:
                print(f"PyDriller: no rows, {options.reference} is not there (make test sets it up)")
            reached = [
                compare_szz(mine, theirs, reference, evenly(fixes, options.fixes)),
                time_functions(mine, options.hunks),
                time_builds(mine, Path(folder), options.first),
            ]
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return int(not all(reached))


def chosen(path: Path) -> list[str]:
    """The commits that are no merges, have a parent, and say that they fix something."""
    history = (commit for commit in read_history(Repository(path)) if len(commit.parents) == 1)
    return [commit.id for commit in history if read_message(commit.message).kind is FixKind.YES]


if __name__ == "__main__":
    sys.exit(main())
