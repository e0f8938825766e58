"""Decides whether a later commit of the same pull request changed the lines that a comment is on.

Lines are traced from the commented state to the final one, commit by commit, or from state to state after a forced
push. Changes of the base branch do not count: a line that came from the base and was changed there is lost (None), not
adopted. Nor does a commit that is older than the comment, since people may comment while the next push is on its way.

Each comment comes with a base rate: how many uncommented places of the same size in the same hunk changed as well.
Hunks that are reworked anyway would otherwise look like good advice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from pydantic import JsonValue

from reviewgauge.core.errors import UserError
from reviewgauge.core.pull_requests import PullRequest, Thread
from reviewgauge.core.records import ChangedFile, FileStatus, Side
from reviewgauge.repo.diff.diffs import Hunk, line_runs, parse_patch
from reviewgauge.repo.diff.positions import hunk_at, map_line
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.pull_requests.candidates import code_of, is_bot, merge_base

LARGEST_FILE = 8 * 1024**2  # bytes; larger ones are not followed
_SNIPPET = 40  # lines of the code that an answer left
_LATEST = 253_402_300_800  # the end of the year 9999: clocks go wrong


class Step(NamedTuple):
    """From one state to the next: a commit of the branch, or a forced push."""

    before: str
    after: str


class LineOutcome(NamedTuple):
    """The outcome of one line: changed by a commit, kept, or lost (`changed` is None)."""

    changed: bool | None
    commit: str | None = None
    snippet: str | None = None


KEPT, LOST = LineOutcome(False), LineOutcome(None)


class Position(NamedTuple):
    """Where lines of a file are after a step, by their original numbers, and the outcomes of those that are gone."""

    commit: str
    path: str
    now: Mapping[int, int]
    gone: Mapping[int, LineOutcome]


class ChangedPaths(NamedTuple):
    """The changed files between two commits, by path before (no new files) and after."""

    before: Mapping[str, ChangedFile]
    after: Mapping[str, ChangedFile]


class Adoption(NamedTuple):
    """The outcome of one comment. `base_changed` of `base_places` places near it changed too."""

    changed: bool | None
    commit: str | None
    snippet: str | None
    base_changed: int
    base_places: int


class LineTracker:
    """Traces the lines of one pull request. Raises UserError where its repository is damaged."""

    def __init__(self, pull: PullRequest) -> None:
        self.pull = pull
        self.code = code_of(pull)
        self.steps = cache(self._find_steps)
        self._commit_time = cache(self._find_commit_time)
        self._bases: dict[str, str | None] = {revision.head: revision.base for revision in pull.revisions}
        self._diff = lru_cache(maxsize=16)(self._read_diff)

    def adoption(self, thread: Thread) -> Adoption:
        """The outcome of the lines of `thread`."""
        steps = self.steps(thread.commit) if thread.commit is not None else None
        if steps is None:
            return Adoption(self._by_forge_flag(thread), None, None, 0, 0)
        if thread.whole_file or thread.line is None:
            outcome = self._answer(self._file_outcome(thread.path, steps), thread)
            return Adoption(*outcome, 0, 0)
        patch = self._patch_at(thread)
        lines = _lines_of(thread, patch)
        if not lines:
            return Adoption(self._restored(thread, _span(thread), steps), self.pull.head, None, 0, 0)
        outcomes = self.outcomes(thread.path, lines, steps)
        own = _combined([self._answer(outcomes[line], thread) for line in lines])
        return Adoption(*own, *self._base_rate(thread, patch, lines, steps))

    def _answer(self, outcome: LineOutcome, thread: Thread) -> LineOutcome:
        """`outcome`, or LOST where the lines were changed before the comment was made."""
        commented_at = thread.remarks[0].created
        if not outcome.changed or outcome.commit is None or commented_at is None:
            return outcome
        committed = self._commit_time(outcome.commit)
        return outcome if committed is None or committed >= commented_at else LOST

    def _find_commit_time(self, commit: str) -> datetime | None:
        """The committer date of a commit."""
        assert self.code is not None
        dated = self.code.run("rev-list", "--no-walk", "--timestamp", "--end-of-options", commit).split()
        seconds = int(dated[0])
        return datetime.fromtimestamp(seconds, UTC) if 0 < seconds < _LATEST else None

    # --- steps -------------------------------------------------------------------------------------------------

    def _find_steps(self, commit: str) -> list[Step] | None:
        """The steps from `commit` to the final state; None where they are unknown."""
        code, head = self.code, self.pull.head
        if code is None or head is None or not code.exists(commit) or not code.exists(head):
            return None
        heads = [revision.head for revision in self.pull.revisions]
        later = heads[heads.index(commit) + 1 :] if commit in heads else [head]
        states = [commit, *(one for one in later if code.exists(one))]
        if states[-1] != head:
            states.append(head)
        found: list[Step] = []
        for before, after in pairwise(states):
            chain = [before, *self._between(code, before, after)]
            found += [Step(a, b) for a, b in pairwise(chain)]
        return found

    @staticmethod
    def _between(code: Repository, before: str, after: str) -> list[str]:
        """The branch's commits from `before` to `after`; only `after` where it does not descend from `before`."""
        if before == after:
            return []
        listed = code.run(
            "rev-list", "--first-parent", "--reverse", "--parents", "--end-of-options", after, f"^{before}"
        )
        chain = [line.split() for line in listed.decode("ascii").splitlines()]
        leads = bool(chain) and len(chain[0]) > 1 and chain[0][1] == before
        return [line[0] for line in chain] if leads else [after]

    def _base(self, commit: str) -> str | None:
        code, tip = self.code, self.pull.base
        if self._bases.get(commit) is None and code is not None and tip is not None and code.exists(tip):
            self._bases[commit] = merge_base(code, tip, commit)
        return self._bases.get(commit)

    def _read_diff(self, before: str, after: str) -> ChangedPaths:
        assert self.code is not None
        files = self.code.changed_files(before, after, largest_file=LARGEST_FILE)
        came = [file for file in files if file.status not in (FileStatus.ADDED, FileStatus.COPIED)]
        return ChangedPaths({file.old_path or file.path: file for file in came}, {file.path: file for file in files})

    # --- lines -------------------------------------------------------------------------------------------------

    def outcomes(self, path: str, lines: Iterable[int], steps: Sequence[Step]) -> dict[int, LineOutcome]:
        """The outcome of each line of the new side of `path`, numbered as before the first step."""
        outcomes = dict.fromkeys(lines, KEPT)
        for position in self.trace(path, list(outcomes), steps):
            outcomes.update(position.gone)
        return outcomes

    def trace(self, path: str, lines: Iterable[int], steps: Sequence[Step]) -> Iterator[Position]:
        """The positions of lines of the new side of `path` after each step."""
        now = {line: line for line in lines}
        for step in steps:
            file = self._diff(step.before, step.after).before.get(path)
            gone: dict[int, LineOutcome] = {}
            if file is not None:
                for line, at in list(now.items()):
                    moved = _moved(file, at)
                    if moved is not None:
                        now[line] = moved
                    else:
                        del now[line]
                        gone[line] = self._outcome(file, path, at, step)
                path = file.path if file.status is FileStatus.RENAMED else path
            yield Position(step.after, path, dict(now), gone)

    def _outcome(self, file: ChangedFile, path: str, at: int, step: Step) -> LineOutcome:
        """The outcome of a line that a step removed: changed by the pull request, or lost to the base branch."""
        if file.patch is None:
            return LOST
        old, new = self._base(step.before), self._base(step.after)
        if old is None or new is None or old == new:
            return LineOutcome(True, step.after, _replacement(file, at))
        came = self._diff(old, step.before).after.get(path)
        if came is not None and came.patch is None:
            return LOST
        of_base = at if came is None else map_line(came.patch or "", at, Side.NEW)
        if of_base is None:
            return LineOutcome(True, step.after, _replacement(file, at))  # a line of the pull request itself
        moved = self._diff(old, new).before.get(path if came is None else came.old_path or path)
        if moved is None or _moved(moved, of_base) is not None:
            return LineOutcome(True, step.after, _replacement(file, at))
        return LOST

    def _file_outcome(self, path: str, steps: Sequence[Step]) -> LineOutcome:
        for step in steps:
            file = self._diff(step.before, step.after).before.get(path)
            if file is not None and self._base(step.before) == self._base(step.after):
                return LineOutcome(True, step.after)
            if file is not None:
                return LOST
        return KEPT

    def _restored(self, thread: Thread, lines: range, steps: Sequence[Step]) -> bool | None:
        """Whether lines that were deleted without replacement are back in the final state."""
        base, head = self._base(thread.commit or ""), self.pull.head
        if base is None or head is None:
            return None
        if not steps:
            return False
        file = self._diff(base, head).before.get(thread.path)
        return file is None or any(_moved(file, line) is not None for line in lines)

    # --- the base rate -----------------------------------------------------------------------------------------

    def _patch_at(self, thread: Thread) -> str:
        """The patch of the file at the commented state."""
        base = self._base(thread.commit or "")
        if base is None or thread.commit is None:
            return ""
        found = self._diff(base, thread.commit).after.get(thread.path)
        return found.patch or "" if found is not None else ""

    @cached_property
    def _commented(self) -> Mapping[tuple[str, str], set[int]]:
        """(commit, path) -> the lines commented on there or in an earlier state."""
        found: dict[tuple[str, str], set[int]] = defaultdict(set)
        for thread in self.pull.threads:
            steps = self.steps(thread.commit) if thread.commit is not None else None
            if steps is None or thread.commit is None or thread.line is None or thread.whole_file:
                continue
            lines = _lines_of(thread, self._patch_at(thread) if thread.side is Side.OLD else "")
            found[thread.commit, thread.path].update(lines)
            for position in self.trace(thread.path, lines, steps):
                found[position.commit, position.path].update(position.now.values())
        return found

    def _uncommented(self, thread: Thread, hunk: Hunk, steps: Sequence[Step]) -> dict[int, LineOutcome]:
        """The outcomes of the added lines of a hunk without comments in any state."""
        taken = self._commented[thread.commit or "", thread.path]
        added = (line for line in hunk.lines if line.kind == "+" and line.new not in taken)
        outcomes = {line.new: KEPT for line in added if line.new is not None}
        for position in self.trace(thread.path, list(outcomes), steps):
            commented = self._commented[position.commit, position.path]
            for line in [line for line, at in position.now.items() if at in commented]:
                outcomes.pop(line, None)
            outcomes.update({line: outcome for line, outcome in position.gone.items() if line in outcomes})
        return outcomes

    def _base_rate(self, thread: Thread, patch: str, lines: Sequence[int], steps: Sequence[Step]) -> tuple[int, int]:
        """(changed, all) counts of runs of as many added lines in the same hunk without comments.

        Runs of empty lines do not count.
        """
        hunk = hunk_at(patch, Side.NEW, lines[-1])
        if hunk is None:
            return 0, 0
        outcomes = self._uncommented(thread, hunk, steps)
        written = {line.new for line in hunk.lines if line.text.strip()}
        size = len({line.new for line in hunk.lines if line.kind == "+"}.intersection(lines)) or 1
        found: list[bool] = []
        for first, last in line_runs(outcomes):
            for start in range(first, last - size + 2):
                place = range(start, start + size)
                changed = _combined([self._answer(outcomes[line], thread) for line in place]).changed
                if changed is not None and written.intersection(place):
                    found.append(changed)
        return sum(found), len(found)

    def _by_forge_flag(self, thread: Thread) -> bool | None:
        """Without the commits: the forge marks a thread as outdated once its lines were changed."""
        return thread.outdated if thread.commit is None or thread.commit != self.pull.head else False


def _span(thread: Thread) -> range:
    """The lines of a thread, on its side."""
    assert thread.line is not None
    return range(min(thread.start or thread.line, thread.line), thread.line + 1)


def _lines_of(thread: Thread, patch: str) -> range:
    """The new-side lines that a thread is about: for deleted lines, their replacement if any."""
    return _span(thread) if thread.side is Side.NEW else _replacing(patch, _span(thread))


def _moved(file: ChangedFile, line: int) -> int | None:
    """The line's number after a change of its file; None where it was changed or removed."""
    if file.status is FileStatus.DELETED or file.patch is None:
        return None
    return map_line(file.patch, line)


def _replacement(file: ChangedFile, line: int) -> str | None:
    """The code in place of the line: the new lines of the hunk that removed it."""
    hunk = hunk_at(file.patch or "", Side.OLD, line)
    if hunk is None:
        return None
    near = [at for at, one in enumerate(hunk.lines) if one.old == line]
    start = max(0, (near[0] if near else 0) - _SNIPPET // 2)
    return "\n".join(one.text for one in hunk.lines[start : start + _SNIPPET] if one.new is not None)


def _replacing(patch: str, lines: Iterable[int]) -> range:
    """The added lines in the same block as deleted ones; empty where there are none."""
    wanted = set(lines)
    for block in (block for hunk in parse_patch(patch) for block in hunk.blocks()):
        added = [line.new for line in block if line.new is not None]
        if added and any(line.old in wanted for line in block):
            return range(added[0], added[-1] + 1)
    return range(0)


def _combined(outcomes: Sequence[LineOutcome]) -> LineOutcome:
    """The outcome of several lines: changed where one is, unknown where one is lost and none changed."""
    lost = any(outcome.changed is None for outcome in outcomes)
    return next((outcome for outcome in outcomes if outcome.changed), LOST if lost else KEPT)


def adoptions(pull: PullRequest) -> dict[str, Adoption | None]:
    """The adoption of each thread, by id; None where its repository is damaged."""
    tracker = LineTracker(pull)
    found: dict[str, Adoption | None] = {}
    for thread in pull.threads:
        try:
            found[thread.id] = tracker.adoption(thread)
        except UserError:
            found[thread.id] = None
    return found


def signals(thread: Thread, adoption: Adoption | None) -> dict[str, JsonValue]:
    """The signals that a thread was acted on, for a comment's `extra["adoption"]`.

    `answered`: another person replied; `thumbs_up` and `thumbs_down` are the reactions to its first message.
    """
    first, opener = thread.remarks[0], thread.opened_by
    answered = any(not is_bot(one.author) and one.author.login != opener.login for one in thread.remarks[1:])
    return {
        "changed": adoption.changed if adoption else None,
        "resolved": thread.resolved,
        "answered": answered,
        "thumbs_up": first.reactions.get("+1", 0),
        "thumbs_down": first.reactions.get("-1", 0),
        "base_changed": adoption.base_changed if adoption else 0,
        "base_lines": adoption.base_places if adoption else 0,
    }
