"""What an answer of a forge means: take it, wait, ask with another token, follow it, ask again, or give it up.

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
    SPENT = auto()  # this token's primary limit
    PAUSE = auto()  # a secondary limit, for everybody
    RETIRE = auto()  # the token is refused
    FORBIDDEN = auto()  # not for this token
    GONE = auto()
    AGAIN = auto()
    REFUSED = auto()  # a request that the forge will not take


class Unavailable(Failed):
    """The forge does not have it, or not for these tokens. `status` is HTTP's; the crawl goes on without it."""

    def __init__(self, status: int, problem: str, *, remedy: str = "") -> None:
        super().__init__(FailureKind.REQUEST, problem, remedy=remedy)
        self.status = status

    @property
    def reason(self) -> str:
        """Why, in few words that can be counted."""
        return _REASONS.get(self.status, f"the forge answers {self.status}")

    @property
    def of_server(self) -> bool:
        """Of a GraphQL query: whether this server answers it for nothing at all, since it knows no such field or type,
        or has no GraphQL; else only this one thing is refused.
        """
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
    """What the status of an answer asks for."""
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
    """Seconds that a limited answer asks to wait; None where it does not say. Dates are held against its own clock."""
    asked = retry_after(reply.headers, now=http_date(reply.headers.get("date")) or now)
    if asked is not None or reply.headers.get("x-ratelimit-remaining") != "0":
        return asked
    return max(0.0, resets_at(reply, now) - now) or None


def resets_at(reply: ForgeResponse, now: float) -> float:
    """When the limit of an answer is over, by the clock that says `now`.

    The forge's own `Date` stands beside its reset time, so a wrong clock on this machine does no harm.
    """
    reset = _number(reply.headers.get("x-ratelimit-reset"))
    if reset is None:
        return now + 60.0
    server = http_date(reply.headers.get("date"))
    return now + min(LONGEST_WINDOW, max(0.0, reset - (now if server is None else server)) + 1.0)


def remaining(reply: ForgeResponse) -> int | None:
    """Requests that are left; None where the forge names no limit."""
    left = _number(reply.headers.get("x-ratelimit-remaining"))
    return None if left is None else int(left)


def _number(value: str | None) -> float | None:
    return float(value) if value is not None and re.fullmatch(r"\d{1,15}", value) else None


def next_link(headers: Mapping[str, str]) -> str:
    """The address of the following page as the `Link` header gives it; empty on the last page."""
    found = _NEXT.search(headers.get("link", ""))
    return found[1] if found is not None else ""


def read_json(reply: ForgeResponse) -> JsonValue:
    """The body, without e-mail addresses. Raises Broken where it is not JSON."""
    if not reply.body:
        return None
    try:
        return without_addresses(json.loads(reply.body))
    except (ValueError, RecursionError):
        raise Broken("the answer is not JSON: is the address that of the API?") from None


def error_message(reply: ForgeResponse) -> str:
    """What an error says, in one line."""
    try:
        value = json.loads(reply.body[:65_536])
    except (ValueError, RecursionError):
        value = None
    message = value.get("message") if isinstance(value, dict) else None
    return one_line(message if isinstance(message, str) else "", 200)


def graphql_step(body: JsonValue) -> tuple[Step, str]:
    """What a GraphQL answer with status 200 asks for, and what its errors say.

    TAKE with words: some of the data is missing. Raises Broken for what is not a GraphQL answer and for timeouts.
    """
    if not isinstance(body, dict) or not ("data" in body or "errors" in body):
        raise Broken("the answer is none of GraphQL")
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
