"""Reads the diffs of the changes that may be cases, and makes a case of each when it is labelled."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from pydantic import ValidationError

from reviewgauge.core.building import BuildContext
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, ChangedFile, Side
from reviewgauge.repo.diff.diffs import changed_lines
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE, LandedChange
from reviewgauge.stages.history import card
from reviewgauge.stages.history.changes import ChangeStore, FoundFix
from reviewgauge.stages.history.fixes import Blame, Traced
from reviewgauge.stages.history.labels import DiffedChange, Labeller
from reviewgauge.stages.history.lines import not_product, trivial
from reviewgauge.stages.sampling.facts import change_facts

_DAY = 86_400.0  # seconds
_AHEAD = 16  # changes whose diff is read ahead


class Refusal(NamedTuple):
    """Why a change is not a case: `reason` is one of few, particulars are in `detail`."""

    item: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CaseLimits:
    """Which changes may be cases."""

    horizon: int
    since: str
    limit: int
    max_lines: int
    max_files: int


@dataclass
class CaseMaker:
    """Goes through the changes once more. `until` is the end of what was observed."""

    name: str
    repository: Repository
    store: ChangeStore
    traced: Traced
    fixes: Sequence[FoundFix]
    limits: CaseLimits
    until: datetime
    counts: card.Counts

    def __post_init__(self) -> None:
        """Note which changes are reverts, and prepare the sample of clean changes."""
        self._sample = card.CleanSample(seed=0)
        self._reverts = {fix.number for fix in self.fixes if fix.is_revert}
        since = self.limits.since
        self._since = datetime.combine(date.fromisoformat(since), time(), UTC) if since else None

    def diffs(self, context: BuildContext) -> Iterator[DiffedChange | Refusal]:
        """The changes that may be cases, in their order, with diffs that two threads read ahead."""
        total = len(self.store)
        first = max(0, total - self.limits.limit) if self.limits.limit else 0
        with ThreadPoolExecutor(2) as pool:
            ahead: deque[Future[DiffedChange | Refusal] | Refusal] = deque()
            for number in range(first, total):
                change = self.store.get(number)
                why = self._refused(number, change)
                ahead.append(Refusal(self._item(change), why) if why else pool.submit(self._read, number, change))
                if len(ahead) > _AHEAD:
                    yield _result(ahead.popleft())
                context.progress("making cases", number - first + 1, total - first)
            while ahead:
                yield _result(ahead.popleft())

    def label(self, found: DiffedChange | Refusal, labeller: Labeller) -> DiffedChange | Refusal:
        """`found` with its references."""
        if isinstance(found, Refusal):
            return found
        item = self._item(found.change)
        try:
            labelled = labeller.label(found)
        except UserError as error:  # a partial or damaged repository
            return Refusal(item, "code that a fix speaks about cannot be read", str(error))
        if labelled.fixes and not labelled.references:
            return Refusal(item, "a fix speaks about it, but not about lines that count")
        return labelled

    def case(self, labelled: DiffedChange | Refusal) -> Case | Refusal:
        """The case of a labelled change."""
        if isinstance(labelled, Refusal):
            return labelled
        change = labelled.change
        try:
            shown = Change(
                repo=self.name,
                base=change.base,
                head=change.head,
                title=change.title,
                description=change.description,
                files=labelled.files,
                git=str(self.repository.git_dir),
            )
            facts = change_facts(shown, change.authored, len(change.commits)) | {"landing": change.landing.value}
            references = labelled.references
            case = Case(id=self._item(change), change=shown, references=references, verdict=not references, facts=facts)
        except ValidationError as error:
            return Refusal(self._item(change), "cannot be a record", str(error).split("\n")[0])
        self._count(labelled)
        return case

    def survival(self) -> list[float]:
        """Of each drawn clean change: the share of its added lines that were gone at the end of its horizon."""
        shares = []
        for change, files in self._sample.drawn:
            later = self._last_by(change.commit.committed + timedelta(days=self.limits.horizon))
            gone = card.share_gone(self.repository, change, files, later) if later else None
            shares += [] if gone is None else [gone]
        return shares

    def _item(self, change: LandedChange) -> str:
        return f"{self.name}/{change.head[:12]}"

    def _last_by(self, moment: datetime) -> str:
        """The commit of the last change that had landed by then, found by halving."""
        low, high = 0, len(self.store)
        while low < high:
            middle = (low + high) // 2
            landed = self.store.get(middle).commit.committed <= moment
            low, high = (middle + 1, high) if landed else (low, middle)
        return self.store.get(low - 1).commit.id if low else ""

    def _refused(self, number: int, change: LandedChange) -> str:
        """Why a change is not a case, as far as that can be told without its diff; empty when it may be one."""
        self.counts.changes += 1
        blame = self.traced.blames.get(number, Blame())
        young = (self.until - change.commit.committed).total_seconds() / _DAY < self.limits.horizon
        self.counts.young += young
        if self._since is not None and change.commit.committed < self._since:
            return "older than since"
        if number in self._reverts:
            return "reverts an earlier change: nothing new to review"
        if not change.title.strip():
            return "has no title"
        if blame.fixes:
            return ""
        if blame.late:
            return "first fixed after the horizon"
        if blame.doubts:
            return min(blame.doubts)
        return f"not observed for {self.limits.horizon} days yet, and no fix so far" if young else ""

    def _read(self, number: int, change: LandedChange) -> DiffedChange | Refusal:
        item = self._item(change)
        try:
            files = self.repository.changed_files(change.base, change.head, LARGEST_FILE)
        except UserError as error:
            return Refusal(item, "its diff cannot be read", str(error))
        if reason := self._unfit(files):
            return Refusal(item, reason)
        return DiffedChange(number, change, files, tuple(self.traced.blames.get(number, Blame()).fixes))

    def _unfit(self, files: Sequence[ChangedFile]) -> str:
        """Why a diff makes no case."""
        if not files:
            return "changes nothing"
        if len(files) > self.limits.max_files:
            return f"changes more than {self.limits.max_files} files"
        if sum(len(changed_lines(file, side)) for file in files for side in Side) > self.limits.max_lines:
            return f"changes more than {self.limits.max_lines} lines"
        if not any(_adds_code(file) for file in files):
            return "adds no line of the product's code"
        return ""

    def _count(self, labelled: DiffedChange) -> None:
        if not labelled.references:
            self.counts.clean += 1
            self._sample.offer(labelled.change, labelled.files)
            return
        self.counts.labelled += 1
        found = (one.extra.get("days") for one in labelled.references if one.same_as is None)
        self.counts.days += [days for days in found if isinstance(days, float)]


def _result(found: Future[DiffedChange | Refusal] | Refusal) -> DiffedChange | Refusal:
    return found if isinstance(found, Refusal) else found.result()


def _adds_code(file: ChangedFile) -> bool:
    if not_product(file.path) or file.patch is None:
        return False
    return any(line[:1] == "+" and not trivial(line[1:]) for line in file.patch.split("\n"))
