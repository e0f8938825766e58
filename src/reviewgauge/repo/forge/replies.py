"""Exchanges with a forge by urllib3, and what to do with an answer: take it, wait, follow, retry or give up.

An exchange follows no redirect, repeats nothing, and is bounded in size and time.

Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api and
https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api.
"""

from __future__ import annotations

import json
import re
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple

import urllib3
from pydantic import JsonValue

from reviewgauge.core.backoff import http_date, retry_after
from reviewgauge.core.errors import one_line
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.repo.forge.answers import without_addresses

LARGEST = 32 * 1024**2  # bytes of one answer, unpacked; a page of 100 pull requests is about 2 MB
CONNECT, SILENCE, WHOLE = 10.0, 60.0, 300.0  # seconds to connect, without a byte, and for the whole answer
_PIECE = 64 * 1024


class Clock:
    """The clock of this machine; tests replace it to wait for hours in no time."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(max(0.0, seconds))


class Broken(Exception):
    """One try failed in a way that another may not."""


class Unreached(Broken):
    """Nothing answers at the address, or the network does not lead there."""


class TooLarge(Exception):
    """The answer is over the size limit; another try would be as well."""


class ForgeResponse(NamedTuple):
    """An answer. The names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Connections to one host."""

    def __init__(self, root: str, largest: int = LARGEST, silence: float = SILENCE) -> None:
        self._largest, self._silence = largest, silence
        self._pool = connection_pool(root)

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> ForgeResponse:
        """One answer, whatever its status. Raises Broken and TooLarge."""
        try:
            answer = self._pool.request(
                method,
                url,
                headers=dict(headers),
                body=body,
                redirect=False,
                retries=False,
                preload_content=False,
                timeout=urllib3.Timeout(connect=CONNECT, read=self._silence),
            )
            try:
                content = self._read(answer)
            except BaseException:
                answer.close()
                raise
            answer.release_conn()
        except (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError) as error:
            raise Unreached(f"cannot reach it: {network_problem(error)}") from None
        except urllib3.exceptions.SSLError as error:
            raise Unreached(f"its TLS certificate is not trusted: {network_problem(error)}") from None
        except urllib3.exceptions.TimeoutError:
            raise Broken(f"no answer within {self._silence:.0f} s") from None
        except urllib3.exceptions.HTTPError as error:
            raise Broken(f"the connection broke: {network_problem(error)}") from None
        return ForgeResponse(answer.status, {name.lower(): value for name, value in answer.headers.items()}, content)

    def _read(self, answer: urllib3.BaseHTTPResponse) -> bytes:
        began = time.monotonic()
        content = bytearray()
        while piece := answer.read(_PIECE, decode_content=True):
            content += piece
            if len(content) > self._largest:
                raise TooLarge(f"its answer is over {self._largest:,} bytes")
            if time.monotonic() - began > WHOLE:
                raise Broken(f"the answer takes longer than {WHOLE:.0f} s")
        return bytes(content)

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()


def connection_pool(url: str) -> urllib3.PoolManager:
    """Connections to the host of `url`, through the proxy that the environment names for it."""
    parts = urllib.parse.urlsplit(url)
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
        return urllib3.ProxyManager(proxy, maxsize=2)
    return urllib3.PoolManager(maxsize=2)


def network_problem(error: Exception) -> str:
    """The cause of a failed connection, in one line."""
    return one_line(str(error).rpartition(": ")[2] or type(error).__name__, 160)


LONGEST_WINDOW = 3660.0  # seconds; the windows of primary limits are an hour at most
_SECONDARY = re.compile(r"secondary rate limit|abuse detection|temporarily blocked|too many requests", re.IGNORECASE)
_PRIMARY = re.compile(r"api rate limit (?:already )?exceeded", re.IGNORECASE)
_LATE = re.compile(r"something went wrong|timed? ?out|timeout", re.IGNORECASE)
_NEXT = re.compile(r'<([^<>]{1,4096})>\s*;[^,<>]{0,200}?\brel="?next"?')


class Step(Enum):
    """What to do with an answer."""

    TAKE = auto()
    SAME = auto()  # 304
    FOLLOW = auto()  # a renamed repository
    SPENT = auto()  # the primary limit
    PAUSE = auto()  # a secondary limit
    INVALID_TOKEN = auto()
    FORBIDDEN = auto()  # to this token
    GONE = auto()
    AGAIN = auto()
    REFUSED = auto()  # an invalid request


class Unavailable(Failed):
    """The forge does not have it, or not for this token. The crawl goes on without it."""

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
    403: "not open to this token",
    404: "deleted, or not open to this token",
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
        return Step.INVALID_TOKEN
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
    given = body.get("errors")
    errors = [error for error in given if isinstance(error, dict)] if isinstance(given, list) else []
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
