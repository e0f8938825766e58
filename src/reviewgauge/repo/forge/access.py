"""Addresses of a forge and its repositories, and the token to ask it with.

Addresses come from the user's configuration only, never from what a forge answers. The token comes from an environment
variable and appears neither in addresses nor in errors, logs or stored answers.
"""

from __future__ import annotations

import os
import re
import urllib.parse
from typing import NamedTuple

from reviewgauge.core.errors import UserError

_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]+")
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Address(NamedTuple):
    """The URLs of a forge; `owner/name.git` is appended to `web`. `graphql` is empty where it is not asked."""

    rest: str
    web: str
    graphql: str = ""

    @property
    def private(self) -> bool:
        """Whether a token is safe to send there: https, or this machine."""
        return urllib.parse.urlsplit(self.rest).scheme == "https" or is_local(self.rest)


def is_local(url: str) -> bool:
    """Whether it is an address of this machine."""
    return urllib.parse.urlsplit(url).hostname in _LOCAL


def split_address(api: str, other: str) -> tuple[str, str]:
    """(scheme and host, path) of the address of an API. `other` is what may be named. Raises UserError."""
    given = api.strip().rstrip("/")
    parts = urllib.parse.urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname or not _HOST.fullmatch(parts.netloc):
        remedy = f"{other}; a token belongs in the environment"
        raise UserError(f"{given} is not an http or https URL of a host and a path", remedy=remedy)
    if parts.query or parts.fragment or ".." in parts.path:
        raise UserError(f"{given} has more than a host and a path", remedy=other)
    return f"{parts.scheme}://{parts.netloc}", parts.path


def read_token(name: str, usual: str) -> str:
    """The token in this environment variable; empty where the usual one is not set.

    Raises UserError for any other that is not set, and for a value that a header cannot hold.
    """
    token = os.environ.get(name, "").strip()
    if not token and name != usual:
        raise UserError(f"the environment variable {name} is not set", remedy=f"export {name}=... with a token")
    if not token.isascii() or not token.isprintable() or " " in token or "," in token:
        raise UserError(f"{name} holds something that is not a token", remedy="copy one token alone, in one line")
    return token
