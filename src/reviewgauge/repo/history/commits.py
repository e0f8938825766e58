"""Reads a history as one stream: one `git log` process, one commit in memory at a time.

Children come before parents also where clocks were wrong; times are UTC. `inspect` says beforehand what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from reviewgauge.core.base import Record
from reviewgauge.repo.git.repository import Repository, check_commit
from reviewgauge.repo.mirrors.objects import missing_objects

LONGEST_MESSAGE = 1_000_000  # characters that are kept
LONGEST_SUBJECT = 2_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIELDS = ("%H", "%P", "%an", "%at", "%ct", "%B")
_ADDRESS = re.compile(r"<[^>]*>?|@\S*")


class Commit(Record):
    """One commit, without its files. `author` is a name, never an e-mail address.

    `sound_times` is False where git could not make sense of a date: `authored` is then that of the commit, and
    `committed` the epoch.
    """

    id: str
    parents: tuple[str, ...] = ()
    author: str = ""
    authored: datetime = EPOCH
    committed: datetime = EPOCH
    message: str = ""
    sound_times: bool = True

    @property
    def date(self) -> datetime:
        """The earlier of both times: rebasing resets the second one, a wrong clock may set either too late."""
        return min(self.authored, self.committed)

    @property
    def subject(self) -> str:
        """The first paragraph of the message on one line, as in git, cut to LONGEST_SUBJECT."""
        return " ".join(self.message.lstrip("\n").partition("\n\n")[0].split("\n")).strip()[:LONGEST_SUBJECT]

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
    first_parent: bool = False,
    reverse: bool = False,
    most: int | None = None,
) -> Iterator[Commit]:
    """The commits that can be reached from `tips` and not from `without`, children before parents.

    `reverse` gives parents first. `most` commits at most, the newest. Raises UserError where git fails.
    """
    for name in (*tips, *without):
        check_commit(name)
    options = ["--no-patch", "--encoding=UTF-8", "--no-notes", "--no-decorate", "--no-mailmap", "--date-order", "-z"]
    options += ["--first-parent"] * first_parent + ["--reverse"] * reverse
    options += [] if most is None else [f"--max-count={most}"]
    chosen = [*tips, *(f"^{name}" for name in without)]  # after --end-of-options git knows no --not
    # with a commit-graph git 2.39 forgets, on a walk by first parents, what `without` reaches by other parents
    settings = {"core.commitGraph": "false"} if first_parent and without else None
    shown = f"--format=tformat:{'%x00'.join(_FIELDS)}"
    fields: list[bytes] = []
    rest: list[bytes] = []  # of a field that has not ended
    held = 0
    with closing(
        repository.stream("log", *options, shown, "--end-of-options", *chosen, "--", settings=settings)
    ) as blocks:
        for block in blocks:
            if b"\x00" not in block:
                if held <= 4 * LONGEST_MESSAGE:
                    rest.append(block)
                    held += len(block)
                continue
            first, *ended, last = block.split(b"\x00")
            fields += [b"".join([*rest, first]), *ended]
            rest, held = [last], len(last)
            whole = len(fields) - len(fields) % len(_FIELDS)
            for at in range(0, whole, len(_FIELDS)):
                yield _commit(fields[at : at + len(_FIELDS)])
            del fields[:whole]


def _commit(fields: Sequence[bytes]) -> Commit:
    identity, parents, author, authored, committed, message = fields
    written, taken = _time(authored), _time(committed)
    return Commit(
        id=identity.decode("ascii"),
        parents=tuple(parents.decode("ascii", "replace").split()),
        author=_without_address(_text(author)),
        authored=written or taken or EPOCH,
        committed=taken or EPOCH,
        message=_text(message[: 4 * LONGEST_MESSAGE])[:LONGEST_MESSAGE].rstrip("\n"),
        sound_times=written is not None and taken is not None,
    )


def read_object(name: str, content: bytes) -> Commit:
    """The commit `name` from what `git cat-file commit` prints, without its files."""
    head, _, message = content.partition(b"\n\n")
    rows = [row.partition(b" ")[::2] for row in head.split(b"\n")]
    people = {kind: value for kind, value in rows if kind in (b"author", b"committer")}
    author, authored = _split_date(people.get(b"author", b""))
    parents = b" ".join(value for kind, value in rows if kind == b"parent")
    committed = _split_date(people.get(b"committer", b""))[1]
    return _commit((name.encode("ascii", "replace"), parents, author, authored, committed, message))


def _split_date(person: bytes) -> tuple[bytes, bytes]:
    """The name and the seconds since 1970 of `NAME <MAIL> SECONDS ZONE`."""
    words = person.rsplit(b" ", 2)
    return (words[0], words[1]) if len(words) == 3 else (person, b"")


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


_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)  # no history that anybody reads began before


@dataclass(frozen=True, slots=True)
class RepositoryHealth:
    """A history: its commits, the times of the first and the last (UTC), and what a reader of it should know."""

    commits: int
    merges: int
    first: datetime | None
    last: datetime | None
    warnings: tuple[str, ...]


def inspect(repository: Repository, tip: str = "HEAD") -> RepositoryHealth:
    """The state of `repository` and of the history of `tip`, in one quick pass; times that cannot be do not count.

    Raises UserError where `tip` does not exist, or commits are damaged or missing.
    """
    missing, name = missing_objects(repository), repository.name
    warnings = [f"{name} is a shallow clone: its oldest commits seem to add every file (git fetch --unshallow)"]
    warnings = warnings * missing.shallow
    warnings += [f"{name} is a partial clone: files that were never fetched cannot be read"] * missing.partial
    commits = merges = 0
    first = last = None
    latest = datetime.now(UTC) + timedelta(days=1)
    for commit in read_history(repository, (tip,)):
        commits += 1
        merges += commit.is_merge
        date = commit.committed
        if commit.sound_times and _EARLIEST <= date <= latest:
            first, last = min(date, first or date), max(date, last or date)
    return RepositoryHealth(commits, merges, first, last, tuple(warnings))
