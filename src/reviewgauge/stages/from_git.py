"""Changes out of a local git history: what later needed a fix, with the lines, and what never did.

Source: this project (docs/guides/build.md), on the idea of Śliwerski, Zimmermann and Zeller (MSR 2005) that the lines
which a fix changes are where the defect came in; none of the papers builds its benchmark so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeVar

from pydantic import Field, ValidationError

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.parameters import Count, Positive
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import Case, Change, ChangedFile
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import Word
from reviewgauge.repo.history.commits import inspect
from reviewgauge.repo.history.landed_changes import LandedChange, read_changes
from reviewgauge.repo.mirrors.mirrors import mirror_local
from reviewgauge.repo.szz.trace import SzzSettings
from reviewgauge.stages.history import card
from reviewgauge.stages.history.fixes import Blame, ChangeStore, FixTracer, FoundFix, Rewrites, Traced, classify_message
from reviewgauge.stages.history.labels import MAY_BE, DiffedChange, Labeller
from reviewgauge.stages.history.memory import HistoryMemory
from reviewgauge.stages.history.source import MOST_FILES, MOST_LINES, day, find_tip, pooled_names, why_unfit
from reviewgauge.stages.sampling.draws import change_facts

T = TypeVar("T")
_AHEAD = 16  # changes whose diff is read ahead


@dataclass(frozen=True)
class FromGit(Stage):
    """The changes of `branch`, oldest first, as cases that are known to be flawed or taken to be clean.

    `horizon`: days within which a fix counts; `clean_days`: days for which a clean change must have been observed, half
    a year, since most fixes come within a month. `since` and `until` are ISO dates: no case is older than `since`, and
    nothing later than `until` is looked at, not even fixes. `variant` is that of SZZ. A fix that comes less than
    `min_days` after the change does not count: what is mended within a day was unfinished work, and nobody had a chance
    to review it. One of more than `max_fix_files` files of product code or `max_fix_lines` blamed lines, or that
    touches more than `max_places` places of a change, says too little about each line. `certainty` leaves out labels
    that hold with a lower probability; 0 keeps all. With `perhaps`, messages that only may speak of a fix make labels,
    marked so, for a model or people to decide; with `beside`, fixes that only add lines label those beside, in a tier
    of their own. A clean change is one that no fix blames and of which no line was rewritten within `clean_days`.
    Changes of more than `max_lines` lines or `max_files` files are not cases. `limit` keeps the newest changes only
    (0: all). `name` is what the repository is called in the benchmark; by default its folder.
    """

    example: ClassVar[str] = "reviewgauge build . -o bench"

    branch: Word = "HEAD"
    since: Word = ""
    until: Word = ""
    horizon: Positive = 1000
    clean_days: Positive = 180
    variant: Literal["basic", "ag", "ma"] = "ma"
    min_days: float = 1.0
    max_fix_files: int = 3
    max_fix_lines: int = 30
    max_places: int = 6
    certainty: Annotated[float, Field(ge=0, lt=1)] = 0.7
    perhaps: bool = False
    beside: bool = False
    max_lines: int = 3000
    max_files: int = 100
    limit: Count = 0
    name: Word = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for what, word in (("since", self.since), ("until", self.until)):
            try:
                day(word)
            except ValueError:
                raise ValueError(f"{what} must be a date such as 2024-01-31, got {word!r}") from None
        if self.name:
            try:
                Change(repo=self.name)
            except ValidationError as error:
                raise ValueError(f"name {first_problem(error)[1]}") from None

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        """The incoming items, then the cases of the histories at `context.sources`, one after the other."""
        yield from items
        if self.name and len(context.sources) > 1:
            raise UserError("name is for one repository", remedy="leave it out: each is called by its folder")
        names = pooled_names(context.sources)
        for source, name in zip(context.sources, names, strict=True):
            yield from self._history(source, self.name or name, context, f": {name}" if len(names) > 1 else "")

    def _history(self, source: str, name: str, context: BuildContext, of: str) -> StageOutput:
        """The cases of one history: read, trace, label, make cases. `of` ends the titles of its sections."""
        repository = mirror_local(Path(source or "."), context.code / f"{name.replace('/', '-')}.git")
        tip, until = find_tip(repository, name, self.branch, self.until)
        context.report(card.history_section(inspect(repository, tip), of))
        counts, fixes = card.Counts(), list[FoundFix]()
        with closing(ChangeStore(context.folder)) as store:
            for item in read_changes(repository, tip):
                if isinstance(item, Drop):
                    yield self.drop(f"{name}/{item.item[:12]}", item.reason)
                else:
                    _keep(store, item, fixes, counts)
                    context.progress("reading changes", len(store))
            settings = SzzSettings(variant=self.variant, tests=False, beside=1, refactoring=True)
            limits = self.horizon, self.min_days, self.max_fix_files, self.max_fix_lines
            of_doubt = self.perhaps, self.beside
            tracer = FixTracer(HistoryMemory(repository, context), store, settings, *limits, *of_doubt)
            traced = tracer.trace_all(fixes)
            labeller = Labeller(tracer, fixes, self.max_places, self.certainty)
            maker = _CaseMaker(self, name, labeller, traced, until, counts)
            for made in maker.cases():
                yield Candidate(case=made) if isinstance(made, Case) else made
            context.report(card.fixes_section(counts, traced.outcomes, of))
            skipped = traced.skipped_lines + labeller.skipped
            context.report(card.lines_section(traced.lines, labeller.placed, skipped, of))
            context.report(card.noise_section(counts, self.horizon, of))
            context.report(card.curve_section(labeller.offered, of))


@dataclass
class _CaseMaker:
    """Goes through the changes once more, and makes cases. `until` is the end of what was observed."""

    stage: FromGit
    name: str
    labeller: Labeller
    traced: Traced
    until: datetime
    counts: card.Counts

    def __post_init__(self) -> None:
        self._memory, self._store = self.labeller.tracer.memory, self.labeller.tracer.store
        self._rewrites = Rewrites()
        self._reverts = {fix.number for fix in self.labeller.fixes if fix.is_revert}
        since = day(self.stage.since)
        self._since = datetime.combine(since, time(), UTC) if since else None

    def cases(self) -> Iterator[Case | Drop]:
        """Each change in order as a case, or why it is none."""
        total = len(self._store)
        first = max(0, total - self.stage.limit) if self.stage.limit else 0
        numbers = range(first, total)
        for number, files in zip(numbers, self._ahead(numbers, lambda *_: "", self._files), strict=True):
            if not isinstance(files, Drop):
                self._rewrites.add(number, files)
                recent = number >= total - card.NEWEST
                self.counts.hosts += recent and not why_unfit(files, MOST_LINES, MOST_FILES)
            self._memory.context.progress("reading what changes rewrite", number - first + 1, total - first)
        for number, read in zip(numbers, self._ahead(numbers, self._refused, self._read), strict=True):
            yield self._case(read) if isinstance(read, DiffedChange) else read
            self._memory.context.progress("making cases", number - first + 1, total - first)

    def _ahead(
        self, numbers: range, refused: Callable[[int, LandedChange], str], read: Callable[[int, LandedChange], T | Drop]
    ) -> Iterator[T | Drop]:
        """Each change in order, read by two threads ahead of its turn, or why it is refused."""
        ahead: deque[Future[T | Drop] | Drop] = deque()
        with ThreadPoolExecutor(2) as pool:
            for number in numbers:
                change = self._store.get(number)  # here: the store is for one thread
                why = refused(number, change)
                ahead.append(self._drop(change, why) if why else pool.submit(read, number, change))
                if len(ahead) > _AHEAD:
                    yield _result(ahead.popleft())
            yield from map(_result, ahead)

    def _files(self, _: int, change: LandedChange) -> tuple[ChangedFile, ...] | Drop:
        try:
            return self._memory.files(change.base, change.head)
        except UserError as error:
            return self._drop(change, "its diff cannot be read", str(error))

    def _rewritten(self, found: DiffedChange) -> bool:
        """Whether a change within `clean_days` rewrote lines of this one."""
        first = self._rewrites.first_after(found.number, found.files)
        if first is None:
            return False
        after = self._store.get(first).commit.committed - found.change.commit.committed
        return after <= timedelta(days=self.stage.clean_days)

    def _item(self, change: LandedChange) -> str:
        return f"{self.name}/{change.head[:12]}"

    def _drop(self, change: LandedChange, reason: str, detail: str = "") -> Drop:
        return self.stage.drop(self._item(change), reason, detail)

    def _refused(self, number: int, change: LandedChange) -> str:
        """Why a change is not a case, as far as that can be told without its diff; empty when it may be one."""
        self.counts.changes += 1
        blame = self.traced.blames.get(number, Blame())
        young = self.until - change.commit.committed < timedelta(days=self.stage.clean_days)
        self.counts.young += young
        if self._since is not None and change.commit.committed < self._since:
            return "older than since"
        if number in self._reverts:
            return "reverts an earlier change: nothing new to review"
        if not change.title.strip():
            return "has no title"
        if blame.fixes:
            return ""
        if blame.doubts:
            return min(blame.doubts)
        return f"not observed for {self.stage.clean_days} days yet, and no fix so far" if young else ""

    def _read(self, number: int, change: LandedChange) -> DiffedChange | Drop:
        files = self._files(number, change)
        if isinstance(files, Drop):
            return files
        if reason := why_unfit(files, self.stage.max_lines, self.stage.max_files):
            return self._drop(change, reason)
        return DiffedChange(number, change, files, tuple(self.traced.blames.get(number, Blame()).fixes))

    def _case(self, diffed: DiffedChange) -> Case | Drop:
        change, files = diffed.change, diffed.files
        try:
            references = self.labeller.references(diffed)
        except UserError as error:  # a partial or damaged repository
            return self._drop(change, "code that a fix speaks about cannot be read", str(error))
        if not references and diffed.fixes:
            return self._drop(change, "fixed later, but on no labelled line")
        if not references and self._rewritten(diffed):
            return self._drop(change, "a later change rewrote its lines")
        try:
            shown = Change(
                repo=self.name,
                base=change.base,
                head=change.head,
                title=change.title,
                description=change.description,
                files=files,
                git=str(self._memory.repository.git_dir),
            )
            facts = change_facts(shown, change.authored, len(change.commits)) | {"landing": change.landing.value}
            case = Case(id=self._item(change), change=shown, references=references, verdict=not references, facts=facts)
        except ValidationError as error:
            return self._drop(change, "cannot be a record", str(error).split("\n")[0])
        if references:
            self.counts.labelled += 1
            self.counts.perhaps += sum(MAY_BE in one.extra for one in references if one.same_as is None)
            for what, numbers in (("days", self.counts.days), ("holds", self.counts.holds)):
                found = (one.extra.get(what) for one in references if one.same_as is None)
                numbers += [number for number in found if isinstance(number, float)]
        else:
            self.counts.clean += 1
        return case


def _result(read: Future[T | Drop] | Drop) -> T | Drop:
    return read if isinstance(read, Drop) else read.result()


def _keep(store: ChangeStore, change: LandedChange, fixes: list[FoundFix], counts: card.Counts) -> None:
    """Put a change into the store, and among the fixes where its message says so."""
    signs = classify_message(change)
    counts.readings[f"{signs.kind.value}: {signs.reason}"] += 1
    fix = store.found_fix(store.add(change), change, signs)
    if fix is not None:
        fixes.append(fix)
