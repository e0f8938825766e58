"""Addresses of a forge and its repositories, and the token to ask it with.

Source: https://docs.github.com/en/rest/using-the-rest-api and, for `/api/v3` and `/api/graphql`,
https://docs.github.com/en/enterprise-server/rest/using-the-rest-api. Addresses come
from the user's configuration only, never from what a forge answers. The token comes from an environment variable and
appears neither in addresses nor in errors, logs or stored answers.
"""

from __future__ import annotations

import os
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
    """The URLs of a forge; `owner/name.git` is appended to `web`."""

    rest: str
    graphql: str
    web: str

    @property
    def private(self) -> bool:
        """Whether a token is safe to send there: https, or this machine."""
        parts = urllib.parse.urlsplit(self.rest)
        return parts.scheme == "https" or parts.hostname in _LOCAL


def address(api: str = "") -> Address:
    """The forge whose REST API is at `api` (empty: github.com).

    GitHub Enterprise is `https://HOST/api/v3`, or `https://HOST` for short. An address of this machine is taken as it
    is. Raises UserError.
    """
    given = (api or PUBLIC).strip().rstrip("/")
    parts = urllib.parse.urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname or not _HOST.fullmatch(parts.netloc):
        remedy = f"{PUBLIC}, or https://HOST/api/v3 for GitHub Enterprise; a token belongs in the environment"
        raise UserError(f"{given} is not an http or https URL of a host and a path", remedy=remedy)
    if parts.query or parts.fragment or ".." in parts.path:
        raise UserError(f"{given} has more than a host and a path", remedy="https://HOST/api/v3")
    root = f"{parts.scheme}://{parts.netloc}"
    if given == PUBLIC:
        return Address(PUBLIC, f"{PUBLIC}/graphql", "https://github.com")
    path = parts.path or ("" if parts.hostname in _LOCAL else "/api/v3")
    above = path.removesuffix("/v3") if path.endswith("/api/v3") else path
    return Address(root + path, f"{root}{above}/graphql", root)


def repository_name(text: str) -> str:
    """`owner/name` out of `github:owner/name` or `owner/name`. Raises UserError."""
    name = text.strip().removeprefix(SCHEME).removesuffix(".git").strip("/")
    if not is_repository(name):
        raise UserError(f"{text!r} is not the name of a repository", remedy=f"{SCHEME}owner/name")
    return name


def is_repository(name: str) -> bool:
    """Whether `name` has the form `owner/name`."""
    return _REPO.fullmatch(name) is not None and not any(set(part) <= {"."} for part in name.split("/"))


DEFAULT = "GITHUB_TOKEN"


def read_token(name: str = DEFAULT) -> str:
    """The token in this environment variable; empty where the default one is not set.

    Raises UserError for any other that is not set, and for a value that a header cannot hold.
    """
    token = os.environ.get(name, "").strip()
    if not token and name != DEFAULT:
        raise UserError(f"the environment variable {name} is not set", remedy=f"export {name}=... with a token")
    if not token.isascii() or not token.isprintable() or " " in token or "," in token:
        raise UserError(f"{name} holds something that is not a token", remedy="copy one token alone, in one line")
    return token
