"""The tokens that a forge is asked with: which one has most left, which is refused, and how long all must wait.

Tokens are read from environment variables and stand nowhere else: not in addresses, errors, logs or kept answers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reviewgauge.core.errors import UserError

DEFAULT = ("GITHUB_TOKEN",)
ANONYMOUS = "without a token"


@dataclass
class Budget:
    """What is left of one resource (`core`, `search`, `graphql`); None where the forge names no limit."""

    remaining: int | None = None
    resets: float = 0.0  # by the client's clock


@dataclass
class Token:
    """One token. `name` says which it is without telling it: its variable, and its place in a list."""

    name: str
    secret: str = field(default="", repr=False)
    budgets: dict[str, Budget] = field(default_factory=dict)
    refused: bool = False

    def left(self, resource: str, now: float) -> float:
        """Requests that it still has; infinite where nobody said."""
        budget = self.budgets.get(resource)
        if budget is None or budget.remaining is None or budget.resets <= now:
            return float("inf")
        return budget.remaining


def read_tokens(names: Sequence[str] = DEFAULT) -> tuple[Token, ...]:
    """The tokens in these environment variables, each of which may hold several, with commas between them.

    Raises UserError for a variable that was asked for and is not set, and for a value that no header can hold.
    """
    found: dict[str, Token] = {}
    for name in names:
        value = os.environ.get(name, "")
        if not value.strip() and tuple(names) != DEFAULT:
            raise UserError(f"the environment variable {name} is not set", remedy=f"export {name}=... with a token")
        secrets = [secret.strip() for secret in value.split(",") if secret.strip()]
        for number, secret in enumerate(secrets, start=1):
            if not secret.isascii() or not secret.isprintable() or " " in secret:
                raise UserError(
                    f"{name} holds something that is not a token", remedy="copy the token alone, in one line"
                )
            found.setdefault(secret, Token(name if len(secrets) == 1 else f"{name}[{number}]", secret))
    return tuple(found.values())


class TokenPool:
    """The tokens of one crawl. Without any, requests go out anonymously: 60 an hour on github.com, and no GraphQL."""

    def __init__(self, tokens: Sequence[Token] = ()) -> None:
        self._given = bool(tokens)
        self._tokens = list(tokens) or [Token(ANONYMOUS)]

    @property
    def authenticated(self) -> bool:
        """Whether there is a token at all."""
        return self._given

    @property
    def usable(self) -> list[Token]:
        """The tokens that were not refused."""
        return [token for token in self._tokens if not token.refused]

    def choose(self, resource: str, now: float, without: Sequence[Token] = ()) -> Token | None:
        """The token with most left, None where none is usable. It may have nothing left: see `wait`."""
        usable = [token for token in self.usable if token not in without]
        return max(usable, key=lambda token: (token.left(resource, now), -self._resets(token, resource)), default=None)

    def wait(self, token: Token, resource: str, now: float) -> float:
        """Seconds until it may be used."""
        return max(0.0, self._resets(token, resource) - now) if token.left(resource, now) < 1 else 0.0

    def note(self, token: Token, resource: str, remaining: int | None, resets: float) -> None:
        """What an answer says is left, until when."""
        token.budgets[resource] = Budget(remaining, resets)

    def left(self, now: float) -> Mapping[str, int]:
        """What is left of each resource, over all tokens, where the forge says so."""
        found: dict[str, int] = {}
        for token in self.usable:
            for resource, budget in token.budgets.items():
                if budget.remaining is not None and budget.resets > now:
                    found[resource] = found.get(resource, 0) + budget.remaining
        return found

    def hide(self, text: str) -> str:
        """`text` without any of the tokens."""
        for token in self._tokens:
            if token.secret:
                text = text.replace(token.secret, "***")
        return text

    @staticmethod
    def _resets(token: Token, resource: str) -> float:
        budget = token.budgets.get(resource)
        return budget.resets if budget is not None else 0.0
