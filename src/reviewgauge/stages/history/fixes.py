"""Traces fixes to the changes that brought what they had to change, once each, and weighs what they blame."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from reviewgauge.core.building import BuildContext
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.fix_messages import FixKind
from reviewgauge.repo.szz.records import Inducing, SzzSettings, Trace
from reviewgauge.repo.szz.trace import index_history, trace_many
from reviewgauge.stages.history.changes import ChangeStore, FoundFix
from reviewgauge.stages.history.lines import not_product, trivial

_DAY = 86_400.0  # seconds
_SKEW = 1.0  # days that clocks may differ by


@dataclass
class Blame:
    """The later fixes of one change.

    `fixes` are the numbers (in the list of fixes) of those that fix it within the horizon, `late` is set where the
    first came later, `doubts` are reasons why it is not a clean change either.
    """

    fixes: list[int] = field(default_factory=list)
    late: bool = False
    doubts: set[str] = field(default_factory=set)


@dataclass
class Traced:
    """The blame of each change by its number, and why fixes and lines did not count."""

    blames: dict[int, Blame] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    skipped_lines: Counter[str] = field(default_factory=Counter)
    lines: int = 0

    def of(self, number: int) -> Blame:
        """The blame of a change, to be added to."""
        return self.blames.setdefault(number, Blame())


@cache
def tracing_code() -> str:
    """A fingerprint of all code that traces: a fix that other code traced is traced again.

    Else a folder that was begun with an older version would end as another benchmark than a new one.
    """
    return fingerprint(files("reviewgauge.repo"))


def fingerprint(folder: Traversable) -> str:
    """A hash of the names and contents of all Python files below `folder`."""
    found = hashlib.sha256()
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            found.update(entry.name.encode() + b"\0" + fingerprint(entry).encode() + b"\0")
        elif entry.name.endswith(".py"):
            found.update(entry.name.encode() + b"\0" + entry.read_bytes() + b"\0")
    return found.hexdigest()[:16]


@dataclass(frozen=True)
class FixTracer:
    """Traces fixes with what a build remembers."""

    repository: Repository
    context: BuildContext
    store: ChangeStore
    settings: SzzSettings
    horizon: float
    min_days: float
    max_files: int
    max_lines: int

    def trace_all(self, fixes: list[FoundFix]) -> Traced:
        """The blame of all fixes. Each new trace is on disk before the next begins."""
        missing = [fix.commit.id for fix in fixes if self.context.recall(self._key(fix.commit.id)) is None]
        done = len(fixes) - len(missing)
        if missing:
            index_history(self.repository, self.context.code)
        with closing(trace_many(self.repository, missing, self.settings)) as traces:
            for trace in traces:
                self.context.remember(self._key(trace.fix), trace.model_dump_json(exclude_defaults=True).encode())
                done += 1
                self.context.progress("tracing fixes", done, len(fixes))
        found = Traced()
        for index, fix in enumerate(fixes):
            self._weigh(found, index, fix)
        return found

    def recall(self, commit: str) -> Trace:
        """The trace of a fix that was traced before."""
        known = self.context.recall(self._key(commit))
        return Trace(fix=commit) if known is None else Trace.model_validate_json(known)

    def _key(self, commit: str) -> tuple[str, ...]:
        return ("from_git", tracing_code(), repr(self.settings), commit)

    def _weigh(self, found: Traced, index: int, fix: FoundFix) -> None:
        trace = self.recall(fix.commit.id)
        outcome = self._weigh_revert(found, index, fix)
        sure = fix.kind is FixKind.YES and not fix.is_revert
        too_large = self._too_large(trace) if sure else ""
        no_label = (
            "of a fix that is too large" if too_large else "" if sure else "of what only may be a fix, or of a revert"
        )
        counted: set[int] = set()
        doubted: set[int] = set()
        for _, owner, reason in self.lines(trace, fix):
            found.lines += 1
            if reason or no_label:
                found.skipped_lines[reason or no_label] += 1
            if owner is not None and owner != fix.number:
                doubted.add(owner)
                if not reason:
                    counted.add(owner)
        for owner in doubted - ({fix.reverted} if fix.reverted is not None else set()):
            if sure and not too_large and owner in counted:
                self._blame(found, index, fix, owner)
            else:
                found.of(owner).doubts.add("a later change may have fixed it")
        if outcome or not sure:
            found.outcomes[outcome or "may fix something: its origin is not a clean change"] += 1
        elif too_large:
            found.outcomes[too_large] += 1
        elif counted:
            found.outcomes["traced"] += 1
        else:
            found.outcomes[_why_nothing(trace)] += 1

    def _blame(self, found: Traced, index: int, fix: FoundFix, owner: int) -> None:
        days = (fix.commit.committed - self.store.get(owner).commit.committed).total_seconds() / _DAY
        blame = found.of(owner)
        if days > self.horizon:
            blame.late = True
        elif days < -_SKEW:
            blame.doubts.add("a fix is dated before it: a clock was wrong")
        elif max(days, 0.0) < self.min_days:
            blame.doubts.add("fixed sooner than min_days")
        else:
            blame.fixes.append(index)

    def _weigh_revert(self, found: Traced, index: int, fix: FoundFix) -> str:
        """The outcome of a revert; empty for other fixes."""
        if not fix.is_revert:
            return ""
        if fix.reverted is None or fix.reverted == fix.number:
            return "reverts a change that it does not name"
        if not fix.explained:
            found.of(fix.reverted).doubts.add("reverted without a reason")
            return "reverts a change and does not say why"
        self._blame(found, index, fix, fix.reverted)
        return "reverts a change and says why"

    def _too_large(self, trace: Trace) -> str:
        product = {line.fix_path for line in trace.inducing if not not_product(line.fix_path)}
        if len(product) > self.max_files:
            return f"changes code in more than {self.max_files} files"
        if len(trace.inducing) > self.max_lines:
            return f"replaces more than {self.max_lines} lines"
        return ""

    def lines(self, trace: Trace, fix: FoundFix) -> Iterator[tuple[Inducing, int | None, str]]:
        """Each blamed line, the number of the change it came with, and why it does not count (empty: it does)."""
        for line in trace.inducing:
            owner = self.store.owner(line.commit)
            yield line, owner, self._refusal(line, owner, fix)

    def _refusal(self, line: Inducing, owner: int | None, fix: FoundFix) -> str:
        if reason := not_product(line.fix_path) or not_product(line.path):
            return f"not in the product's code: {reason}"
        if line.reason.startswith("beside"):
            return "only beside what a fix adds"
        if reason := trivial(line.text):
            return reason
        if owner is None:
            return "came with the first commit, or a change that was left out"
        if owner == fix.number:
            return "came with the same change"
        return ""


def _why_nothing(trace: Trace) -> str:
    if trace.inducing:
        return "blames no line that counts"
    if trace.skipped:
        return trace.skipped[-1].reason
    return "nothing to blame"
