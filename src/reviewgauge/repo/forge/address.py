"""Where a forge is: its REST and GraphQL addresses, the address of its git repositories, and names of repositories.

Source: https://docs.github.com/en/rest/using-the-rest-api and, for `/api/v3` and `/api/graphql`,
https://docs.github.com/en/enterprise-server/rest/using-the-rest-api. Only what the user's own configuration names is
ever an address; nothing that was read from a forge becomes one.
"""

from __future__ import annotations

import re
import urllib.parse
from typing import NamedTuple

from reviewgauge.core.errors import UserError

PUBLIC = "https://api.github.com"
SCHEME = "github:"
_REPO = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]+")
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Address(NamedTuple):
    """A forge. `rest` and `graphql` are asked; `web` is what `owner/name.git` is appended to."""

    rest: str
    graphql: str
    web: str

    @property
    def private(self) -> bool:
        """Whether what is sent there can be read by nobody else: https, or this machine."""
        parts = urllib.parse.urlsplit(self.rest)
        return parts.scheme == "https" or parts.hostname in _LOCAL


def address(api: str = "") -> Address:
    """The forge whose REST API is at `api` (empty: github.com).

    GitHub Enterprise is `https://HOST/api/v3`; the bare `https://HOST` means the same, but on this machine, where
    `http://127.0.0.1:PORT` is taken as it is. Raises UserError.
    """
    given = (api or PUBLIC).strip().rstrip("/")
    parts = urllib.parse.urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname or not _HOST.fullmatch(parts.netloc):
        remedy = f"{PUBLIC}, or https://HOST/api/v3 for GitHub Enterprise; tokens stand in the environment"
        raise UserError(f"{given} is not an http or https address of a host and a path", remedy=remedy)
    if parts.query or parts.fragment or ".." in parts.path:
        raise UserError(f"{given} holds more than a host and a path", remedy="https://HOST/api/v3")
    root = f"{parts.scheme}://{parts.netloc}"
    if given == PUBLIC:
        return Address(PUBLIC, f"{PUBLIC}/graphql", "https://github.com")
    path = parts.path
    if not path and parts.hostname not in _LOCAL:
        path = "/api/v3"
    graphql = f"{root}{path[: -len('/v3')]}/graphql" if path.endswith("/api/v3") else f"{root}{path}/graphql"
    return Address(root + path, graphql, root)


def repository_name(text: str) -> str:
    """`owner/name` out of `github:owner/name` or `owner/name`. Raises UserError."""
    name = text.strip().removeprefix(SCHEME).removesuffix(".git").strip("/")
    if not is_repository(name):
        raise UserError(f"{text!r} names no repository", remedy=f"{SCHEME}owner/name")
    return name


def is_repository(name: str) -> bool:
    """Whether it can be `owner/name`."""
    return _REPO.fullmatch(name) is not None and not any(set(part) <= {"."} for part in name.split("/"))
