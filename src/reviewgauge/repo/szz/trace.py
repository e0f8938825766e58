"""Finds the commits that brought the lines that a fix had to change: the SZZ family.

`basic`: whoever last touched a line that the fix deletes or modifies (Śliwerski, Zimmermann, Zeller, MSR 2005).
`ag`: blank lines, comments and lines of which only the format changed do not count, in the fix and on the way back
(Kim, Zimmermann, Pan, Whitehead, ASE 2006). `ma`: merges and commits without content of their own are looked through
as well (da Costa et al., TSE 2017). Rules, figures and weak points: docs/explanation/szz.md.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from reviewgauge.core.base import Line, Record, RelPath, Text
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Drop
from reviewgauge.repo.diff.diffs import line_runs
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import Commit
from reviewgauge.repo.syntax.languages import HEAD, is_documentation, is_generated_or_vendored, is_test
from reviewgauge.repo.szz.blame import LINK, SUBMODULE, Blamed, FileDiff, GitReader, Missing
from reviewgauge.repo.szz.skipping import LINE_REASONS, CommitSkipper, EarlierLines, FixLines, Touched


@dataclass(frozen=True)
class SzzSettings:
    """The variant and the limits of SZZ.

    `refactoring`: lines that were moved and identifiers that were renamed are followed. `whitespace`: a change of white
    space alone counts as a change (None: in `basic` only). `beside`: for a fix without a line to blame, this many lines
    before and after each place where it adds some are blamed; 0 reports it as having nothing to blame. `choose`: all
    inducing commits, or of each fix only the latest (R-SZZ; Davies et al., 2014).

    Fixes of more than `max_files` files or `max_lines` deleted lines are skipped, files of more than `largest_file`
    bytes too. `documentation`, `generated` (and vendored) and `tests` say whether such files are traced.
    """

    variant: Literal["basic", "ag", "ma"] = "ma"
    refactoring: bool = False
    whitespace: bool | None = None
    beside: int = 0
    choose: Literal["all", "latest"] = "all"
    max_files: int = 50
    max_lines: int = 1000
    documentation: bool = False
    generated: bool = False
    tests: bool = True
    largest_file: int = 5_000_000

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.variant not in ("basic", "ag", "ma"):
            raise UserError(f"variant={self.variant!r} is not a variant of SZZ", remedy="choose basic, ag or ma")


@dataclass(frozen=True)
class Fix:
    """A fix to trace. `opened` is when its issue was reported, where that is known (an aware time)."""

    commit: str
    opened: datetime | None = None

    def __post_init__(self) -> None:
        """Check the time zone."""
        if self.opened is not None and self.opened.tzinfo is None:
            raise UserError(f"the time at which the issue of {self.commit} was opened has no time zone")


class Inducing(Record):
    """One line that a commit brought and a fix had to change.

    `line` of `path` as `commit` left it; `fix_line` of `fix_path` as it was just before the fix. `text` is the line
    before the fix. `when` is the earlier of the commit's two times. `through` are the commits that touched the line in
    between and do not count, latest first, each with what it did.
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
    """The outcome of one fix. `parent` is the commit that was blamed, empty where there is none.

    `skipped` names files (`path`), lines (`path:12` or `path:12-14`, as they were before the fix) or the fix itself,
    each with why. `notes` say where the settings could not be followed, such as comments of an unknown language.
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
        count = Counter(line.commit for line in self.inducing)
        return tuple(sorted(count, key=lambda c: (-count[c], c)))


_AHEAD = 8  # fixes that are traced ahead of the one that is being read, for each thread
_DEFAULT = SzzSettings()
_SECONDS = 60.0  # that one question to git may take
_DEPTH = 20  # commits that one line is followed through


def trace(repository: Repository, fix: str | Fix, settings: SzzSettings = _DEFAULT) -> Trace:
    """The lines that one fix had to change, and the commits that brought them."""
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
            git = stack.enter_context(GitReader(repository, settings.largest_file, _SECONDS))
            idle.put(_Session(git, settings))
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
    """Traces one fix after the other in one thread."""

    def __init__(self, git: GitReader, settings: SzzSettings) -> None:
        self._git, self._settings = git, settings
        form = settings.variant != "basic"
        self._skipper = CommitSkipper(git, form=form, meta=settings.variant == "ma", refactoring=settings.refactoring)

    def trace(self, fix: Fix) -> Trace:
        """The lines that one fix had to change, or why they cannot be found."""
        commit = self._git.commit(fix.commit)
        if commit is None:
            return _untraced(fix.commit, "the fix is not in this repository")
        if not commit.parents:
            return _untraced(commit.id, "the fix has no parent")
        if self._git.commit(commit.parents[0]) is None:
            return _untraced(commit.id, "the parent of the fix is not here", "a shallow or damaged repository")
        tracer = Tracer(self._git, self._skipper, fix, commit, self._settings)
        inducing = tuple(_chosen(list(tracer.lines()), self._settings))
        skipped, notes = tuple(tracer.skipped), tuple(tracer.notes)
        parent, when = commit.parents[0], commit.date
        return Trace(fix=commit.id, parent=parent, when=when, inducing=inducing, skipped=skipped, notes=notes)


def _untraced(fix: str, reason: str, detail: str = "") -> Trace:
    return Trace(fix=fix, skipped=(Drop(item=fix, by="szz", reason=reason, detail=detail),))


def _chosen(found: list[Inducing], settings: SzzSettings) -> list[Inducing]:
    if settings.choose == "all" or not found:
        return found
    latest = max(found, key=lambda line: (line.when, line.commit)).commit
    return [line for line in found if line.commit == latest]


Way = tuple[str, ...]
"""The commits that were looked through on the way to a line, latest first, each with why."""


class Tracer:
    """One fix that is traced; `skipped` and `notes` fill while `lines` is read."""

    def __init__(self, git: GitReader, skipper: CommitSkipper, fix: Fix, commit: Commit, settings: SzzSettings) -> None:
        self._git, self._skipper, self._fix, self._commit, self._settings = git, skipper, fix, commit, settings
        self._form = settings.variant != "basic"
        self._whitespace = not self._form if settings.whitespace is None else settings.whitespace
        self.skipped: list[Drop] = []
        self.notes: list[str] = []

    def lines(self) -> Iterator[Inducing]:
        """Each line that the fix had to change and that counts."""
        try:
            files = self._git.diff(self._commit.id, self._commit.parents[0])
        except Missing as error:
            self._skip(self._commit.id, "the fix cannot be read", str(error))
            return
        kept = self._within_limits(files)
        if not kept:
            return
        follow = self._settings.refactoring
        choice = FixLines(self._git, files, form=self._form, moves=follow, renames=follow)
        touched = self._all_countable(choice, kept)
        if follow and not any(touched.values()):
            choice = FixLines(self._git, files, form=self._form, renames=True)  # it moves lines: that is the fix
            touched = self._all_countable(choice, kept)
        if not any(touched.values()):
            touched = {file.path: choice.beside(file, self._settings.beside) for file in kept}
        if not any(touched.values()):
            self._skip(self._commit.id, _nothing(kept))
        for file in kept:
            yield from self._follow(file, touched[file.path])

    def _skip(self, item: str, reason: str, detail: str = "") -> None:
        self.skipped.append(Drop(item=item, by="szz", reason=reason, detail=detail))

    # --- which lines are traced ---

    def _within_limits(self, files: tuple[FileDiff, ...]) -> list[FileDiff]:
        """The files of the fix that are traced; none when it is too large."""
        settings, kept = self._settings, []
        if len(files) > settings.max_files:
            self._skip(self._commit.id, f"more than {settings.max_files} files", str(len(files)))
            return []
        for file in files:
            if reason := self._unwanted(file):
                self._skip(file.path, reason)
            else:
                kept.append(file)
        lines = sum(len(patch.old) for file in kept for patch in file.patches)
        if lines > settings.max_lines:
            self._skip(self._commit.id, f"more than {settings.max_lines} deleted lines", str(lines))
            return []
        if not kept:
            self._skip(self._commit.id, "the fix changes no file that is traced")
        return kept

    def _unwanted(self, file: FileDiff) -> str:
        settings, path = self._settings, file.old or file.path
        if SUBMODULE in (file.entry.old_mode, file.entry.new_mode):
            return "a submodule"
        if LINK in (file.entry.old_mode, file.entry.new_mode):
            return "a symbolic link"
        if not settings.documentation and is_documentation(path):
            return "documentation"
        if not settings.tests and is_test(path):
            return "a test"
        if file.binary:
            return f"binary, or larger than {settings.largest_file} bytes"
        if not settings.generated:
            content = self._git.content(file.entry.old) if file.old is not None else None
            if is_generated_or_vendored(path, None if content is None else content[:HEAD]):
                return "generated or vendored"
        return ""

    def _all_countable(self, choice: FixLines, files: list[FileDiff]) -> dict[str, dict[int, Touched]]:
        """The lines to blame, by file; lines skipped by an earlier choice are reconsidered."""
        self.skipped = [drop for drop in self.skipped if drop.reason not in LINE_REASONS]
        self.notes = []
        return {file.path: self._countable(choice, file) for file in files}

    def _countable(self, choice: FixLines, file: FileDiff) -> dict[int, Touched]:
        """The lines of one file whose authors are asked for; the others are skipped, neighbours together."""
        lines = choice.lines(file)
        for reason in dict.fromkeys(line.skipped for line in lines.values() if line.skipped):
            for start, end in line_runs(n for n, line in lines.items() if line.skipped == reason):
                self._skip(f"{file.old}:{start}" + (f"-{end}" if end > start else ""), reason)
        if reason := choice.unknown(file):
            self.notes.append(f"{file.old}: {reason}, so comments are recognised by how a line begins, if at all")
        return {n: line for n, line in lines.items() if not line.skipped}

    # --- which commits brought them ---

    def _follow(self, file: FileDiff, touched: dict[int, Touched]) -> Iterator[Inducing]:
        """Back from the lines of one file, through the commits that do not count."""
        if file.old is None or not touched:
            return
        steps: dict[tuple[str, str], dict[int, dict[int, Way]]] = {
            (self._commit.parents[0], file.old): {line: {line: ()} for line in touched}
        }
        found: dict[tuple[int, str, str, int], Inducing] = {}
        while steps:
            (commit, path), lines = steps.popitem()
            try:
                blamed = self._git.blame(commit, path, lines, whitespace=self._whitespace)
            except Missing as error:
                self._skip(path, "cannot be blamed", str(error))
                continue
            for one in blamed:
                for fix_line, way in lines[one.line].items():
                    earlier = self._earlier(one, way)
                    if isinstance(earlier, str):
                        self._skip(f"{file.old}:{fix_line}", earlier, one.commit)
                        continue
                    for before in earlier:
                        target = steps.setdefault((before.parent, before.path), {})
                        for line in before.lines:
                            target.setdefault(line, {}).setdefault(fix_line, (*way, f"{one.commit[:12]} {before.why}"))
                    if not earlier and (line_found := self._inducing(file.old, fix_line, touched[fix_line], one, way)):
                        found.setdefault((fix_line, one.commit, one.path, one.origin), line_found)
        yield from (found[key] for key in sorted(found))

    def _earlier(self, one: Blamed, way: Way) -> tuple[EarlierLines, ...] | str:
        """The lines before a blamed commit; empty when it is the origin, or why that is unknown."""
        commit = self._git.commit(one.commit)
        if commit is None:
            return "the inducing commit is not here"
        if commit.parents and self._git.commit(commit.parents[0]) is None:
            return "the history is cut off before this line was written"
        earlier = self._skipper.before(commit, one)
        if earlier and not isinstance(earlier, str) and len(way) >= _DEPTH:
            return f"touched without content by more than {_DEPTH} commits"
        return earlier

    def _inducing(self, path: str, fix_line: int, touched: Touched, one: Blamed, way: Way) -> Inducing | None:
        commit = self._git.commit(one.commit)
        if commit is None:
            return None
        if (
            commit.date > self._commit.date
            and (note := f"{commit.id[:12]} is dated after the fix that follows it") not in self.notes
        ):
            self.notes.append(note)
        if self._fix.opened is not None and commit.date > self._fix.opened:
            self._skip(f"{path}:{fix_line}", "written after the issue was opened", one.commit)
            return None
        return Inducing(
            commit=one.commit,
            path=one.path,
            line=one.origin,
            text=touched.text.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}").rstrip("\r"),
            fix=self._commit.id,
            fix_path=path,
            fix_line=fix_line,
            reason=touched.reason,
            when=commit.date,
            through=way,
        )


def _nothing(files: list[FileDiff]) -> str:
    """Why there is nothing to blame in any of the files."""
    if any(patch.old for file in files for patch in file.patches):
        return "the fix changes blank lines, comments, format or places only"
    return "the fix only adds lines" if any(file.patches for file in files) else "the fix changes no line"
