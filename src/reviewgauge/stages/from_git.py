"""Changes out of a local git history: what later needed a fix, with the lines, and what never did.

Source: this project (docs/guides/build.md), on the idea of Śliwerski, Zimmermann and Zeller (MSR 2005) that the lines
which a fix changes are where the defect came in; none of the papers builds its benchmark so.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from reviewgauge.core.building import BuildContext, Candidate, Decision
from reviewgauge.core.errors import UserError
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change, ChangedFile
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import Word
from reviewgauge.repo.diff.diffs import count_changed
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import inspect
from reviewgauge.repo.history.landed_changes import LARGEST_FILE, LandedChange, read_changes
from reviewgauge.repo.mirrors.mirrors import mirror_local
from reviewgauge.repo.szz.trace import SzzSettings
from reviewgauge.stages.history import card
from reviewgauge.stages.history.fixes import Blame, ChangeStore, FixTracer, FoundFix, Traced, read_signs
from reviewgauge.stages.history.labels import DiffedChange, Labeller
from reviewgauge.stages.history.lines import not_product, trivial
from reviewgauge.stages.sampling.draws import change_facts

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
        if count_changed(files) > self.limits.max_lines:
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


@dataclass(frozen=True)
class FromGit(Stage):
    """The changes of `branch`, oldest first, as cases that are known to be flawed or taken to be clean.

    `horizon`: days within which a fix counts, and for which a clean change must have been observed. `since` and `until`
    are ISO dates: no case is older than `since`, and nothing later than `until` is looked at, not even fixes. `variant`
    is that of SZZ. A fix that comes less than `min_days` after the change does not count, and one of more than
    `max_fix_files` files of product code or `max_fix_lines` blamed lines, or that touches more than `max_places` places
    of a change, says too little about each line. `strict` leaves out fixes that do most of their work elsewhere than in
    the change's lines. Changes of more than `max_lines` lines or `max_files` files are not cases. `limit` keeps the
    newest changes only (0: all). `name` is what the repository is called in the benchmark; by default its folder.
    """

    branch: Word = "HEAD"
    since: Word = ""
    until: Word = ""
    horizon: int = 365
    variant: Literal["basic", "ag", "ma"] = "ma"
    min_days: float = 0.0
    max_fix_files: int = 3
    max_fix_lines: int = 30
    max_places: int = 4
    strict: bool = True
    max_lines: int = 3000
    max_files: int = 100
    limit: int = 0
    name: Word = ""

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.horizon < 1:
            raise ValueError("horizon must be 1 day or more")
        if self.variant not in ("basic", "ag", "ma"):
            raise ValueError(f"variant={self.variant!r} is not a variant of SZZ: choose basic, ag or ma")
        for what, word in (("since", self.since), ("until", self.until)):
            try:
                _day(word)
            except ValueError:
                raise ValueError(f"{what} must be a date such as 2024-01-31, got {word!r}") from None
        if self.limit < 0:
            raise ValueError("limit must be a number of changes, 0 for all")
        if self.name:
            try:
                Change(repo=self.name)
            except ValidationError as error:
                raise ValueError(f"name {first_problem(error)[1]}") from None

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> Iterator[Candidate | Drop | Decision]:
        """The incoming items, then the cases of the history at `context.source`: read, trace, label, make cases."""
        yield from items
        name = self.name or repository_name(context.source)
        repository = mirror_local(Path(context.source or "."), context.code / f"{name.replace('/', '-')}.git")
        tip, until = self._tip(repository, name)
        context.report(card.history_section(inspect(repository, tip)))
        counts, fixes = card.Counts(), list[FoundFix]()
        with ChangeStore(context.folder) as store:
            for item in read_changes(repository, tip):
                if isinstance(item, Drop):
                    yield self.drop(f"{name}/{item.item[:12]}", item.reason)
                else:
                    _keep(store, item, fixes, counts)
                    context.progress("reading changes", len(store))
            tracer = self._tracer(repository, context, store)
            traced = tracer.trace_all(fixes)
            labeller = Labeller(repository, tracer, fixes, self.max_places, self.strict)
            limits = CaseLimits(self.horizon, self.since, self.limit, self.max_lines, self.max_files)
            maker = CaseMaker(name, repository, store, traced, fixes, limits, until, counts)
            for found in maker.diffs(context):
                case = maker.case(maker.label(found, labeller))
                yield Candidate(case=case) if isinstance(case, Case) else self.drop(*case)
            context.report(card.fixes_section(counts, traced.outcomes))
            context.report(card.lines_section(traced.lines, labeller.placed, traced.skipped_lines + labeller.skipped))
            context.report(card.noise_section(counts, self.horizon, maker.survival()))

    def _tracer(self, repository: Repository, context: BuildContext, store: ChangeStore) -> FixTracer:
        settings = SzzSettings(variant=self.variant, tests=False, beside=1, refactoring=True)
        return FixTracer(
            repository, context, store, settings, self.horizon, self.min_days, self.max_fix_files, self.max_fix_lines
        )

    def _tip(self, repository: Repository, name: str) -> tuple[str, datetime]:
        """The last commit that is looked at, and the end of what was observed: no later than the branch's last commit.

        Raises UserError where the branch does not exist, or has no commit so early.
        """
        try:
            named = repository.run("rev-parse", "--quiet", "--verify", "--end-of-options", f"{self.branch}^{{commit}}")
        except UserError:
            raise _no_branch(repository, name, self.branch) from None
        newest = named.decode("ascii").strip()
        ends = [datetime.now(UTC), _committed(repository, newest)[1]]  # a clock may have been ahead
        if not (until := _day(self.until)):
            return newest, min(ends)
        found = _committed(repository, newest, "--first-parent", f"--before={until.isoformat()}T23:59:59Z")
        if not found[0]:
            raise UserError(f"{self.branch} has no commit up to {until}", remedy="name a later date")
        return found[0], min(*ends, datetime.combine(until, time.max, UTC))


def _day(word: str) -> date | None:
    return date.fromisoformat(word) if word else None


def _committed(repository: Repository, tip: str, *limits: str) -> tuple[str, datetime]:
    """The newest commit that `tip` reaches within `limits`, empty where there is none, and its date."""
    words = repository.run("rev-list", "-1", "--format=%ct", *limits, "--end-of-options", tip, "--").split()
    if len(words) < 3:
        return "", datetime.fromtimestamp(0, UTC)
    try:
        return words[1].decode("ascii"), datetime.fromtimestamp(max(int(words[2]), 0), UTC)
    except (ValueError, OverflowError):  # a date that no calendar has
        return words[1].decode("ascii"), datetime.now(UTC)


def _no_branch(repository: Repository, name: str, branch: str) -> UserError:
    listed = repository.run(
        "for-each-ref", "--sort=-committerdate", "--format=%(refname:short)", "refs/heads", "refs/remotes"
    )
    branches = listed.decode("utf-8", "replace").split("\n")[:-1]
    alike = [ref for ref in branches if ref.rpartition("/")[2] == branch.rpartition("/")[2]]
    shown = ", ".join((alike or branches)[:5]) or "none"
    problem = (
        f"HEAD of {name} does not name a commit"
        if branch == "HEAD"
        else f"{name} has no branch, tag or commit {branch!r}"
    )
    return UserError(problem, remedy=f"--set branch=NAME; its branches: {shown}")


def repository_name(source: str) -> str:
    """The name of the repository at a path: its folder, without characters that ids may not hold."""
    folder = Path(source or ".").absolute().resolve()
    named = folder.parent if folder.name == ".git" else folder
    return re.sub(r"[^\w.-]+", "-", named.name.removesuffix(".git")).strip("-.") or "repository"


def _keep(store: ChangeStore, change: LandedChange, fixes: list[FoundFix], counts: card.Counts) -> None:
    """Put a change into the store, and among the fixes where its message says so."""
    signs = read_signs(change)
    counts.readings[f"{signs.kind.value}: {signs.reason}"] += 1
    fix = store.found_fix(store.add(change), change, signs)
    if fix is not None:
        fixes.append(fix)
