"""What a forge that lists every push leaves to git: which were forced, and where comments stood when they were made.

GitLab moves the place of a discussion along with its lines, and tells no earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from reviewgauge.core.pull_requests import Revision, Thread
from reviewgauge.core.records import ChangedFile, Side
from reviewgauge.repo.diff.positions import map_line
from reviewgauge.repo.git.repository import Repository


def with_forced(revisions: Sequence[Revision]) -> tuple[Revision, ...]:
    """The states, of which those that do not go on from the one before were reached by a forced push."""
    pairs = ((after, bool(after.commits) and before.head not in after.commits) for before, after in pairwise(revisions))
    return (*revisions[:1], *(after.model_copy(update={"forced": forced}) for after, forced in pairs))


def as_said(code: Repository, threads: Sequence[Thread], revisions: Sequence[Revision]) -> tuple[Thread, ...]:
    """The threads on the pushes that they were opened on; one whose lines cannot be followed back stays where it is."""

    @cache
    def changed(before: str, after: str) -> dict[str, ChangedFile]:
        return {file.path: file for file in code.changed_files(before, after)}

    def moved(thread: Thread) -> Thread:
        said = thread.remarks[0].created
        there = [one for one in revisions if said is not None and one.pushed is not None and one.pushed <= said]
        now = next((one for one in revisions if one.head == thread.commit), None)
        if not there or now is None or there[-1].head == now.head or not (code.exists(there[-1].head)):
            return thread
        then = there[-1]
        if thread.side is Side.OLD:  # lines of the base, which is the same for both
            return thread.model_copy(update={"commit": then.head}) if then.base == now.base else thread
        file = changed(then.head, now.head).get(thread.path)
        start, end = thread.start, thread.line
        if file is not None:
            patch = file.patch or ""
            start, end = (None if at is None else map_line(patch, at, Side.NEW) for at in (start, end))
        if (start is None) != (thread.start is None) or (end is None) != (thread.line is None):
            return thread
        path = thread.path if file is None or file.old_path is None else file.old_path
        return thread.model_copy(update={"commit": then.head, "path": path, "start": start, "line": end})

    return tuple(moved(thread) for thread in threads)
