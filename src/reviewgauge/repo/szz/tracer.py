"""The way back from one fix: its files, its lines, and the commits behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reviewgauge.core.results import Drop
from reviewgauge.repo.syntax.languages import HEAD, is_documentation, is_generated_or_vendored, is_test
from reviewgauge.repo.szz.blame import Blamed, History, Made, Missing, runs
from reviewgauge.repo.szz.choice import LINE_REASONS, Choice, Touched
from reviewgauge.repo.szz.diffs import LINK, SUBMODULE, FileDiff
from reviewgauge.repo.szz.records import Fix, Inducing, SzzSettings
from reviewgauge.repo.szz.skip_commits import Before, Through

_DAY = 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class _Way:
    """The commits that were looked through on the way to a line, latest first."""

    through: tuple[str, ...] = ()

    def then(self, commit: str, why: str) -> _Way:
        return _Way((*self.through, f"{commit[:12]} {why}"))


class Tracer:
    """One fix that is traced; `skipped` and `notes` fill while `lines` is read."""

    def __init__(self, history: History, through: Through, fix: Fix, made: Made, settings: SzzSettings) -> None:
        self._history, self._through, self._fix, self._made, self._settings = history, through, fix, made, settings
        self._form = settings.variant != "basic"
        self._whitespace = not self._form if settings.whitespace is None else settings.whitespace
        self.skipped: list[Drop] = []
        self.notes: list[str] = []

    def lines(self) -> Iterator[Inducing]:
        """Each line that the fix had to change and that counts."""
        try:
            files = self._history.diff(self._made.id, self._made.parents[0])
        except Missing as error:
            self._skip(self._made.id, "the fix cannot be read", str(error))
            return
        kept = self._within_limits(files)
        if not kept:
            return
        follow = self._settings.refactoring
        choice = Choice(self._history, files, form=self._form, moves=follow, renames=follow)
        touched = self._all_countable(choice, kept)
        if follow and not any(touched.values()):
            choice = Choice(self._history, files, form=self._form, renames=True)  # it moves lines: that is the fix
            touched = self._all_countable(choice, kept)
        if not any(touched.values()):
            touched = {file.path: choice.beside(file, self._settings.beside) for file in kept}
        if not any(touched.values()):
            self._skip(self._made.id, _nothing(kept))
        for file in kept:
            yield from self._follow(file, touched[file.path])

    def _skip(self, item: str, reason: str, detail: str = "") -> None:
        self.skipped.append(Drop(item=item, by="szz", reason=reason, detail=detail))

    # --- what is traced ---

    def _within_limits(self, files: tuple[FileDiff, ...]) -> list[FileDiff]:
        """The files of the fix that are traced; none when it is too large."""
        settings, kept = self._settings, []
        if len(files) > settings.max_files:
            self._skip(self._made.id, f"more than {settings.max_files} files", str(len(files)))
            return []
        for file in files:
            if reason := self._unwanted(file):
                self._skip(file.path, reason)
            else:
                kept.append(file)
        lines = sum(len(patch.old) for file in kept for patch in file.patches)
        if lines > settings.max_lines:
            self._skip(self._made.id, f"more than {settings.max_lines} deleted lines", str(lines))
            return []
        if not kept:
            self._skip(self._made.id, "the fix changes no file that is traced")
        return kept

    def _unwanted(self, file: FileDiff) -> str:
        settings, path = self._settings, file.old or file.path
        if SUBMODULE in (file.old_mode, file.new_mode):
            return "a submodule"
        if LINK in (file.old_mode, file.new_mode):
            return "a symbolic link"
        if not settings.documentation and is_documentation(path):
            return "documentation"
        if not settings.tests and is_test(path):
            return "a test"
        if file.binary:
            return f"binary, or larger than {settings.largest_file} bytes"
        if not settings.generated:
            content = self._history.content(file.old_blob) if file.old is not None else None
            if is_generated_or_vendored(path, None if content is None else content[:HEAD]):
                return "generated or vendored"
        return ""

    def _all_countable(self, choice: Choice, files: list[FileDiff]) -> dict[str, dict[int, Touched]]:
        """By file the lines whose authors are asked for; what was skipped in an earlier choice is chosen anew."""
        self.skipped = [drop for drop in self.skipped if drop.reason not in LINE_REASONS]
        self.notes = []
        return {file.path: self._countable(choice, file) for file in files}

    def _countable(self, choice: Choice, file: FileDiff) -> dict[int, Touched]:
        """The lines of one file whose authors are asked for; the others are skipped, neighbours together."""
        lines = choice.lines(file)
        for reason in dict.fromkeys(line.skipped for line in lines.values() if line.skipped):
            for start, end in runs(n for n, line in lines.items() if line.skipped == reason):
                self._skip(f"{file.old}:{start}" + (f"-{end}" if end > start else ""), reason)
        if reason := choice.unknown(file):
            self.notes.append(f"{file.old}: {reason}, so a comment is told by how its line begins, if at all")
        return {n: line for n, line in lines.items() if not line.skipped}

    # --- who brought it ---

    def _follow(self, file: FileDiff, touched: dict[int, Touched]) -> Iterator[Inducing]:
        """Back from the lines of one file, through the commits that do not count."""
        if file.old is None or not touched:
            return
        steps = {(self._made.parents[0], file.old): {line: {line: _Way()} for line in touched}}
        found: dict[tuple[int, str, str, int], Inducing] = {}
        while steps:
            (commit, path), lines = steps.popitem()
            try:
                blamed = self._history.blame(commit, path, lines, whitespace=self._whitespace)
            except Missing as error:
                self._skip(path, "cannot be blamed", str(error))
                continue
            for one in blamed:
                for fix_line, way in lines[one.line].items():
                    earlier = self._earlier(file.old, fix_line, one, way)
                    if earlier is None:
                        continue
                    for before in earlier:
                        target = steps.setdefault((before.parent, before.path), {})
                        for line in before.lines:
                            target.setdefault(line, {}).setdefault(fix_line, way.then(one.commit, before.why))
                    if not earlier and (line_found := self._inducing(file.old, fix_line, touched[fix_line], one, way)):
                        found.setdefault((fix_line, one.commit, one.path, one.origin), line_found)
        yield from (found[key] for key in sorted(found))

    def _earlier(self, path: str, fix_line: int, one: Blamed, way: _Way) -> tuple[Before, ...] | None:
        """Where to go on from a blamed commit; empty when it is the one, None when nothing can be said."""
        item, commit = f"{path}:{fix_line}", self._history.commit(one.commit)
        if commit is None:
            self._skip(item, "the inducing commit is not here", one.commit)
            return None
        if commit.parents and self._history.commit(commit.parents[0]) is None:
            self._skip(item, "the history is cut off before this line was written", one.commit)
            return None
        earlier = self._through.before(commit, one)
        if isinstance(earlier, str):
            self._skip(item, earlier, one.commit)
            return None
        if earlier and len(way.through) >= self._settings.depth:
            self._skip(item, f"touched without content by more than {self._settings.depth} commits", one.commit)
            return None
        return earlier

    def _inducing(self, path: str, fix_line: int, touched: Touched, one: Blamed, way: _Way) -> Inducing | None:
        commit = self._history.commit(one.commit)
        if commit is None:
            return None
        if reason := self._too_early_or_late(commit):
            self._skip(f"{path}:{fix_line}", reason, one.commit)
            return None
        return Inducing(
            commit=one.commit,
            path=one.path,
            line=one.origin,
            text=_readable(touched.text),
            fix=self._made.id,
            fix_path=path,
            fix_line=fix_line,
            reason=touched.reason,
            when=commit.date,
            through=way.through,
        )

    def _too_early_or_late(self, commit: Made) -> str:
        settings = self._settings
        days = (self._made.date - commit.date).total_seconds() / _DAY
        if days < 0 and (note := f"{commit.id[:12]} is dated after the fix that follows it") not in self.notes:
            self.notes.append(note)
        if self._fix.opened is not None and commit.date > self._fix.opened:
            return "written after the issue was opened"
        if max(days, 0.0) < settings.min_days:
            return f"written less than {settings.min_days:g} days before the fix"
        if settings.max_days is not None and days > settings.max_days:
            return f"written more than {settings.max_days:g} days before the fix"
        return ""


def _nothing(files: list[FileDiff]) -> str:
    """Why there is nothing to blame in any of the files."""
    if any(patch.old for file in files for patch in file.patches):
        return "the fix changes blank lines, comments, format or places only"
    return "the fix only adds lines" if any(file.patches for file in files) else "the fix changes no line"


def _readable(text: bytes) -> str:
    return text.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}").rstrip("\r")
