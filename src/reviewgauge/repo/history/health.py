"""Inspects a repository before it is read: what is missing, how long its history is, whether its clocks are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import Commit, read_history
from reviewgauge.repo.mirrors.objects import common_folder, missing_objects

SKEW = timedelta(days=1)  # a commit older than its parent by more than this was made under a wrong clock
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)  # no history that anybody reads began before


@dataclass(frozen=True, slots=True)
class RepositoryHealth:
    """The state of a repository and of the history of `tip`. Times are those of commits, UTC.

    `branch` is empty on a detached head. `skewed` counts commits that are older than a parent by more than a day,
    `implausible` those before 1990, in the future, or whose date git could not read.
    """

    name: str
    tip: str
    branch: str = ""
    bare: bool = False
    shallow: bool = False
    partial: bool = False
    borrows: bool = False
    empty: bool = False
    commits: int = 0
    merges: int = 0
    first: datetime | None = None
    last: datetime | None = None
    skewed: int = 0
    implausible: int = 0

    @property
    def detached(self) -> bool:
        """Whether HEAD names a commit and no branch."""
        return not self.branch

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the history should know, one sentence each, the most serious first."""
        return tuple(self._warnings())

    def _warnings(self) -> Iterator[str]:
        if self.empty:
            yield f"{self.name} has no commits yet: there is nothing to read"
        if self.shallow:
            yield f"{self.name} is a shallow clone: its oldest commits seem to add every file (git fetch --unshallow)"
        if self.partial:
            yield f"{self.name} is a partial clone: files that were never fetched cannot be read"
        if self.borrows:
            yield f"{self.name} borrows objects from another repository, which are not read"
        if self.skewed:
            yield f"{_commits(self.skewed, self.name)} dated over a day before a parent"
        if self.implausible:
            yield f"{_commits(self.implausible, self.name)} dated before 1990, in the future, or not at all"


def inspect(repository: Repository, tip: str = "HEAD", now: datetime | None = None) -> RepositoryHealth:
    """The state of `repository` and of the history of `tip`, in one quick pass.

    An empty repository is a finding, not an error. Raises UserError where `tip` does not exist, or commits are
    damaged or missing.
    """
    common = common_folder(repository)
    missing = missing_objects(repository)
    found = RepositoryHealth(
        name=repository.name,
        tip=tip,
        branch=_branch(repository),
        bare=common.name != ".git",
        shallow=missing.shallow,
        partial=missing.partial,
        borrows=(common / "objects" / "info" / "alternates").is_file(),
    )
    if not repository.exists(tip):
        branches = repository.run("for-each-ref", "--count=3", "--format=%(refname:short)").decode("utf-8", "replace")
        if not branches.strip():
            return replace(found, empty=True)
        if missing.partial:
            raise UserError(f"{repository.name} lacks the files of {tip}", remedy="clone it again without --filter")
        if tip == "HEAD":
            raise UserError(
                f"HEAD of {repository.name} names {found.branch or 'a commit'}, which does not exist",
                remedy=f"name one of its branches: {', '.join(branches.split())}",
            )
    clock = _Clock(now or datetime.now(UTC))
    for commit in read_history(repository, (tip,), names=False):
        clock.see(commit)
    return replace(
        found,
        commits=clock.commits,
        merges=clock.merges,
        first=clock.first,
        last=clock.last,
        skewed=clock.skewed,
        implausible=clock.implausible,
    )


class _Clock:
    """Counts commits and wrong dates, children before parents; holds only parents that are still to come."""

    def __init__(self, now: datetime) -> None:
        self.commits = self.merges = self.skewed = self.implausible = 0
        self.first: datetime | None = None
        self.last: datetime | None = None
        self._latest = now + SKEW
        self._children: dict[str, list[datetime]] = {}

    def see(self, commit: Commit) -> None:
        """Count one commit."""
        self.commits += 1
        self.merges += commit.is_merge
        at = commit.committed
        children = self._children.pop(commit.id, [])
        if commit.sound_times and EARLIEST <= at <= self._latest:
            self.skewed += sum(at - child > SKEW for child in children)
            self.first = at if self.first is None else min(at, self.first)
            self.last = at if self.last is None else max(at, self.last)
            for parent in commit.parents:
                self._children.setdefault(parent, []).append(at)
        else:
            self.implausible += 1


def _branch(repository: Repository) -> str:
    """The branch that HEAD names; empty where it names a commit."""
    try:
        content = (repository.git_dir / "HEAD").read_text("utf-8", "surrogateescape").strip()
    except OSError as error:
        raise UserError(f"{repository.name} has no HEAD: {error.strerror}", remedy="name a git repository") from None
    return content.removeprefix("ref:").strip().removeprefix("refs/heads/") if content.startswith("ref:") else ""


def _commits(number: int, name: str) -> str:
    return f"1 commit of {name} is" if number == 1 else f"{number:,} commits of {name} are"
