"""One timed run of our own readers: a job as JSON on standard input, figures as JSON on the last line.

Run by benchmarks/build.py in a process of its own, so that neither memory nor caches of one run help the next.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _build_peers import digest, now, since

from reviewbench.repo.blobs import BlobReader
from reviewbench.repo.diffs import parse_patch
from reviewbench.repo.git import Repository
from reviewbench.repo.history import Commit, read_commits, read_history
from reviewbench.repo.syntax import enclosing, prepare
from reviewbench.repo.szz import SzzSettings, index_history, trace_many

Job = dict[str, Any]
_SKIPPED = ("//", "#", "/*", "'''", '"""', "*")  # how lines begin that PyDriller takes for comments
_AT_ONCE = 32  # commits whose files are parsed side by side


def history(job: Job) -> Job:
    """Read the given commits with their files and patches."""
    began = now()
    read = list(read_commits(Repository(Path(job["path"])), job["commits"], merges="none"))
    spent = since(began)
    found = {c.id: {file.path: digest(file.patch or "") for file in c.files} for c in read}
    return spent | {"found": found}


def whole(job: Job) -> Job:
    """Read the newest commits, all of them unless `most` says otherwise, and keep none."""
    began = now()
    commits = files = patches = 0
    for commit in read_history(Repository(Path(job["path"])), most=job["most"]):
        commits += 1
        files += len(commit.files)
        patches += sum(len(file.patch or "") for file in commit.files)
    return since(began) | {"commits": commits, "files": files, "characters": patches}


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
    group: list[Commit] = []
    with BlobReader(repository) as blobs:
        for commit in read_history(repository):
            group.append(commit)
            if len(group) < _AT_ONCE:
                continue
            began = time.perf_counter()
            for asked in _enclosing(blobs, group):
                sides += 1
                windows += asked == "window"
            wall += time.perf_counter() - began
            hunks += sum(len(parse_patch(file.patch or "")) for one in group for file in one.files)
            group = []
            if hunks >= job["hunks"]:
                break
    return {"wall": wall, "hunks": hunks, "sides": sides, "windows": windows}


def _enclosing(blobs: BlobReader, commits: list[Commit]) -> Iterable[str]:
    """The kind of what encloses each hunk on each side."""
    wanted: list[tuple[str, str, list[tuple[int, int]]]] = []
    for commit in commits:
        for file, pair in zip(commit.files, commit.blobs, strict=True):
            hunks = parse_patch(file.patch or "")
            if pair.old and hunks:
                old = [(hunk.old_start, hunk.old_start + hunk.old_count - 1) for hunk in hunks]
                wanted.append((pair.old, file.old_path or file.path, old))
            if pair.new and hunks:
                new = [(hunk.new_start, hunk.new_start + hunk.new_count - 1) for hunk in hunks]
                wanted.append((pair.new, file.path, new))
    sources = list(blobs.read_many(name for name, _, _ in wanted))
    prepare((source, path) for source, (_, path, _) in zip(sources, wanted, strict=True) if source is not None)
    for source, (_, path, ranges) in zip(sources, wanted, strict=True):
        for start, end in ranges if source is not None else ():
            yield enclosing(source or b"", path, start, end).kind


def main() -> None:
    job = json.loads(sys.stdin.readline())
    found = {"history": history, "whole": whole, "szz": szz, "functions": functions}[job["what"]](job)
    memory = {"self": resource.RUSAGE_SELF, "git": resource.RUSAGE_CHILDREN}
    found |= {f"memory_{who}": resource.getrusage(what).ru_maxrss * 1024 for who, what in memory.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
