"""Which commits brought the lines that a fix had to change: the SZZ family.

`basic`: whoever last touched a line that the fix deletes or modifies (Śliwerski, Zimmermann, Zeller, MSR 2005).
`ag`: blank lines, comments and lines of which only the format changed do not count, in the fix and on the way back
(Kim, Zimmermann, Pan, Whitehead, ASE 2006). `ma`: merges and commits without content of their own are looked through
as well (da Costa et al., TSE 2017). Rules, figures and weak points: docs/szz.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

from reviewgauge.core.results import Drop
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.szz.blame import History
from reviewgauge.repo.szz.records import Fix, Inducing, SzzSettings, Trace
from reviewgauge.repo.szz.skip_commits import Through
from reviewgauge.repo.szz.tracer import Tracer

__all__ = ["Fix", "Inducing", "SzzSettings", "Trace", "index_history", "trace", "trace_many"]

_AHEAD = 8  # fixes that are traced ahead of the one that is being read, for each thread
_DEFAULT = SzzSettings()


def trace(repository: Repository, fix: str | Fix, settings: SzzSettings = _DEFAULT) -> Trace:
    """What one fix had to change, and who brought it."""
    return next(trace_many(repository, [fix], settings, jobs=1))


def trace_many(
    repository: Repository, fixes: Iterable[str | Fix], settings: SzzSettings = _DEFAULT, jobs: int = 2
) -> Generator[Trace]:
    """The trace of each fix, in their order; `jobs` threads, each with its own git. Memory does not grow with them.

    A fix that cannot be traced has a Trace that says why. `index_history` first makes this several times as fast.
    """
    idle: SimpleQueue[_Session] = SimpleQueue()
    with ExitStack() as stack:
        for _ in range(jobs):
            idle.put(
                _Session(stack.enter_context(History(repository, settings.largest_file, settings.seconds)), settings)
            )
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        waiting: deque[Future[Trace]] = deque()

        def work(fix: Fix) -> Trace:
            session = idle.get()
            try:
                return session.trace(fix)
            finally:
                idle.put(session)

        try:
            for fix in fixes:
                waiting.append(pool.submit(work, Fix(fix) if isinstance(fix, str) else fix))
                if len(waiting) > _AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def index_history(repository: Repository, ours: Path) -> bool:
    """Write a commit-graph with changed paths into a repository of our own: one that lies below the folder `ours`.

    Blame then skips commits that did not touch its file. A user's own repository is left as it is (False).
    """
    if not repository.git_dir.resolve().is_relative_to(ours.resolve()) or (repository.git_dir / "shallow").is_file():
        return False
    repository.run("commit-graph", "write", "--reachable", "--changed-paths", "--no-progress")
    return True


class _Session:
    """What one thread needs to trace one fix after the other."""

    def __init__(self, history: History, settings: SzzSettings) -> None:
        self._history, self._settings = history, settings
        form = settings.variant != "basic"
        self._through = Through(history, form=form, meta=settings.variant == "ma", refactoring=settings.refactoring)

    def trace(self, fix: Fix) -> Trace:
        """What one fix had to change, or why that cannot be said."""
        made = self._history.commit(fix.commit)
        if made is None:
            return _untraced(fix.commit, "the fix is not in this repository")
        if not made.parents:
            return _untraced(made.id, "the fix has no parent")
        if self._history.commit(made.parents[0]) is None:
            return _untraced(made.id, "the parent of the fix is not here", "a shallow or damaged repository")
        tracer = Tracer(self._history, self._through, fix, made, self._settings)
        found = _chosen(list(tracer.lines()), self._settings)
        return Trace(
            fix=made.id,
            parent=made.parents[0],
            when=made.date,
            inducing=tuple(found),
            skipped=tuple(tracer.skipped),
            notes=tuple(tracer.notes),
        )


def _untraced(fix: str, reason: str, detail: str = "") -> Trace:
    return Trace(fix=fix, skipped=(Drop(item=fix, by="szz", reason=reason, detail=detail),))


def _chosen(found: list[Inducing], settings: SzzSettings) -> list[Inducing]:
    if settings.choose == "all" or not found:
        return found
    if settings.choose == "latest":
        best = max(found, key=lambda line: (line.when, line.commit)).commit
    else:
        count: dict[str, int] = {}
        for line in found:
            count[line.commit] = count.get(line.commit, 0) + 1
        best = max(count, key=lambda c: (count[c], c))
    return [line for line in found if line.commit == best]
