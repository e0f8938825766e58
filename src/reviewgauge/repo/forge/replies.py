"""Exchanges with a forge by urllib3, and what an answer that is not one means: broken, limited, or not there.

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
from typing import NamedTuple

import urllib3
from pydantic import JsonValue

from reviewgauge.core.backoff import http_date, retry_after
from reviewgauge.core.errors import one_line
from reviewgauge.core.json_reader import node, nodes, text
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
    """One try failed in a way that another may not. `unreached`: nothing answers at the address."""

    def __init__(self, problem: str, *, unreached: bool = False) -> None:
        super().__init__(problem)
        self.unreached = unreached


class TooLarge(Exception):
    """The answer is over the size limit; another try would be as well."""


class Limited(Exception):
    """A limit was passed. `seconds` to wait, None where the forge states none; `everything`: whatever is asked for."""

    def __init__(self, problem: str, seconds: float | None, *, everything: bool) -> None:
        super().__init__(problem)
        self.seconds, self.everything = seconds, everything


class Unavailable(Failed):
    """The forge does not have it, or not for this token. The crawl goes on without it."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(FailureKind.REQUEST, problem)
        self.status = status

    @property
    def reason(self) -> str:
        """The reason, in words that can be counted."""
        return _REASONS.get(self.status, f"the forge answers {self.status}")


_REASONS = {
    403: "not open to this token",
    404: "deleted, or not open to this token",
    410: "deleted",
    451: "blocked for legal reasons",
}


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
            raise Broken(f"cannot reach it: {network_problem(error)}", unreached=True) from None
        except urllib3.exceptions.SSLError as error:
            raise Broken(f"its TLS certificate is not trusted: {network_problem(error)}", unreached=True) from None
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


_LONGEST_WINDOW = 3660.0  # seconds; the windows of primary limits are an hour at most
_SECONDARY = re.compile(r"secondary rate limit|abuse detection|temporarily blocked|too many requests", re.IGNORECASE)
_PRIMARY = re.compile(r"api rate limit (?:already )?exceeded", re.IGNORECASE)
_LATE = re.compile(r"something went wrong|timed? ?out|timeout", re.IGNORECASE)
_NEXT = re.compile(r'<([^<>]{1,4096})>\s*;[^,<>]{0,200}?\brel="?next"?')


def check_status(reply: ForgeResponse, message: str, shown: str, now: float) -> None:
    """Raise what a status over 399 means: Broken, Limited, Unavailable. `message` is that of `error_message`."""
    status = reply.status
    problem = f"{shown}: {status}{' ' if message else ''}{message}"
    if status in (408, 425) or status >= 500:
        raise Broken(f"{status} {message}".strip())
    if status in (403, 429):
        primary = reply.headers.get("x-ratelimit-remaining") == "0" or _PRIMARY.search(message) is not None
        secondary = _SECONDARY.search(message) is not None
        if primary or secondary or status == 429 or "retry-after" in reply.headers:
            raise Limited(problem, _asked_pause(reply, now, primary), everything=secondary or not primary)
        raise Unavailable(403, f"{shown}: not open to this token")
    if status >= 400:
        raise Unavailable(status, problem)


def check_graphql(body: JsonValue, reply: ForgeResponse, shown: str, now: float) -> None:
    """As `check_status`, for a GraphQL answer with status 200 and no data. What is beside errors counts as data."""
    if not isinstance(body, dict) or not ("data" in body or "errors" in body):
        raise Broken("the answer is not a GraphQL answer")
    errors = nodes(body, "errors")
    if not errors:
        return
    message = one_line("; ".join(text(error, "message") for error in errors[:3]), 200)
    kinds = {text(error, "type") for error in errors}
    primary = "RATE_LIMITED" in kinds or _PRIMARY.search(message) is not None
    if primary or _SECONDARY.search(message):
        raise Limited(f"{shown}: {message}", _asked_pause(reply, now, primary), everything=not primary)
    if _LATE.search(message):
        raise Broken(f"GraphQL: {message}")
    if not any(value is not None for value in node(body, "data").values()):
        refused = 404 if "NOT_FOUND" in kinds else 422
        raise Unavailable(403 if kinds & {"FORBIDDEN", "INSUFFICIENT_SCOPES"} else refused, f"{shown}: {message}")


def _asked_pause(reply: ForgeResponse, now: float, primary: bool) -> float | None:
    """Seconds that the answer asks to wait, None where it states none. Dates are read by the server's own clock."""
    asked = retry_after(reply.headers, now=http_date(reply.headers.get("date")) or now)
    return resets_at(reply, now) - now if asked is None and primary else asked


def resets_at(reply: ForgeResponse, now: float) -> float:
    """When the limit resets, by the clock that says `now`.

    The reset time is compared with the answer's own `Date`, so a wrong clock on this machine does no harm.
    """
    reset = reply.headers.get("x-ratelimit-reset", "")
    if not re.fullmatch(r"\d{1,15}", reset):
        return now + 60.0
    server = http_date(reply.headers.get("date"))
    return now + min(_LONGEST_WINDOW, max(0.0, float(reset) - (now if server is None else server)) + 1.0)


def next_link(headers: Mapping[str, str]) -> str:
    """The URL of the next page from the `Link` header; empty on the last page."""
    found = _NEXT.search(headers.get("link", ""))
    return found[1] if found is not None else ""


def read_json(reply: ForgeResponse) -> JsonValue:
    """The body, without e-mail addresses. Raises Broken where it is not JSON."""
    try:
        return without_addresses(json.loads(reply.body)) if reply.body else None
    except (ValueError, RecursionError):
        raise Broken("the answer is not JSON: is this the address of the API?") from None


def error_message(reply: ForgeResponse) -> str:
    """The message of an error, in one line."""
    try:
        value = json.loads(reply.body[:65_536])
    except (ValueError, RecursionError):
        value = None
    return one_line(text(value, "message"), 200)
