"""Addresses of a forge and its repositories, and the tokens to ask it with.

Source: https://docs.github.com/en/rest/using-the-rest-api and, for `/api/v3` and `/api/graphql`,
https://docs.github.com/en/enterprise-server/rest/using-the-rest-api. Addresses come
from the user's configuration only, never from what a forge answers. Tokens come from environment variables and appear
neither in addresses nor in errors, logs or stored answers.
"""

from __future__ import annotations

import os
import re
import urllib.parse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
        """Whether tokens are safe to send there: https, or this machine."""
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
        remedy = f"{PUBLIC}, or https://HOST/api/v3 for GitHub Enterprise; tokens belong in the environment"
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


DEFAULT = ("GITHUB_TOKEN",)


@dataclass
class Budget:
    """The requests left of one resource (`core`, `search`, `graphql`); None where the forge states no limit."""

    remaining: int | None = None
    resets: float = 0.0  # by the client's clock


@dataclass
class Token:
    """One token. `name` identifies it without revealing it: its variable and its place in a list."""

    name: str
    secret: str = field(default="", repr=False)
    budgets: dict[str, Budget] = field(default_factory=dict)
    refused: bool = False

    def left(self, resource: str, now: float) -> float:
        """The requests it has left; infinite where unknown."""
        budget = self.budgets.get(resource)
        if budget is None or budget.remaining is None or budget.resets <= now:
            return float("inf")
        return budget.remaining

    def resets(self, resource: str) -> float:
        """When its limit resets; 0 where unknown."""
        return self.budgets[resource].resets if resource in self.budgets else 0.0


def read_tokens(names: Sequence[str] = DEFAULT) -> tuple[Token, ...]:
    """The tokens in these environment variables; a variable may hold several, separated by commas.

    Raises UserError for a named variable that is not set, and for a value that a header cannot hold.
    """
    found: dict[str, Token] = {}
    for name in names:
        value = os.environ.get(name, "")
        if not value.strip() and tuple(names) != DEFAULT:
            raise UserError(f"the environment variable {name} is not set", remedy=f"export {name}=... with a token")
        secrets = [secret.strip() for secret in value.split(",") if secret.strip()]
        for number, secret in enumerate(secrets, start=1):
            if not secret.isascii() or not secret.isprintable() or " " in secret:
                problem = f"{name} holds something that is not a token"
                raise UserError(problem, remedy="copy the token alone, in one line")
            found.setdefault(secret, Token(name if len(secrets) == 1 else f"{name}[{number}]", secret))
    return tuple(found.values())


class TokenPool:
    """The tokens of one crawl. Without any, requests are anonymous: 60 an hour on github.com, and no GraphQL."""

    def __init__(self, tokens: Sequence[Token] = ()) -> None:
        self._tokens = list(tokens) or [Token("without a token")]
        self.authenticated = bool(tokens)  # whether there is a token at all

    @property
    def usable(self) -> list[Token]:
        """The tokens that were not refused."""
        return [token for token in self._tokens if not token.refused]

    def choose(self, resource: str, now: float, without: Sequence[Token] = ()) -> Token | None:
        """The token with the most requests left, None where none is usable. It may have none left: see `wait`."""
        usable = [token for token in self.usable if token not in without]
        return max(usable, key=lambda token: (token.left(resource, now), -token.resets(resource)), default=None)

    def wait(self, token: Token, resource: str, now: float) -> float:
        """Seconds until the token may be used."""
        return max(0.0, token.resets(resource) - now) if token.left(resource, now) < 1 else 0.0

    def note(self, token: Token, resource: str, remaining: int | None, resets: float) -> None:
        """Record how many requests an answer says are left, and until when."""
        token.budgets[resource] = Budget(remaining, resets)

    def left(self, now: float) -> Mapping[str, int]:
        """The requests left of each resource over all tokens, where the forge states them."""
        found = Counter[str]()
        for token in self.usable:
            for resource, budget in token.budgets.items():
                if budget.remaining is not None and budget.resets > now:
                    found[resource] += budget.remaining
        return found

    def hide(self, text: str) -> str:
        """`text` without any of the tokens."""
        for token in self._tokens:
            if token.secret:
                text = text.replace(token.secret, "***")
        return text
