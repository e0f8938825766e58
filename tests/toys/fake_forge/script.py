"""The words that a project is scripted in: pull requests with pushes, threads, reviews; issues; repositories.

Times of a pull request are hours after it was opened. An account is a login: one ending in `[bot]` is an app,
`ghost` an account that is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
End = Literal["merged", "squashed", "closed", "open"]


@dataclass(frozen=True)
class Swap:
    """Replace `old`, which must occur once in the file, by `new`."""

    old: str
    new: str


@dataclass(frozen=True)
class Move:
    """The file comes from another path, which is gone then."""

    old: str


Edit = str | bytes | None | Swap | Move
Edits = Mapping[str, Edit | tuple[Swap, ...]]


@dataclass(frozen=True)
class Commit:
    """One commit. Its author is the pull request's unless named."""

    message: str
    files: Edits
    author: str = ""


@dataclass(frozen=True)
class Push:
    """Commits pushed at once. `forced`: they replace what the branch had, on the main branch's tip of that time."""

    commits: tuple[Commit, ...]
    hours: float = 0.0
    forced: bool = False


@dataclass(frozen=True)
class Said:
    """One message."""

    author: str
    body: str
    hours: float
    thumbs: int = 0


@dataclass(frozen=True)
class Thread:
    """A review thread on the line of `path` that holds `at`, as of push number `on`; without `at` on the whole file.

    `until` makes it a range that ends on the line which holds that.
    """

    path: str
    at: str
    said: tuple[Said, ...]
    on: int = 0
    until: str = ""
    side: Literal["LEFT", "RIGHT"] = "RIGHT"
    resolved_by: str = ""


@dataclass(frozen=True)
class Verdict:
    """A submitted review with a state and perhaps words of its own."""

    author: str
    state: Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED"]
    hours: float
    body: str = ""
    on: int = 0


@dataclass(frozen=True)
class Pull:
    """A pull request. `forked` counts hours before it was opened; `fork_gone`: its repository was deleted.

    `renamed` are (hours, the title until then), `edited` the hours after which its description was changed last.
    """

    number: int
    title: str
    pushes: tuple[Push, ...]
    body: str = ""
    author: str = "ann"
    opened: datetime = START
    threads: tuple[Thread, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    talk: tuple[Said, ...] = ()
    end: End = "merged"
    ended: float = 72.0
    forked: float = 0.0
    fork_gone: bool = False
    draft: bool = False
    labels: tuple[str, ...] = ()
    renamed: tuple[tuple[float, str], ...] = ()
    edited: float | None = None

    def at(self, hours: float) -> datetime:
        """The time that many hours after it was opened."""
        return self.opened + timedelta(hours=hours)


@dataclass(frozen=True)
class Issue:
    """An issue. `closed` is None while it is open."""

    number: int
    title: str
    body: str = ""
    author: str = "uma"
    opened: datetime = START
    closed: datetime | None = None
    talk: tuple[Said, ...] = ()


@dataclass(frozen=True)
class Direct:
    """A commit that somebody put on the main branch without a pull request."""

    when: datetime
    commit: Commit


@dataclass(frozen=True)
class Project:
    """One repository. `former` are names that it had before: asked for by one of them, the forge redirects."""

    name: str
    files: Mapping[str, str | bytes]
    pulls: tuple[Pull, ...] = ()
    issues: tuple[Issue, ...] = ()
    direct: tuple[Direct, ...] = ()
    languages: Mapping[str, int] = field(default_factory=lambda: {"Python": 9000, "Shell": 300})
    former: tuple[str, ...] = ()
    stars: int = 5000
    description: str = "A shop for tests"


def days(count: float) -> datetime:
    """The time that many days after the project began."""
    return START + timedelta(days=count)
