"""What a build needs of a forge, whichever it is: its pull requests with threads and timeline, its issues, its code.

A source names its forge and a repository there: `github:owner/name`. All answers come in the shape of `reading`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from reviewgauge.core.errors import UserError
from reviewgauge.core.json_reader import Json
from reviewgauge.core.specs import Plugin, load, names
from reviewgauge.repo.forge.access import Address
from reviewgauge.repo.forge.client import Forge
from reviewgauge.repo.forge.reading import Raw


class PullReader(ABC):
    """Reads pull requests of one repository. `repo` is its current name, also where an old one was given.

    `private`: its code needs the token. `branch` is the main one, `url` the address for git.
    """

    forge: Forge
    repo: str
    private: bool
    branch: str
    url: str

    @abstractmethod
    def listed(self, state: str) -> Iterator[Json]:
        """The pull requests in a state (open, closed, all), as `pull` of `reading`, newest first."""

    @abstractmethod
    def read(self, pull_number: int, version: str = "") -> Raw:
        """One pull request without files and issues. `version` is its `updated_at` where that is known."""

    @abstractmethod
    def read_issue(self, repo: str, issue_number: int) -> Raw:
        """An issue with its comments and timeline. Raises Unavailable where it is gone."""


class ForgeKind(Plugin):
    """A kind of forge: its addresses, how it is asked, and how its answers are read.

    `variable` is the environment variable of its token, unless the user names another one.
    """

    kind = "forges"
    variable: ClassVar[str]
    needs_token: ClassVar[bool] = False
    shares_numbers: ClassVar[bool] = True  # no issue has the number of a pull request
    form: ClassVar[str] = "OWNER/NAME"  # of a repository's name, in errors

    @abstractmethod
    def address(self, api: str) -> Address:
        """The forge at `api`, by default the public one. Raises UserError."""

    @abstractmethod
    def headers(self, token: str) -> Mapping[str, str]:
        """The headers of every request; `token` is empty where there is none."""

    @abstractmethod
    def is_repository(self, name: str) -> bool:
        """Whether `name` has the form of a repository's name."""

    @abstractmethod
    def reader(self, forge: Forge, repo: str) -> PullReader:
        """What reads a repository. Raises Unavailable where it is gone."""

    def host_of(self, word: str) -> tuple[str, str]:
        """(address of the forge, name of the repository) in a word of a source; no address for the public one."""
        return "", word

    def check_page(self, url: str, headers: Mapping[str, str], items: Sequence[object]) -> None:
        """Raise Broken for a page that lacks items."""


def forge_of(source: str) -> ForgeKind | None:
    """The kind of forge that a source names; None for a path."""
    scheme, colon, _ = source.partition(":")
    return load(ForgeKind, scheme) if colon and scheme in names(ForgeKind.kind) else None


def repositories(source: str, kind: ForgeKind) -> tuple[str, tuple[str, ...]]:
    """(address of the API, repositories) of a source, several with commas between them. Raises UserError."""
    found = [kind.host_of(_bare(word)) for word in source.replace(",", " ").split()]
    hosts = {host for host, _ in found}
    if len(hosts) > 1:
        raise UserError(f"{source} names several hosts", remedy="build them one by one")
    for word, (_, name) in zip(source.replace(",", " ").split(), found, strict=True):
        if not kind.is_repository(name):
            scheme = word.partition(":")[0] if ":" in word else source.partition(":")[0]
            raise UserError(f"{word!r} is not the name of a repository", remedy=f"{scheme}:{kind.form}")
    return next(iter(hosts), ""), tuple(dict.fromkeys(name for _, name in found))


def _bare(word: str) -> str:
    """A repository's name without the forge before it."""
    scheme, colon, rest = word.partition(":")
    name = rest if colon and scheme in names(ForgeKind.kind) else word
    return name.removesuffix(".git").strip("/")
