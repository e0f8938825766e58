"""One timed run of our own readers: a job as JSON on standard input, figures as JSON on the last line.

Run by benchmarks/build.py in a process of its own, so that neither memory nor caches of one run help the next.
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from peers.build_peers import now, since

from reviewgauge.core.records import ChangedFile, FileStatus
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.git.blobs import BlobReader, file_name
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import Commit, read_history
from reviewgauge.repo.syntax.functions import PARSERS, enclosing, prepare
from reviewgauge.repo.szz.trace import SzzSettings, index_history, trace_many

Job = dict[str, Any]
Changed = tuple[Commit, tuple[ChangedFile, ...]]
_SKIPPED = ("//", "#", "/*", "'''", '"""', "*")  # how lines begin that PyDriller takes for comments
_AT_ONCE = 32  # commits whose files are parsed side by side


def szz(job: Job) -> Job:
    """For each fix the commits that brought the lines it changed: [fix, path, commit, whether PyDriller skips them]."""
    path = Path(job["path"])
    repository = Repository(path)
    everything = {
        "max_files": 10**6,
        "max_lines": 10**9,
        "largest_file": 10**9,
        "documentation": True,
        "generated": True,
    }
    settings = SzzSettings(variant=job["variant"], whitespace=False, **everything)  # type: ignore[arg-type]
    began = now()
    if job["index"]:
        index_history(repository, path.parent)
    indexed = since(began)["wall"]
    found: dict[tuple[str, str, str], bool] = {}
    for trace in trace_many(repository, job["commits"], settings, jobs=job["jobs"]):
        for line in trace.inducing:
            key, text = (trace.fix, line.fix_path, line.commit), line.text.strip()
            found[key] = found.get(key, True) and (not text or text.startswith(_SKIPPED))
    return since(began) | {"indexed": indexed, "found": sorted([*key, skipped] for key, skipped in found.items())}


def functions(job: Job) -> Job:
    """The function around each hunk of the newest commits, before and after, read from the repository."""
    repository = Repository(Path(job["path"]))
    hunks = sides = windows = 0
    wall = 0.0
    group: list[Changed] = []
    start = now()
    with BlobReader(repository) as blobs:
        for commit in read_history(repository):
            if len(commit.parents) != 1:
                continue
            group.append((commit, repository.changed_files(commit.parents[0], commit.id)))
            if len(group) < _AT_ONCE:
                continue
            began = time.perf_counter()
            for asked in _enclosing(blobs, group):
                sides += 1
                windows += asked == "window"
            wall += time.perf_counter() - began
            hunks += sum(len(parse_patch(file.patch or "")) for _, files in group for file in files)
            group = []
            if hunks >= job["hunks"]:
                break
    PARSERS.close()
    return since(start) | {"wall": wall, "hunks": hunks, "sides": sides, "windows": windows}


def build(job: Job) -> Job:
    """`reviewgauge build PATH` up to one commit, in this process, into a folder that is new."""
    from reviewgauge.api.build import build as run_build

    began = now()
    done = run_build(job["path"], out=Path(job["out"]), settings={"branch": repr(job["commit"])})
    PARSERS.close()
    assert done.card is not None
    return since(began) | {"cases": done.card.cases}


def _enclosing(blobs: BlobReader, commits: list[Changed]) -> Iterable[str]:
    """The kind of what encloses each hunk on each side."""
    wanted: list[tuple[str, str, list[tuple[int, int]]]] = []
    for commit, files in commits:
        for file in files:
            hunks, old_path = parse_patch(file.patch or ""), file.old_path or file.path
            if file.status is not FileStatus.ADDED and hunks:
                old = [(hunk.old_start, hunk.old_start + hunk.old_count - 1) for hunk in hunks]
                wanted.append((file_name(commit.parents[0], old_path), old_path, old))
            if file.status is not FileStatus.DELETED and hunks:
                new = [(hunk.new_start, hunk.new_start + hunk.new_count - 1) for hunk in hunks]
                wanted.append((file_name(commit.id, file.path), file.path, new))
    sources = list(blobs.read_many(name for name, _, _ in wanted))
    prepare((source, path) for source, (_, path, _) in zip(sources, wanted, strict=True) if source is not None)
    for source, (_, path, ranges) in zip(sources, wanted, strict=True):
        for start, end in ranges if source is not None else ():
            yield enclosing(source or b"", path, start, end).kind


class Largest(threading.Thread):
    """Watches the processes that we start (git, the parser): `bytes` is the most that one of them held.

    The system's own figure (`ru_maxrss` of children) begins with ours, since a child is us until it is git.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.bytes = 0
        self._own = Path("/proc/self/cmdline").read_bytes()

    def run(self) -> None:
        """Look twenty times a second; what lives shorter holds little."""
        while True:
            for children in Path("/proc/self/task").glob("*/children"):
                with contextlib.suppress(OSError):
                    for child in children.read_text().split():
                        self._look(Path("/proc", child))
            time.sleep(0.05)

    def _look(self, process: Path) -> None:
        with contextlib.suppress(OSError, IndexError):
            if (process / "cmdline").read_bytes() != self._own:
                text = (process / "status").read_text()
                self.bytes = max(self.bytes, int(text.partition("VmHWM:")[2].split()[0]) * 1024)


def main() -> None:
    job = json.loads(sys.stdin.readline())
    largest = Largest()
    largest.start()
    found = {"szz": szz, "functions": functions, "build": build}[job["what"]](job)
    found |= {"memory_self": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "memory_git": largest.bytes}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
