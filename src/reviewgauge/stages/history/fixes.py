"""What became of a change later: the fixes that blame it, traced once each and weighed, and who rewrote its lines."""

from __future__ import annotations

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile
from reviewgauge.repo.diff.diffs import Kind, normal, parse_patch
from reviewgauge.repo.history.commits import Commit
from reviewgauge.repo.history.fix_messages import (
    CLOSES_AN_ISSUE,
    LONGEST_READ,
    FixKind,
    FixSigns,
    issue_numbers,
    read_message,
    speaks_of_a_defect,
)
from reviewgauge.repo.history.landed_changes import LandedChange, MergeKind, pull_number
from reviewgauge.repo.syntax.languages import is_test, not_product, trivial
from reviewgauge.repo.szz.skipping import BESIDE
from reviewgauge.repo.szz.trace import Fix, Inducing, SzzSettings, Trace
from reviewgauge.stages.history.lines import texts
from reviewgauge.stages.history.memory import HistoryMemory

_FOREIGN_ISSUE = re.compile(r"\b[\w.-]{1,100}/[\w.-]{1,100}#\d+")
_MERGED = re.compile(r"\s*+merge\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“][^\"“”]{0,300}[\"”]")
_REVERT_TEMPLATE = re.compile(
    r"this reverts (?:commit|merge)s? [0-9a-f]+[^\n]*|^revert\w*[^\n]*", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class FoundFix:
    """A change that fixes, or may fix, something. `commit` brought it in and has no message here.

    `number` is its own number, `reverted` those of the changes that it reverts, the oldest first. `explained`: it says
    what was wrong. `issues` are those that its message speaks about; `bare`: a closing word is its only sign.
    """

    number: int
    commit: Commit
    kind: FixKind
    is_revert: bool
    reverted: tuple[int, ...]
    explained: bool
    issues: tuple[int, ...] = ()
    bare: bool = False


class ChangeStore:
    """Changes in the order in which they landed, in a file; in memory is only which change a commit belongs to.

    The file has no name and lies on the disk of `folder`: that of temporary files may be small.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by close()
        self._owner: dict[bytes, int] = {}
        self._starts: list[int] = []
        self._known: list[int] = []
        self._by_pull: dict[int, int] = {}
        self._largest = [0, 0]

    def close(self) -> None:
        """Give the disk back."""
        self._file.close()

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, change: LandedChange) -> int:
        """Keep `change`; its number, counted from 0."""
        number = len(self._starts)
        self._starts.append(self._file.seek(0, 2))
        pull = pull_number(change.commit.subject) or 0
        closed = issue_numbers(_FOREIGN_ISSUE.sub("", f"{change.title}\n{change.description}"), closed=True)
        self._known.append(max(pull, self._largest[0], *closed))
        self._largest = sorted({*self._largest, pull})[-2:]
        if pull:
            self._by_pull.setdefault(pull, number)
        shortened = change.commit.model_copy(update={"message": change.commit.message[:LONGEST_READ]})
        self._file.write(change.model_copy(update={"commit": shortened}).to_line())
        for commit in (*change.commits, change.commit.id):
            self._owner.setdefault(bytes.fromhex(commit), number)
        return number

    def known_issues(self, number: int) -> int:
        """The largest number of an issue that surely existed before a change landed; 0 where nothing is known.

        Issues and pull requests are counted together. It is the number of its own pull request, of an issue that it
        closes, or the second largest among the pull requests that landed before (one number may be a foreign one).
        """
        return self._known[number]

    def owner(self, commit: str) -> int | None:
        """The number of the change that `commit` belongs to, None when it came in by none."""
        return self._owner.get(bytes.fromhex(commit))

    def owner_of_short(self, commit: str) -> int | None:
        """As `owner`, for an id of which only the beginning is given; None when it is not unique."""
        if len(commit) in (40, 64):
            return self.owner(commit)
        found = {number for full, number in self._owner.items() if full.hex().startswith(commit)}
        return found.pop() if len(found) == 1 else None

    def get(self, number: int) -> LandedChange:
        """The change of that number."""
        self._file.seek(self._starts[number])
        return LandedChange.model_validate_json(self._file.readline())

    def found_fix(self, number: int, change: LandedChange, signs: FixSigns) -> FoundFix | None:
        """The fix that a change is by its `signs`; None where it is not one. Only earlier changes can be reverted."""
        if signs.kind is FixKind.NO:
            return None
        owners = [self.owner_of_short(commit) for commit in signs.reverts]
        owners += [self._by_pull.get(pull) for pull in signs.reverted_pulls]
        own = _QUOTED.sub("", _REVERT_TEMPLATE.sub("", change.description))
        return FoundFix(
            number=number,
            commit=change.commit.model_copy(update={"message": ""}),
            kind=signs.kind,
            is_revert=signs.is_revert,
            reverted=tuple(sorted({owner for owner in owners if owner is not None and owner != number})),
            explained=len(re.findall(r"\w+", own)) >= 4 and speaks_of_a_defect(own),
            issues=_own_issues(change),
            bare=signs.reason == CLOSES_AN_ISSUE,
        )


def classify_message(change: LandedChange) -> FixSigns:
    """The signs of a fix in a change: by the title of its pull request or its own message, whichever is surer.

    A branch of several commits is read by the merge's title, and where that has none by its first commit: what it
    corrected along the way was often its own.
    """
    landed = read_message(change.commit.message)
    if change.landing is not MergeKind.MERGE:
        return landed
    own = read_message(f"{change.title}\n\n{change.description}")
    if landed.reason == "no bug fix: merge of lines" or not _has_title(change.commit.message):
        return own
    rank = {FixKind.YES: 2, FixKind.PERHAPS: 1, FixKind.NO: 0}
    if len(change.commits) == 1 and not landed.reason.startswith("no bug fix"):
        return max(landed, own, key=lambda signs: rank[signs.kind])
    return landed


def _own_issues(change: LandedChange) -> tuple[int, ...]:
    """The issues that a fix closes, or names in its title."""
    texts = [
        _FOREIGN_ISSUE.sub("", text) for text in (change.commit.message, f"{change.title}\n\n{change.description}")
    ]
    titles = [text.strip().split("\n")[0] for text in texts if not _MERGED.match(text)]
    found = [issue_numbers(text, closed=True) for text in texts] + [issue_numbers(title) for title in titles]
    return tuple(sorted({number for numbers in found for number in numbers}))


def _has_title(message: str) -> bool:
    """Whether a merge's message says more than which branch was merged."""
    return len(message.strip().split("\n\n", 1)) == 2


def fix_text(change: LandedChange) -> str:
    """The text of a fix, for people: the title of its pull request or its own, and its description."""
    title, message = change.title, change.commit.message
    if change.landing is MergeKind.MERGE and _has_title(message):
        pull_title = message.strip().split("\n\n", 1)[1].strip().split("\n")[0].strip()
        title = pull_title if len(pull_title) > len(title) or len(change.commits) > 1 else title
    return f"{title}\n\n{change.description}".strip()


_SKEW = 1.0  # days that clocks may differ by


@dataclass
class Blame:
    """The later fixes of one change.

    `fixes` are the numbers (in the list of fixes) of those that fix it within the horizon, `doubts` are reasons why it
    is not a clean change either.
    """

    fixes: list[int] = field(default_factory=list)
    doubts: set[str] = field(default_factory=set)


@dataclass
class Traced:
    """The blame of each change by its number, and why fixes and lines did not count."""

    blames: defaultdict[int, Blame] = field(default_factory=lambda: defaultdict(Blame))
    outcomes: Counter[str] = field(default_factory=Counter)
    skipped_lines: Counter[str] = field(default_factory=Counter)
    lines: int = 0


@dataclass(frozen=True)
class FixTracer:
    """Traces fixes with what a build remembers.

    With `perhaps`, what only may be a fix makes labels, too; with `beside`, a fix that only adds lines does.
    """

    memory: HistoryMemory
    store: ChangeStore
    settings: SzzSettings
    horizon: float
    min_days: float
    max_files: int
    max_lines: int
    perhaps: bool = False
    beside: bool = False
    cited: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def trace_all(self, fixes: list[FoundFix]) -> Traced:
        """The blame of all fixes."""
        found = Traced()
        traces = self.memory.traces([Fix(fix.commit.id) for fix in fixes], self.settings)
        for index, (fix, trace) in enumerate(zip(fixes, traces, strict=True)):
            self._weigh(found, index, fix, trace)
        return found

    def recall(self, commit: str) -> Trace:
        """The trace of a fix that was traced before."""
        return self.memory.trace(Fix(commit), self.settings)

    def _weigh(self, found: Traced, index: int, fix: FoundFix, trace: Trace) -> None:
        outcome = self._weigh_revert(found, index, fix)
        sure = (fix.kind is FixKind.YES or self.perhaps) and not fix.is_revert
        too_large = self._too_large(trace) if sure else ""
        no_label = "" if sure else "of what only may be a fix, or of a revert"
        if too_large:
            no_label = "of a fix that is too large"
        counted: set[int] = set()
        owners: set[int] = set()
        for _, owner, reason in self.lines(trace, fix):
            found.lines += 1
            if reason or no_label:
                found.skipped_lines[reason or no_label] += 1
            if owner is not None and owner != fix.number:
                (owners if reason or no_label else counted).add(owner)
        for owner in (owners | counted).difference(fix.reverted if fix.is_revert else ()):
            if owner in counted and owner not in fix.reverted[1:]:
                self._blame(found, index, fix, owner)
            else:
                found.blames[owner].doubts.add("a later change may have fixed it")
        if not outcome and not sure:
            outcome = "may fix something: its origin is not a clean change"
        elif not outcome:
            outcome = too_large or ("traced" if counted else _why_nothing(trace))
        found.outcomes[outcome] += 1

    def _blame(self, found: Traced, index: int, fix: FoundFix, owner: int) -> None:
        days = (fix.commit.committed - self.store.get(owner).commit.committed) / timedelta(days=1)
        blame = found.blames[owner]
        if days > self.horizon:
            blame.doubts.add("first fixed after the horizon")
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
        if not fix.reverted:
            return "reverts a change that it does not name"
        oldest, *others = fix.reverted  # what came later on top of it had to go with it
        for owner in others:
            found.blames[owner].doubts.add("reverted together with an older change")
        if not fix.explained:
            found.blames[oldest].doubts.add("reverted without a reason")
            return "reverts a change and does not say why"
        self._blame(found, index, fix, oldest)
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
        if line.reason == BESIDE and not self.beside:
            return "only beside what a fix adds"
        if reason := trivial(line.text):
            return reason
        if owner is None:
            return "came with the first commit, or a change that was left out"
        if owner == fix.number:
            return "came with the same change"
        return "its issue is older than the change" if self._older_issue(owner, fix) else ""

    def _older_issue(self, owner: int, fix: FoundFix) -> bool:
        """Whether all that a fix speaks about was reported before the change landed: it cannot be its defect."""
        known = self.store.known_issues(owner)
        return known > 0 and max((*fix.issues, *self._cited(fix.commit.id)), default=known) < known

    def _cited(self, commit: str) -> tuple[int, ...]:
        """The issues that the tests of a fix name."""
        if commit not in self.cited:
            self.cited[commit] = _issues_in_tests(self.memory, commit)
        return self.cited[commit]


def _issues_in_tests(memory: HistoryMemory, commit: str) -> tuple[int, ...]:
    try:
        files = memory.files(f"{commit}^", commit)
    except UserError:
        return ()
    tests = (file.patch or "" for file in files if is_test(file.path))
    added = "\n".join(line[1:] for patch in tests for line in patch.split("\n") if line.startswith("+"))
    return issue_numbers("\n" + added.replace("_", " "))


def _why_nothing(trace: Trace) -> str:
    if trace.inducing:
        return "blames no line that counts"
    return trace.skipped[-1].reason if trace.skipped else "nothing to blame"


_SHORT = 8  # characters of a line, without blanks, from which on it is known again


@dataclass
class Rewrites:
    """The lines that later changes rewrote, whatever their messages say, with the numbers of those changes.

    Some defects are mended in silence ("Small change"), so a change whose lines another one rewrote is no clean case.
    Lines are known again by their text: blaming every commit of a history would take hours.
    """

    _by_line: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, number: int, files: Sequence[ChangedFile]) -> None:
        """Remember what the change of that number rewrites."""
        kept = texts(files, "+")
        for line in {(path, text) for path, text in _product_lines(files, "-") if text not in kept}:
            self._by_line[hash(line)].append(number)

    def first_after(self, number: int, files: Sequence[ChangedFile]) -> int | None:
        """The first later change that rewrote a line which the change of that number adds; None where none did."""
        found = {later for line in _product_lines(files, "+") for later in self._by_line.get(hash(line), ())}
        return min((later for later in found if later > number), default=None)


def _product_lines(files: Sequence[ChangedFile], kind: Kind) -> Iterator[tuple[str, str]]:
    """(path, text without blanks) of the lines of product code of one kind in a diff, of those that say something."""
    for file in files:
        path = file.path if kind == "+" else file.old_path or file.path
        if not not_product(path):
            for line in (line for hunk in parse_patch(file.patch or "") for line in hunk.lines):
                if line.kind == kind and not trivial(line.text) and len(text := normal(line.text)) >= _SHORT:
                    yield path, text
