"""Decides what to do with an answer of a forge: take it, wait, change the token, follow, retry or give up.

Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api and
https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum, auto

from pydantic import JsonValue

from reviewgauge.core.backoff import http_date, retry_after
from reviewgauge.core.errors import one_line
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.repo.forge.answers import without_addresses
from reviewgauge.repo.forge.transport import Broken, ForgeResponse

LONGEST_WINDOW = 3660.0  # seconds; the windows of primary limits are an hour at most
_SECONDARY = re.compile(r"secondary rate limit|abuse detection|temporarily blocked|too many requests", re.IGNORECASE)
_PRIMARY = re.compile(r"api rate limit (?:already )?exceeded", re.IGNORECASE)
_LATE = re.compile(r"something went wrong|timed? ?out|timeout", re.IGNORECASE)
_NEXT = re.compile(r'<([^<>]{1,4096})>\s*;[^,]*?\brel="?next"?')


class Step(Enum):
    """What to do with an answer."""

    TAKE = auto()
    SAME = auto()  # 304
    FOLLOW = auto()  # a renamed repository
    SPENT = auto()  # the primary limit of this token
    PAUSE = auto()  # a secondary limit, for all tokens
    RETIRE = auto()  # the token is invalid
    FORBIDDEN = auto()  # not for this token
    GONE = auto()
    AGAIN = auto()
    REFUSED = auto()  # an invalid request


class Unavailable(Failed):
    """The forge does not have it, or not for these tokens. The crawl goes on without it."""

    def __init__(self, status: int, problem: str, *, remedy: str = "") -> None:
        super().__init__(FailureKind.REQUEST, problem, remedy=remedy)
        self.status = status

    @property
    def reason(self) -> str:
        """The reason, in words that can be counted."""
        return _REASONS.get(self.status, f"the forge answers {self.status}")

    @property
    def of_server(self) -> bool:
        """Whether a GraphQL query fails for every item: the server lacks the field, the type or GraphQL."""
        return bool((_NO_FIELD if self.status == 422 else _NO_ADDRESS).search(self.problem))


_NO_FIELD = re.compile(r"doesn't exist on type|No such type|doesn't accept argument|argument definition|undefinedField")
_NO_ADDRESS = re.compile(r"graphql: (?:404|405|410|501)\b")
_REASONS = {
    403: "not open to these tokens",
    404: "deleted, or not open to these tokens",
    410: "deleted",
    451: "blocked for legal reasons",
}


def step_of(reply: ForgeResponse) -> Step:
    """The step that the HTTP status calls for."""
    status = reply.status
    if status == 304:
        return Step.SAME
    if 200 <= status < 300:
        return Step.TAKE
    if 300 <= status < 400:
        return Step.FOLLOW
    if status == 401:
        return Step.RETIRE
    if status in (403, 429):
        return _limit(reply)
    if status in (404, 410, 451):
        return Step.GONE
    if status in (408, 425) or status >= 500:
        return Step.AGAIN
    return Step.REFUSED


def _limit(reply: ForgeResponse) -> Step:
    text = reply.body[:65_536].decode("utf-8", "replace")
    if _SECONDARY.search(text):
        return Step.PAUSE
    if reply.headers.get("x-ratelimit-remaining") == "0" or _PRIMARY.search(text):
        return Step.SPENT
    if reply.status == 429 or "retry-after" in reply.headers:
        return Step.PAUSE
    return Step.FORBIDDEN


def asked_pause(reply: ForgeResponse, now: float) -> float | None:
    """Seconds that the answer asks to wait, None where it states none. Dates are read by the server's own clock."""
    asked = retry_after(reply.headers, now=http_date(reply.headers.get("date")) or now)
    if asked is not None or reply.headers.get("x-ratelimit-remaining") != "0":
        return asked
    return max(0.0, resets_at(reply, now) - now) or None


def resets_at(reply: ForgeResponse, now: float) -> float:
    """When the limit resets, by the clock that says `now`.

    The reset time is compared with the answer's own `Date`, so a wrong clock on this machine does no harm.
    """
    reset = _number(reply.headers.get("x-ratelimit-reset"))
    if reset is None:
        return now + 60.0
    server = http_date(reply.headers.get("date"))
    return now + min(LONGEST_WINDOW, max(0.0, reset - (now if server is None else server)) + 1.0)


def remaining(reply: ForgeResponse) -> int | None:
    """The requests left; None where the forge states no limit."""
    left = _number(reply.headers.get("x-ratelimit-remaining"))
    return None if left is None else int(left)


def _number(value: str | None) -> float | None:
    return float(value) if value is not None and re.fullmatch(r"\d{1,15}", value) else None


def next_link(headers: Mapping[str, str]) -> str:
    """The URL of the next page from the `Link` header; empty on the last page."""
    found = _NEXT.search(headers.get("link", ""))
    return found[1] if found is not None else ""


def read_json(reply: ForgeResponse) -> JsonValue:
    """The body, without e-mail addresses. Raises Broken where it is not JSON."""
    if not reply.body:
        return None
    try:
        return without_addresses(json.loads(reply.body))
    except (ValueError, RecursionError):
        raise Broken("the answer is not JSON: is this the address of the API?") from None


def error_message(reply: ForgeResponse) -> str:
    """The message of an error, in one line."""
    try:
        value = json.loads(reply.body[:65_536])
    except (ValueError, RecursionError):
        value = None
    message = value.get("message") if isinstance(value, dict) else None
    return one_line(message if isinstance(message, str) else "", 200)


def graphql_step(body: JsonValue) -> tuple[Step, str]:
    """The step that a GraphQL answer with status 200 calls for, and its error messages.

    TAKE with a message: some data is missing. Raises Broken for timeouts and for what is not a GraphQL answer.
    """
    if not isinstance(body, dict) or not ("data" in body or "errors" in body):
        raise Broken("the answer is not a GraphQL answer")
    errors = [error for error in _list(body.get("errors")) if isinstance(error, dict)]
    if not errors:
        return Step.TAKE, ""
    message = one_line("; ".join(str(error.get("message", "")) for error in errors[:3]), 200)
    kinds = {str(error.get("type", "")) for error in errors}
    if "RATE_LIMITED" in kinds or _PRIMARY.search(message):
        return Step.SPENT, message
    if _SECONDARY.search(message):
        return Step.PAUSE, message
    if _LATE.search(message):
        raise Broken(f"GraphQL: {message}")
    data = body.get("data")
    if isinstance(data, dict) and any(value is not None for value in data.values()):
        return Step.TAKE, message
    if kinds & {"FORBIDDEN", "INSUFFICIENT_SCOPES"}:
        return Step.FORBIDDEN, message
    return (Step.GONE if "NOT_FOUND" in kinds else Step.REFUSED), message


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
