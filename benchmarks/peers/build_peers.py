"""One timed run of PyDriller on a repository: a job as JSON on standard input, figures as JSON on the last line.

Run by benchmarks/build.py with the interpreter of the reference environment, in a process of its own. It imports
nothing of this project.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from importlib import metadata
from typing import Any

Job = dict[str, Any]


def szz(job: Job) -> Job:
    """For each fix the commits that last touched the lines it changed: [fix, path, commit]."""
    from pydriller import Git  # type: ignore[import-not-found, unused-ignore]

    repository = Git(job["path"])
    found = []
    began = now()
    for one in job["commits"]:
        touched = repository.get_commits_last_modified_lines(repository.get_commit(one))
        found += [[one, path, commit] for path, commits in touched.items() for commit in commits]
    return since(began) | {"found": found}


def now() -> tuple[float, float]:
    """The clock, and the processor time of this process and of the git processes that ended."""
    return time.perf_counter(), sum(os.times()[:4])


def since(began: tuple[float, float]) -> dict[str, Any]:
    """Seconds on the clock and of processor since then."""
    wall, processor = now()
    return {"wall": wall - began[0], "processor": processor - began[1]}


def main() -> None:
    job = json.loads(sys.stdin.readline())
    found = szz(job)
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(found | {"version": metadata.version("pydriller")}))


if __name__ == "__main__":
    main()
