"""Which commits brought the lines that a fix had to change: the SZZ family.

`basic`: whoever last touched a line that the fix deletes or modifies (Sliwerski, Zimmermann, Zeller, MSR 2005).
`ag`: blank lines, comments and lines of which only the format changed do not count, in the fix and on the way back
(Kim, Zimmermann, Pan, Whitehead, ASE 2006). `ma`: merges and commits without content of their own are looked through
as well (da Costa et al., TSE 2017). Rules, figures and weak points: docs/szz.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from queue import SimpleQueue
from typing import Literal

from reviewbench.core.base import Line, Record, RelPath, Text
from reviewbench.core.errors import UserError
from reviewbench.core.results import Drop
from reviewbench.repo._szz_diffs import LINK, SUBMODULE, FileDiff
from reviewbench.repo._szz_git import Blamed, History, Made, Missing
from reviewbench.repo.git import Repository
from reviewbench.repo.languages import is_documentation, is_generated_or_vendored, is_test

_DAY = 86_400.0  # seconds
_AHEAD = 8  # fixes that are traced ahead of the one that is being read, for each thread


@dataclass(frozen=True)
class SzzSettings:
    """What counts.

    `refactoring`: lines that were moved and identifiers that were renamed are followed. `whitespace`: a change of white
    space alone counts as a change (None: in `basic` only). `beside`: for a fix that only adds, this many lines
    before and after each place are blamed; 0 reports such a fix as having nothing to blame. `choose`: all inducing
    commits, or of each fix only the latest (R-SZZ) or the one with most lines (L-SZZ; Davies et al., 2014).

    An inducing commit is at least `min_days` and at most `max_days` older than the fix. Fixes of more than `max_files`
    files or `max_lines` deleted lines are skipped, files of more than `largest_file` bytes too. `documentation`,
    `generated` (and vendored) and `tests` say whether such files are traced. `seconds` bound one question to git,
    `depth` the number of commits that one line is followed through.
    """

    variant: Literal["basic", "ag", "ma"] = "ma"
    refactoring: bool = False
    whitespace: bool | None = None
    beside: int = 0
    choose: Literal["all", "latest", "largest"] = "all"
    min_days: float = 0.0
    max_days: float | None = None
    max_files: int = 50
    max_lines: int = 1000
    documentation: bool = False
    generated: bool = False
    tests: bool = True
    largest_file: int = 5_000_000
    seconds: float = 60.0
    depth: int = 20

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.variant not in ("basic", "ag", "ma"):
            raise UserError(f"there is no SZZ variant {self.variant!r}", remedy="basic, ag or ma")
        if self.choose not in ("all", "latest", "largest"):
            raise UserError(f"choose={self.choose!r} is unknown", remedy="all, latest or largest")
        if self.max_days is not None and self.max_days < self.min_days:
            raise UserError(f"max_days={self.max_days:g} is less than min_days={self.min_days:g}")


@dataclass(frozen=True)
class Fix:
    """A fix to trace. `opened` is when its issue was reported, where that is known."""

    commit: str
    opened: datetime | None = None


class Inducing(Record):
    """One line that a commit brought and a fix had to change.

    `line` of `path` as `commit` left it; `fix_line` of `fix_path` as it was just before the fix. `text` is the line
    before the fix. `when` is the earlier of the commit's two times. `through` are the commits that touched the line in
    between and were looked through, each with why, latest first.
    """

    commit: str
    path: RelPath
    line: Line
    text: Text
    fix: str
    fix_path: RelPath
    fix_line: Line
    reason: str
    when: datetime
    through: tuple[str, ...] = ()


class Trace(Record):
    """What became of one fix. `parent` is the commit that was blamed, empty where there is none.

    `skipped` names files (`path`), lines (`path:12` or `path:12-14`) or the whole fix, each with why. `notes` say what
    could not be done as the settings ask, such as comments in a language that is not known.
    """

    fix: str
    parent: str = ""
    when: datetime | None = None
    inducing: tuple[Inducing, ...] = ()
    skipped: tuple[Drop, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def commits(self) -> tuple[str, ...]:
        """The inducing commits, the one with most lines first."""
        count: dict[str, int] = {}
        for line in self.inducing:
            count[line.commit] = count.get(line.commit, 0) + 1
        return tuple(sorted(count, key=lambda c: (-count[c], c)))


def trace(repository: Repository, fix: str | Fix, settings: SzzSettings = SzzSettings()) -> Trace:
    """What one fix had to change, and who brought it."""
    with History(repository, settings.largest_file, settings.seconds) as history:
        return _trace(history, _as_fix(fix), settings)


def trace_many(
    repository: Repository,
    fixes: Iterable[str | Fix],
    settings: SzzSettings = SzzSettings(),
    jobs: int = 2,
) -> Iterator[Trace]:
    """The trace of each fix, in their order; `jobs` threads, each with its own git. Memory does not grow."""
    idle: SimpleQueue[History] = SimpleQueue()
    with ExitStack() as stack:
        for _ in range(jobs):
            idle.put(stack.enter_context(History(repository, settings.largest_file, settings.seconds)))
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        waiting: deque[Future[Trace]] = deque()

        def work(fix: Fix) -> Trace:
            history = idle.get()
            try:
                return _trace(history, fix, settings)
            finally:
                idle.put(history)

        try:
            for fix in fixes:
                waiting.append(pool.submit(work, _as_fix(fix)))
                if len(waiting) > _AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _as_fix(fix: str | Fix) -> Fix:
    return Fix(fix) if isinstance(fix, str) else fix


# --- one fix -------------------------------------------------------------------------------------------------------


def _trace(history: History, fix: Fix, settings: SzzSettings) -> Trace:
    drops: list[Drop] = []
    made = history.commit(fix.commit)
    if made is None:
        return Trace(fix=fix.commit, skipped=(_drop(fix.commit, "the fix is not in this repository"),))
    parent = made.parents[0] if made.parents else ""
    if not parent:
        drops.append(_drop(made.id, "the fix has no parent"))
    elif history.commit(parent) is None:
        drops.append(_drop(made.id, "the parent of the fix is not here", "a shallow or damaged repository"))
    else:
        found = list(_Tracer(history, fix, made, settings, drops).lines())
        return Trace(
            fix=made.id,
            parent=parent,
            when=made.date,
            inducing=tuple(_chosen(found, settings)),
            skipped=tuple(drops),
        )
    return Trace(fix=made.id, when=made.date, skipped=tuple(drops))


class _Tracer:
    """The way back from one fix."""

    def __init__(self, history: History, fix: Fix, made: Made, settings: SzzSettings, drops: list[Drop]) -> None:
        self.history, self.fix, self.made, self.settings, self.drops = history, fix, made, settings, drops
        blind = settings.variant != "basic" if settings.whitespace is None else not settings.whitespace
        self.whitespace = not blind

    def lines(self) -> Iterator[Inducing]:
        """Each line that the fix had to change and that counts."""
        try:
            files = self.history.diff(self.made.id, self.made.parents[0])
        except Missing as error:
            self._skip(self.made.id, "the fix cannot be read", str(error))
            return
        for file in self._within_limits(files):
            yield from self._file(file)

    def _skip(self, item: str, reason: str, detail: str = "") -> None:
        self.drops.append(_drop(item, reason, detail))

    def _within_limits(self, files: tuple[FileDiff, ...]) -> list[FileDiff]:
        """The files of the fix that are traced; none when it is too large."""
        settings, kept = self.settings, []
        if len(files) > settings.max_files:
            self._skip(self.made.id, f"more than {settings.max_files} files", str(len(files)))
            return []
        for file in files:
            if reason := _unwanted(file, settings):
                self._skip(file.path, reason)
            else:
                kept.append(file)
        lines = sum(len(patch.old) for file in kept for patch in file.patches)
        if lines > settings.max_lines:
            self._skip(self.made.id, f"more than {settings.max_lines} deleted lines", str(lines))
            return []
        if not lines:
            adds = any(file.patches for file in kept)
            self._skip(self.made.id, "the fix only adds lines" if adds else "the fix changes no line of code")
        return kept

    def _file(self, file: FileDiff) -> Iterator[Inducing]:
        touched = {
            patch.old_start + n: (text, bool(patch.new)) for patch in file.patches for n, text in enumerate(patch.old)
        }
        if file.old is None or not touched:
            return
        try:
            blamed = self.history.blame(self.made.parents[0], file.old, touched, whitespace=self.whitespace)
        except Missing as error:
            self._skip(file.old, "cannot be blamed", str(error))
            return
        for one in blamed:
            reason, when = self._refusal(one)
            if reason or when is None:
                self._skip(f"{file.old}:{one.line}", reason, one.commit)
                continue
            text, modified = touched[one.line]
            yield Inducing(
                commit=one.commit,
                path=one.path,
                line=one.origin,
                text=_readable(text),
                fix=self.made.id,
                fix_path=file.old,
                fix_line=one.line,
                reason=f"the fix {'modifies' if modified else 'deletes'} this line",
                when=when,
            )

    def _refusal(self, one: Blamed) -> tuple[str, datetime | None]:
        """(why the blamed commit is not taken, its date); the reason is empty where it is taken."""
        settings, commit = self.settings, self.history.commit(one.commit)
        if commit is None:
            return "the inducing commit is not here", None
        if commit.parents and self.history.commit(commit.parents[0]) is None:
            return "the history is cut off before this line was written", None
        days = (self.made.date - commit.date).total_seconds() / _DAY
        if self.fix.opened is not None and commit.date > self.fix.opened:
            return "written after the issue was opened", None
        if max(days, 0.0) < settings.min_days:
            return f"written less than {settings.min_days:g} days before the fix", None
        if settings.max_days is not None and days > settings.max_days:
            return f"written more than {settings.max_days:g} days before the fix", None
        return "", commit.date


def _drop(item: str, reason: str, detail: str = "") -> Drop:
    return Drop(item=item, by="szz", reason=reason, detail=detail)


def _unwanted(file: FileDiff, settings: SzzSettings) -> str:
    path = file.old or file.path
    if SUBMODULE in (file.old_mode, file.new_mode):
        return "a submodule"
    if LINK in (file.old_mode, file.new_mode):
        return "a symbolic link"
    if not settings.documentation and is_documentation(path):
        return "documentation"
    if not settings.tests and is_test(path):
        return "a test"
    if not settings.generated and is_generated_or_vendored(path):
        return "generated or vendored"
    if file.binary:
        return f"binary, or larger than {settings.largest_file} bytes"
    return ""


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


def _readable(text: bytes) -> str:
    return text.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}").rstrip("\r")
