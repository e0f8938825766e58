"""Makes a case, or a drop with its reason, of each change of a history."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from pydantic import ValidationError

from reviewgauge.core.building import BuildContext
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Side
from reviewgauge.repo.diff.diffs import changed_lines
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE, LandedChange
from reviewgauge.stages.history import card
from reviewgauge.stages.history.changes import ChangeStore
from reviewgauge.stages.history.fixes import Blame, Traced
from reviewgauge.stages.history.labels import Labeller
from reviewgauge.stages.history.lines import not_product, trivial
from reviewgauge.stages.sampling.facts import change_facts

Dropped = tuple[str, str, str]
"""Item, reason, detail."""

_DAY = 86_400.0  # seconds
_AHEAD = 16  # changes whose diff is read ahead


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
    """Goes through the changes once more. `now` is the end of what was observed."""

    name: str
    repository: Repository
    store: ChangeStore
    traced: Traced
    labeller: Labeller
    limits: CaseLimits
    now: datetime
    seen: card.Seen

    def __post_init__(self) -> None:
        """Look up what takes back what, and prepare the sample of clean changes."""
        self._sample = card.CleanSample(seed=0)
        self._taking_back = {fix.number for fix in self.labeller.fixes if fix.takes_back}
        since = self.limits.since
        self._since = datetime.combine(date.fromisoformat(since), time(), UTC) if since else None

    def cases(self, place: BuildContext) -> Iterator[Case | Dropped]:
        """The cases and drops, in the order of the changes; diffs are read ahead by two threads."""
        total = len(self.store)
        first = max(0, total - self.limits.limit) if self.limits.limit else 0
        with ThreadPoolExecutor(2) as pool:
            waiting: deque[tuple[int, LandedChange, str, Future[tuple[ChangedFile, ...] | str] | None]] = deque()
            for number in range(first, total):
                change = self.store.get(number)
                why = self._out(number, change)
                waiting.append((number, change, why, None if why else pool.submit(self._files, change)))
                if len(waiting) > _AHEAD:
                    yield self._made(*waiting.popleft())
                place.progress("making cases", number - first + 1, total - first)
            while waiting:
                yield self._made(*waiting.popleft())

    def survival(self) -> list[float]:
        """Of each drawn clean change: the share of its added lines that were gone at the end of its horizon."""
        shares = []
        for change, files in self._sample.drawn:
            later = self._last_by(change.landed_at + timedelta(days=self.limits.horizon))
            gone = card.share_gone(self.repository, change, files, later) if later else None
            shares += [] if gone is None else [gone]
        return shares

    def _last_by(self, moment: datetime) -> str:
        """The last change that had landed by then, found by halving."""
        low, high = 0, len(self.store)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.store.get(middle).landed_at <= moment else (low, middle)
        return self.store.get(low - 1).landed if low else ""

    def _out(self, number: int, change: LandedChange) -> str:
        """Why a change is not a case, as far as that can be told without its diff; empty when it may be one."""
        self.seen.changes += 1
        blame = self.traced.blames.get(number, Blame())
        young = (self.now - change.landed_at).total_seconds() / _DAY < self.limits.horizon
        self.seen.young += young
        if self._since is not None and change.landed_at < self._since:
            return "older than since"
        if number in self._taking_back:
            return "takes back an earlier change: nothing new to review"
        if not change.title.strip():
            return "has no title"
        if blame.fixes:
            return ""
        if blame.late:
            return "first mended after the horizon"
        if blame.doubts:
            return min(blame.doubts)
        return f"not observed for {self.limits.horizon} days yet, and no fix so far" if young else ""

    def _files(self, change: LandedChange) -> tuple[ChangedFile, ...] | str:
        try:
            return self.repository.changed_files(change.base, change.head, LARGEST_FILE)
        except UserError as error:
            return str(error)

    def _made(
        self, number: int, change: LandedChange, why: str, files: Future[tuple[ChangedFile, ...] | str] | None
    ) -> Case | Dropped:
        item = f"{self.name}/{change.head[:12]}"
        if files is None:
            return item, why, ""
        read = files.result()
        if isinstance(read, str):
            return item, "its diff cannot be read", read
        if reason := self._unfit(read):
            return item, reason, ""
        blame = self.traced.blames.get(number, Blame())
        try:
            references = self.labeller.references(change, number, read, blame.fixes)
        except UserError as error:  # a partial or damaged repository
            return item, "code that a fix speaks about cannot be read", str(error)
        if blame.fixes and not references:
            return item, "a fix speaks about it, but not about lines that count", ""
        try:
            case = self._case(item, change, read, references)
        except ValidationError as error:
            return item, "cannot be a record", str(error).split("\n")[0]
        self._count(change, read, references)
        return case

    def _unfit(self, files: Sequence[ChangedFile]) -> str:
        """Why a diff makes no case."""
        if not files:
            return "changes nothing"
        if len(files) > self.limits.max_files:
            return f"changes more than {self.limits.max_files} files"
        if sum(len(changed_lines(file, side)) for file in files for side in Side) > self.limits.max_lines:
            return f"changes more than {self.limits.max_lines} lines"
        if not any(self._has_code(file) for file in files if file.patch):
            return "adds no line of the product's code"
        return ""

    def _has_code(self, file: ChangedFile) -> bool:
        if not_product(file.path) or file.patch is None:
            return False
        return any(line[:1] == "+" and not trivial(line[1:]) for line in file.patch.split("\n"))

    def _case(
        self, item: str, change: LandedChange, files: tuple[ChangedFile, ...], references: tuple[Comment, ...]
    ) -> Case:
        shown = Change(
            repo=self.name,
            base=change.base,
            head=change.head,
            title=change.title,
            description=change.description,
            files=files,
            git=str(self.repository.git_dir),
        )
        facts = change_facts(shown, change.authored, len(change.commits))
        facts |= {"landing": change.landing.value}
        return Case(id=item, change=shown, references=references, verdict=not references, facts=facts)

    def _count(self, change: LandedChange, files: tuple[ChangedFile, ...], references: Sequence[Comment]) -> None:
        if not references:
            self.seen.clean += 1
            self._sample.offer(change, files)
            return
        self.seen.labelled += 1
        self.seen.days += [
            days for one in references if one.same_as is None and isinstance(days := one.extra.get("days"), float)
        ]
