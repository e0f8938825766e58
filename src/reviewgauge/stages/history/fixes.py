"""Which changes a later fix speaks about: fixes are traced once and remembered, and what they blame is weighed here."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from reviewgauge.core.building import BuildContext
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.fix_messages import FixKind
from reviewgauge.repo.szz.records import Inducing, SzzSettings, Trace
from reviewgauge.repo.szz.trace import index_history, trace_many
from reviewgauge.stages.history.changes import ChangeStore
from reviewgauge.stages.history.lines import not_product, trivial

_DAY = 86_400.0  # seconds
_SKEW = 1.0  # days that clocks may differ by


@dataclass(frozen=True, slots=True)
class FoundFix:
    """A change that mends, or may mend, something. `number` is its own number, `undone` that of what it takes back."""

    number: int
    landed: str
    landed_at: datetime
    mending: FixKind
    takes_back: bool = False
    undone: int | None = None
    explained: bool = True


@dataclass
class Blame:
    """What later fixes say of one change.

    `fixes` are the numbers (in the list of fixes) of those that mend it within the horizon, `late` is set where the
    first came later, `doubts` are reasons why it is not a clean change either.
    """

    fixes: list[int] = field(default_factory=list)
    late: bool = False
    doubts: set[str] = field(default_factory=set)


@dataclass
class Traced:
    """What became of all fixes: the blame of each change by its number, and why fixes and lines did not count."""

    blames: dict[int, Blame] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    skipped_lines: Counter[str] = field(default_factory=Counter)
    lines: int = 0

    def of(self, number: int) -> Blame:
        """The blame of a change, to be added to."""
        return self.blames.setdefault(number, Blame())


@cache
def tracing_code() -> str:
    """A fingerprint of all code that traces: what other code remembered of a fix is found out anew.

    Else a folder that was begun with an older version would end as another benchmark than a new one.
    """
    return fingerprint(files("reviewgauge.repo"))


def fingerprint(folder: Traversable) -> str:
    """Of the names and contents of the Python files that lie right in `folder`."""
    found = hashlib.sha256()
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            found.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()[:16]


@dataclass(frozen=True)
class Tracer:
    """Traces fixes with what a build remembers."""

    repository: Repository
    place: BuildContext
    store: ChangeStore
    settings: SzzSettings
    horizon: float
    min_days: float
    max_files: int
    max_lines: int

    def trace_all(self, fixes: list[FoundFix]) -> Traced:
        """What every fix blames. Each new trace is on disk before the next is looked at."""
        missing = [fix.landed for fix in fixes if self.place.recall(self._key(fix.landed)) is None]
        done = len(fixes) - len(missing)
        if missing:
            index_history(self.repository, self.place.code)
        with closing(trace_many(self.repository, missing, self.settings)) as traces:
            for trace in traces:
                self.place.remember(self._key(trace.fix), trace.model_dump_json(exclude_defaults=True).encode())
                done += 1
                self.place.progress("tracing fixes", done, len(fixes))
        found = Traced()
        for index, fix in enumerate(fixes):
            self._weigh(found, index, fix)
        return found

    def recall(self, landed: str) -> Trace:
        """The trace of a fix that was traced before."""
        known = self.place.recall(self._key(landed))
        return Trace(fix=landed) if known is None else Trace.model_validate_json(known)

    def _key(self, landed: str) -> tuple[str, ...]:
        return ("from_git", tracing_code(), repr(self.settings), landed)

    def _weigh(self, found: Traced, index: int, fix: FoundFix) -> None:
        trace = self.recall(fix.landed)
        outcome = self._undo(found, index, fix)
        sure = fix.mending is FixKind.YES and not fix.takes_back
        too_large = self._too_large(trace) if sure else ""
        no_label = (
            "of a fix that is too large" if too_large else "" if sure else "of what only may be a fix, or takes back"
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
        for owner in doubted - ({fix.undone} if fix.undone is not None else set()):
            if sure and not too_large and owner in counted:
                self._blame(found, index, fix, owner)
            else:
                found.of(owner).doubts.add("a later change may have mended it")
        if outcome or not sure:
            found.outcomes[outcome or "may mend something: makes its origin no clean change"] += 1
        elif too_large:
            found.outcomes[too_large] += 1
        elif counted:
            found.outcomes["traced"] += 1
        else:
            found.outcomes[_why_nothing(trace)] += 1

    def _blame(self, found: Traced, index: int, fix: FoundFix, owner: int) -> None:
        days = (fix.landed_at - self.store.get(owner).landed_at).total_seconds() / _DAY
        blame = found.of(owner)
        if days > self.horizon:
            blame.late = True
        elif days < -_SKEW:
            blame.doubts.add("a fix is dated before it: a clock was wrong")
        elif max(days, 0.0) < self.min_days:
            blame.doubts.add("mended sooner than min_days")
        else:
            blame.fixes.append(index)

    def _undo(self, found: Traced, index: int, fix: FoundFix) -> str:
        """What a revert says of the change that it names."""
        if not fix.takes_back:
            return ""
        if fix.undone is None or fix.undone == fix.number:
            return "takes back a change that it does not name"
        if not fix.explained:
            found.of(fix.undone).doubts.add("taken back without a reason")
            return "takes back a change and does not say why"
        self._blame(found, index, fix, fix.undone)
        return "takes back a change and says why"

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
