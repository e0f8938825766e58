"""REST and GraphQL requests to a forge, within its rate limits, with every answer stored on disk.

    with Forge(folder, Github(), api="", token="GITHUB_TOKEN") as forge:
        forge.get("repos/owner/name")                                 -> JSON
        forge.pages("repos/owner/name/pulls", {"state": "all"})       -> the items of all pages
        forge.graphql(QUERY, {"owner": "owner", "name": "name"})      -> the `data` of the answer

One request at a time, as GitHub asks for: its secondary limits punish bursts, and a token has only 5,000 requests an
hour. `version` names the state of the thing asked for (a pull request's `updated_at`): an answer stored for the same
version is not requested again. Any other is requested with its ETag, which costs no quota where nothing changed.
Raises `Unavailable` for what the forge does not have, and Failed.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pydantic import JsonValue

from reviewgauge.core.backoff import backoff
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.repo.forge.access import read_token
from reviewgauge.repo.forge.answers import Answers, Kept
from reviewgauge.repo.forge.replies import (
    Broken,
    Clock,
    ForgeResponse,
    Limited,
    TooLarge,
    Transport,
    Unavailable,
    check_graphql,
    check_status,
    error_message,
    next_link,
    read_json,
    resets_at,
)

if TYPE_CHECKING:
    from reviewgauge.repo.forge.api import ForgeKind

TRIES = 6  # of one failing request
FIRST_WAIT = 1.0  # seconds, after a failed try
PAUSES = 8  # secondary limits in a row on one request
HOPS = 3  # redirects of one request
IN_A_ROW = 3  # failed requests in a row, after which the forge counts as down
FIRST_PAUSE, LONGEST_PAUSE = 60.0, 2 * 3600.0  # seconds; GitHub asks for a minute at least
MOST_PAGES = 20_000
NAP = 5.0  # seconds of a wait after which cancellation is checked
_AGAIN = "repeat the command later: the answers so far are stored"
BuildProgress = Callable[[str, int, int | None], None]
Params = Mapping[str, str | int]


@dataclass
class RequestsSpent:
    """The cost of a crawl: requests sent, seconds waited for limits.

    `without_graphql` counts pull requests that GraphQL gave nothing about although there is a token.
    """

    requests: int = 0
    waited: float = 0.0
    without_graphql: int = 0


@dataclass
class _Call:
    """One request and its tries so far. `listed`: the answer is a list of items, else an object."""

    method: str
    url: str
    resource: str  # which of the forge's limits counts it: core, graphql
    listed: bool = False
    body: bytes | None = None
    etag: str = ""
    tries: int = 0
    pauses: int = 0
    hops: int = 0


_EVERYTHING = ""  # the resource that secondary limits are about


class Forge:
    """A forge, asked with one user's token; without one anonymously: 60 requests an hour on github.com, no GraphQL.

    Thread-safe: requests take turns.
    """

    def __init__(
        self,
        folder: Path,
        kind: ForgeKind,
        *,
        api: str = "",
        token: str = "",
        clock: Clock | None = None,
        progress: BuildProgress | None = None,
        transport: Transport | None = None,
    ) -> None:
        """The forge at `api`, with the token in the environment variable `token`; answers are stored in `folder`.

        `progress` is called while waiting. Raises UserError where there is no token and the forge needs one.
        """
        self.kind, self.address, self.spent = kind, kind.address(api), RequestsSpent()
        self._variable = token or kind.variable
        self._token = read_token(self._variable, kind.variable)
        if kind.needs_token and not self._token:
            problem = f"{self.address.web} shows discussions to those alone who have a token"
            raise UserError(problem, remedy=f"export {self._variable}=... with one that may read the API")
        self.answers = Answers(folder)
        self._closed_until: dict[str, float] = {}  # by resource, on the client's clock
        self._clock, self._progress = clock or Clock(), progress
        self._transport = transport or Transport(self.address.rest)
        self._lock = threading.RLock()
        self._given_up = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close connections and files."""
        self._transport.close()
        self.answers.close()

    @property
    def authenticated(self) -> bool:
        """Whether there is a token; GraphQL needs one."""
        return bool(self._token)

    @property
    def now(self) -> float:
        """Seconds since 1970 by the client's clock."""
        return self._clock.now()

    @property
    def git_token(self) -> str:
        """The token, for git too; empty without one, or where it would travel unencrypted."""
        return self._token if self.address.private else ""

    # --- asking ------------------------------------------------------------------------------------------------

    def get(self, path: str, params: Params | None = None, *, version: str = "") -> JsonValue:
        """One object of the REST API."""
        return self._rest(self._url(path, params), version, listed=False).body

    def pages(self, path: str, params: Params | None = None, *, version: str = "") -> Iterator[JsonValue]:
        """The items of all pages, 100 a page."""
        url = self._url(path, {"per_page": 100, **(params or {})})
        seen: set[str] = set()
        while url:
            if url in seen or len(seen) >= MOST_PAGES:
                raise self._failed(f"{_shown(url)}: the pages do not end")
            seen.add(url)
            kept = self._rest(url, version, listed=True)
            yield from kept.body if isinstance(kept.body, list) else ()
            url = self._inside(kept.next) if kept.next else ""

    def graphql(self, query: str, variables: Mapping[str, JsonValue], *, version: str = "") -> dict[str, JsonValue]:
        """The `data` of one answer. Parts that the forge could not give are null."""
        sent = json.dumps({"query": query, "variables": dict(variables)}, sort_keys=True)
        request = f"POST {self.address.graphql} {hashlib.sha256(sent.encode()).hexdigest()}"
        kept = self.answers.get(request)
        if kept is not None and version and kept.version == version:
            body = kept.body
        else:
            _, body = self._ask(_Call("POST", self.address.graphql, "graphql", body=sent.encode()))
            whole = isinstance(body, dict) and not body.get("errors")
            self.answers.put(request, Kept(body, version if whole else "", "", ""))  # the rest may be there next time
        data = body.get("data") if isinstance(body, dict) else None
        return data if isinstance(data, dict) else {}

    def _rest(self, url: str, version: str, *, listed: bool) -> Kept:
        request = f"GET {url}"
        kept = self.answers.get(request)
        if kept is not None and version and kept.version == version:
            return kept
        reply, body = self._ask(_Call("GET", url, "core", listed, etag=kept.etag if kept is not None else ""))
        if reply.status == 304 and kept is not None:
            self.answers.put(request, kept._replace(version=version))
            return kept
        found = Kept(body, version, reply.headers.get("etag", ""), next_link(reply.headers))
        self.answers.put(request, found)
        return found

    def _url(self, path: str, params: Params | None) -> str:
        if "://" in path or ".." in path.split("/") or any(c in path for c in "?#\\ \r\n"):
            raise UserError(f"{path!r} is not a path of the REST API")
        query = f"?{urllib.parse.urlencode(dict(params))}" if params else ""
        return f"{self.address.rest}/{urllib.parse.quote(path.strip('/'), safe='/.-_~@:+,%')}{query}"

    def _inside(self, url: str) -> str:
        """`url` as an absolute URL of this API. Raises Failed for any other host, port or scheme."""
        whole = urllib.parse.urljoin(self.address.rest + "/", url)
        parts = urllib.parse.urlsplit(whole)
        if not whole.startswith(self.address.rest + "/") or "@" in parts.netloc or ".." in parts.path.split("/"):
            raise self._failed(f"the forge points to {parts.scheme}://{parts.netloc}, which is not its API")
        return whole

    # --- one request, as often as it takes ---------------------------------------------------------------------

    def _ask(self, call: _Call) -> tuple[ForgeResponse, JsonValue]:
        """A usable answer and its JSON."""
        with self._lock:
            while True:
                self._wait(call)
                try:
                    reply = self._send(call)
                    if 300 <= reply.status < 400 and reply.status != 304:
                        self._follow(call, reply)
                        continue
                    found = self._read(call, reply)
                except TooLarge as error:
                    raise self._failed(f"{_shown(call.url)}: {error}") from None
                except Unavailable as error:
                    self._given_up = 0
                    raise Unavailable(error.status, self._hide(error.problem)) from None
                except Limited as limited:
                    self._pause(call, limited)
                except Broken as broken:
                    self._break(call, broken)
                else:
                    self._given_up = 0
                    return reply, found

    def _read(self, call: _Call, reply: ForgeResponse) -> JsonValue:
        """The JSON of an answer, None where nothing changed. Raises Broken, Limited, Unavailable and Failed."""
        if reply.status == 304:
            if not call.etag:
                raise Broken("it answers 304 to a request without an ETag")
            return None
        shown, message = _shown(call.url), error_message(reply) if reply.status >= 400 else ""
        if reply.status == 401:
            raise Failed(
                FailureKind.REQUEST,
                f"{shown}: 401 {self._hide(message)}: the forge refuses the token in {self._variable}",
                remedy=f"set {self._variable} to a valid token and repeat the command: the answers so far are stored",
                stops=True,
            )
        check_status(reply, message, shown, self._clock.now())
        found = read_json(reply)
        if not isinstance(found, list if call.listed else dict):
            raise Broken(f"the answer is not {'a list' if call.listed else 'an object'} of the API")
        if isinstance(found, list):
            self.kind.check_page(call.url, reply.headers, found)
        if call.resource == "graphql":
            check_graphql(found, reply, shown, self._clock.now())
        return found

    def _wait(self, call: _Call) -> None:
        """Wait until the limits allow the call."""
        while (now := self._clock.now()) < (
            until := max(self._closed_until.get(name, 0.0) for name in (_EVERYTHING, call.resource))
        ):
            if self._progress is not None:  # it may cancel the crawl
                shown = time.strftime("%H:%M:%S UTC", time.gmtime(until))
                self._progress(f"waiting for the forge's limit until {shown}", self.spent.requests, None)
            nap = min(until - now, NAP)
            self.spent.waited += nap
            self._clock.sleep(nap)

    def _send(self, call: _Call) -> ForgeResponse:
        headers = {"User-Agent": "reviewgauge", "Accept-Encoding": "gzip", **self.kind.headers(self.git_token)}
        if call.etag:
            headers["If-None-Match"] = call.etag
        if call.body is not None:
            headers["Content-Type"] = "application/json"
        self.spent.requests += 1
        reply = self._transport.send(call.method, call.url, headers, call.body)
        if reply.headers.get("x-ratelimit-remaining") == "0":
            self._closed_until[call.resource] = resets_at(reply, self._clock.now())
        return reply

    def _follow(self, call: _Call, reply: ForgeResponse) -> None:
        """Follow the redirect of a renamed repository. Raises Failed where it leaves this API."""
        call.hops += 1
        target = reply.headers.get("location", "")
        if call.hops > HOPS or not target:
            raise self._failed(f"{_shown(call.url)}: {reply.status}, a redirect that leads nowhere")
        if call.body is not None:
            raise self._failed(f"{_shown(call.url)}: {reply.status}: the address is not that of the API", stops=True)
        call.url = self._inside(target)

    def _pause(self, call: _Call, limited: Limited) -> None:
        """Close the forge, or what the call is counted by, for as long as it asks; else a minute, doubled each time."""
        call.pauses += 1
        now = self._clock.now()
        wait = limited.seconds if limited.seconds is not None else FIRST_PAUSE * 2.0 ** (call.pauses - 1)
        if call.pauses > PAUSES or wait > LONGEST_PAUSE:
            until = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now + min(wait, 10**8)))
            raise self._failed(f"{limited}: the forge asks to wait until {until}", stops=True)
        resource = _EVERYTHING if limited.everything else call.resource
        self._closed_until[resource] = max(self._closed_until.get(resource, 0.0), now + wait)

    def _break(self, call: _Call, broken: Broken) -> None:
        """Wait for the next try. Raises Failed after the last; a forge that is down ends the crawl."""
        call.tries += 1
        if call.tries < TRIES:
            self._clock.sleep(backoff(call.tries, FIRST_WAIT))
            return
        self._given_up += 1
        problem = f"{_shown(call.url)}: gave up after {call.tries} tries: {broken}"
        raise self._failed(problem, stops=broken.unreached or self._given_up >= IN_A_ROW)

    def _failed(self, problem: str, *, stops: bool = False) -> Failed:
        return Failed(FailureKind.NETWORK, self._hide(problem), remedy=_AGAIN, stops=stops)

    def _hide(self, text: str) -> str:
        """`text` without the token."""
        return text.replace(self._token, "***") if self._token else text


def _shown(url: str) -> str:
    """A short URL for messages."""
    parts = urllib.parse.urlsplit(url)
    return f"{parts.netloc}{parts.path}{'?' if parts.query else ''}{parts.query}"
