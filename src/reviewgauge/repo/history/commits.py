"""Reads a history as one stream: one `git log` process, one commit in memory at a time.

Commits are separated by a random word that no message and no patch can know; names and modes come from git's raw
lines (NUL-separated, never quoted), and patches are cut at lines that begin with `diff `: inside a hunk git begins
every line with a blank, `+`, `-` or a backslash, so content cannot pass for a header. Children come before parents
also where clocks were wrong; times are UTC. `inspect` says beforehand what is missing and whether clocks are right.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypedDict

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.log_stream import LARGEST_PATCH, Blobs, LogCommit, LogStream, changed_files
from reviewgauge.repo.git.paths import encode_path
from reviewgauge.repo.git.repository import Repository, check_commit
from reviewgauge.repo.mirrors.objects import common_folder, missing_objects

Merges = Literal["none", "first-parent"]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIELDS = "%H%x00%P%x00%an%x00%at%x00%ct%x00%B%x00"
_ADDRESS = re.compile(r"<[^>]*>?|@\S*")


class Commit(Record):
    """One commit. `files` are its changes against its first parent (an empty tree for a root), where they were read.

    `blobs` has one entry for each of `files`. `dropped` says what was left out, and why: the patch of a file over the
    limit, a path too long for a record. `sound_times` is False where git could not make sense of a date: `authored`
    is then that of the commit, and `committed` the epoch. `author` is a name, never an e-mail address.
    """

    id: str
    parents: tuple[str, ...] = ()
    author: str = ""
    authored: datetime = EPOCH
    committed: datetime = EPOCH
    message: str = ""
    files: tuple[ChangedFile, ...] = ()
    blobs: tuple[Blobs, ...] = ()
    dropped: tuple[Drop, ...] = ()
    sound_times: bool = True

    @property
    def date(self) -> datetime:
        """The earlier of both times: rebasing resets the second one, a wrong clock may set either too late."""
        return min(self.authored, self.committed)

    @property
    def subject(self) -> str:
        """The first paragraph of the message on one line, as in git."""
        return " ".join(self.message.lstrip("\n").partition("\n\n")[0].split("\n")).strip()

    @property
    def body(self) -> str:
        """The message after the first paragraph."""
        return self.message.lstrip("\n").partition("\n\n")[2].strip("\n")

    @property
    def is_merge(self) -> bool:
        """Whether it has more than one parent."""
        return len(self.parents) > 1


def read_history(
    repository: Repository,
    tips: Sequence[str] = ("HEAD",),
    *,
    without: Sequence[str] = (),
    patches: bool = True,
    names: bool = True,
    first_parent: bool = False,
    merges: Merges | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    paths: Sequence[str] = (),
    reverse: bool = False,
    copies: bool = False,
    context: int = 3,
    largest: int = LARGEST_PATCH,
    most: int | None = None,
) -> Iterator[Commit]:
    """The commits that can be reached from `tips` and not from `without`, children before parents.

    `patches=False` gives files without patches, `names=False` no files at all. `merges`: a merge has no files, or its
    changes against the first parent; none by default, except on a `first_parent` walk. `since` and `until` (both
    included) apply to the time of the commit. With `paths` (exact paths of files or folders) only commits that changed
    one, and only those files. `reverse` gives parents first. A patch over `largest` bytes is None. `most` commits at
    most, the newest. Raises UserError where git fails.
    """
    for name in (*tips, *without):
        check_commit(name)
    merges = merges or ("first-parent" if first_parent else "none")
    shape = _shape(patches, names, merges, copies, context)
    walk = ["--date-order"]
    walk += ["--first-parent"] if first_parent else []
    walk += ["--full-history"] if paths else []
    chosen = [*tips, *(f"^{name}" for name in without)]  # after --end-of-options git knows no --not
    limits = _pathspecs(paths)
    # with a commit-graph git 2.39 forgets, on a walk by first parents, what `without` reaches by other parents
    plain = {"core.commitGraph": "false"} if first_parent and without else None
    if since is None and until is None:
        walk += [] if most is None else [f"--max-count={most}"]
        walk += ["--reverse"] if reverse else []
        yield from _read(repository, [*walk, *shape, "--end-of-options", *chosen, *limits], largest, settings=plain)
        return
    # git's own --since ends the walk at the first old commit, also where only a clock was wrong: two passes instead
    bare = [*walk, *_shape(False, False, merges, False, 0), "--end-of-options", *chosen, *limits]
    every = _read(repository, bare, largest, settings=plain)
    ids = [c.id for c in every if (since is None or c.committed >= since) and (until is None or c.committed <= until)]
    ids = ids if most is None else ids[:most]
    exact = ["--no-walk=unsorted", "--stdin", *shape, *limits]
    yield from _read(repository, exact, largest, reversed(ids) if reverse else ids)


def read_commits(
    repository: Repository, commits: Iterable[str], *, merges: Merges = "first-parent"
) -> Iterator[Commit]:
    """Exactly these commits, in this order, by one process. Raises UserError where one does not exist."""
    wanted = list(commits)
    for name in wanted:
        check_commit(name)
    shape = _shape(True, True, merges, False, 3)
    yield from _read(repository, ["--no-walk=unsorted", "--stdin", *shape, "--"], LARGEST_PATCH, wanted)


def _shape(patches: bool, names: bool, merges: Merges, copies: bool, context: int) -> list[str]:
    """The options for how commits are printed, without the format."""
    if not names:
        return ["--no-patch"]
    printed = ["--raw", "-z", "--no-abbrev", "-r", "--find-copies=50%" if copies else "-M50%", "-l2000"]
    printed += ["-O" + os.devnull, "--diff-merges=" + ("off" if merges == "none" else merges)]
    if patches:
        printed += ["-p", f"-U{context}", "--inter-hunk-context=0", "--diff-algorithm=myers", "--full-index"]
        printed += ["--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"]
    return [*printed, "--ignore-submodules=none"]


def _pathspecs(paths: Sequence[str]) -> list[str]:
    return ["--", *(":(top,literal)" + os.fsdecode(encode_path(path)) for path in paths)]


def _read(
    repository: Repository,
    options: list[str],
    largest: int,
    ids: Iterable[str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Commit]:
    mark = secrets.token_hex(16)
    given = None if ids is None else "".join(f"{one}\n" for one in ids).encode("ascii")
    if given == b"":  # git would take HEAD for it
        return
    shown = ["--encoding=UTF-8", "--no-notes", "--no-decorate", "--no-mailmap", f"--format=tformat:{mark}{_FIELDS}"]
    with closing(repository.stream("log", *shown, *options, stdin=given or b"", settings=settings)) as blocks:
        for found in LogStream(blocks, mark.encode("ascii"), largest):
            yield _commit(found)


def _commit(found: LogCommit) -> Commit:
    identity, parents, author, authored, committed, message = found.fields
    files, blobs, dropped = changed_files(found)
    return Commit(
        id=identity.decode("ascii"),
        parents=tuple(parents.decode("ascii").split()),
        author=_without_address(_text(author)),
        message=_text(message).rstrip("\n"),
        files=files,
        blobs=blobs,
        dropped=dropped,
        **_times(authored, committed),
    )


def read_object(name: str, content: bytes) -> Commit:
    """The commit `name` from what `git cat-file commit` prints, without its files."""
    head, _, message = content.partition(b"\n\n")
    rows = [row.partition(b" ")[::2] for row in head.split(b"\n")]
    people = {kind: value for kind, value in rows if kind in (b"author", b"committer")}
    author, authored = _split_date(people.get(b"author", b""))
    return Commit(
        id=name,
        parents=tuple(value.decode("ascii", "replace") for kind, value in rows if kind == b"parent"),
        author=_without_address(_text(author)),
        message=_text(message).rstrip("\n"),
        **_times(authored, _split_date(people.get(b"committer", b""))[1]),
    )


def _split_date(person: bytes) -> tuple[bytes, bytes]:
    """The name and the seconds since 1970 of `NAME <MAIL> SECONDS ZONE`."""
    words = person.rsplit(b" ", 2)
    return (words[0], words[1]) if len(words) == 3 else (person, b"")


class _Times(TypedDict):
    authored: datetime
    committed: datetime
    sound_times: bool


def _times(authored: bytes, committed: bytes) -> _Times:
    written, taken = _time(authored), _time(committed)
    return _Times(
        authored=written or taken or EPOCH,
        committed=taken or EPOCH,
        sound_times=written is not None and taken is not None,
    )


def _time(digits: bytes) -> datetime | None:
    """Seconds since 1970 as a time; None where git had none, or one that no calendar has."""
    try:
        return datetime.fromtimestamp(int(digits), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _text(raw: bytes) -> str:
    """Text that git has recoded where it names its encoding; other bytes are read as cp1252."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _without_address(author: str) -> str:
    return _ADDRESS.sub("", author).strip() if "@" in author or "<" in author else author


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
