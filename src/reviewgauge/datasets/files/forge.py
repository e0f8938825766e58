"""What a pull request's address says: its repository, its number, a safe id."""

from __future__ import annotations

import re
from typing import NamedTuple

_ADDRESS = re.compile(
    r"https://(?P<host>[A-Za-z0-9.-]+)/(?P<repo>[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/pull/(?P<n>\d{1,10})"
)


class PullAddress(NamedTuple):
    """A pull request on a forge: `repo` is `owner/name`, `id` is `owner/name#number`."""

    repo: str
    number: int

    @property
    def id(self) -> str:
        """The case id that is made from the address."""
        return f"{self.repo}#{self.number}"


def parse_pull(url: str) -> PullAddress | None:
    """The pull request behind an address such as `https://github.com/owner/name/pull/7`; None for anything else."""
    match = _ADDRESS.fullmatch(url.rstrip("/"))
    if match is None or any(set(part) == {"."} for part in match["repo"].split("/")):
        return None
    return PullAddress(match["repo"], int(match["n"]))
