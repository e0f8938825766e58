"""Changes out of a local git history: what later needed a fix, with the lines, and what never did.

Source: this project (docs/guides/build.md), on the idea of Śliwerski, Zimmermann and Zeller (MSR 2005) that the lines
which a fix changes are where the defect came in; none of the papers builds its benchmark so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from reviewgauge.core.building import BuildContext, Candidate, Decision
from reviewgauge.core.errors import UserError
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.health import inspect
from reviewgauge.repo.history.landed_changes import LandedChange, read_changes
from reviewgauge.repo.mirrors.mirrors import mirror_local
from reviewgauge.repo.szz.records import SzzSettings
from reviewgauge.stages.history import card
from reviewgauge.stages.history.cases import CaseLimits, CaseMaker
from reviewgauge.stages.history.changes import ChangeStore, FoundFix, read_signs
from reviewgauge.stages.history.fixes import FixTracer
from reviewgauge.stages.history.labels import Labeller


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

    branch: str = "HEAD"
    since: str = ""
    until: str = ""
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
    name: str = ""

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
