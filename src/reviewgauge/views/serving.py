"""How pages are served: to their own address only."""

from __future__ import annotations

import asyncio
import ipaddress
import resource
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from reviewgauge.core.errors import UserError

PATIENCE = 30.0  # seconds
LAST_ANSWERS = 5  # seconds for the answers under way when the service ends
MOST, BACKLOG = 500, 64  # connections: in all, and taken at once


class _Impatient(H11Protocol):
    """Drops a connection after a while, and the oldest where there are too many: each open one costs a file.

    A client may send its request, or read the answer, as slowly as it likes.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self.since = self.loop.time()
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)  # half of them are for the database and other things
        if len(self.connections) > (MOST if files == resource.RLIM_INFINITY else min(MOST, files // 2)):
            oldest: Any = min(self.connections, key=attrgetter("since"))
            self.connections.discard(oldest)
            oldest.transport.abort()
        self.loop.call_later(PATIENCE, self._end)

    def _end(self, unread: bool = False) -> None:
        """`unread`: the client did not read the last time either."""
        if self.cycle is None or self.cycle.response_complete or (unread and self.flow.write_paused):
            self.transport.abort()
        else:  # what is under way is the last
            self.cycle.keep_alive = False
            self.loop.call_later(PATIENCE, self._end, self.flow.write_paused)


def server_of(app: ASGIApp, *, proxied: bool = False) -> uvicorn.Server:
    """What serves; requests that are being answered when it ends are answered, if their clients read.

    Where it is `proxied`, a proxy on this machine says who asks (`FORWARDED_ALLOW_IPS` names others).
    """
    config = uvicorn.Config(
        app,
        http=_Impatient,
        log_config=None,
        server_header=False,
        ws="none",
        lifespan="off",
        proxy_headers=proxied,
        backlog=BACKLOG,
        timeout_graceful_shutdown=LAST_ANSWERS,
    )
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """A socket that is open before anybody is told of it. Raises UserError."""
    try:
        found = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio sets it only on sockets of its own making
        return found
    except OSError as error:
        raise UserError(
            f"{host} port {port} cannot be used: {error.strerror}", remedy="--port 0 takes a free one"
        ) from error


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def origins_of(host: str, port: int, url: str) -> list[str]:
    """The addresses that the service answers to, the one to show first. Raises UserError.

    Without `url` the service is for this machine alone.
    """
    if url:
        scheme, _, rest = url.rstrip("/").partition("://")
        if scheme not in ("http", "https") or not rest or "/" in rest:
            raise UserError(f"{url!r} is not an address of this service", remedy="https://annotate.example.org")
        return [f"{scheme}://{rest}".lower()]
    if not is_loopback(host):
        raise UserError(
            f"{host} can be reached from other machines", remedy="--url says under which address, or --host 127.0.0.1"
        )
    return [f"http://{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]


# --- refusing requests that no page of ours makes --------------------------------------------------------------------


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
SAFE = ("GET", "HEAD")


class Guard:
    """Lets through what is addressed to one of `origins` (`http://127.0.0.1:8000`), and what their pages send."""

    def __init__(self, app: ASGIApp, origins: Iterable[str]) -> None:
        self.app = app
        self.origins = {origin.lower() for origin in origins}
        self.hosts = {origin.partition("://")[2] for origin in self.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update({**HEADERS, "cache-control": headers.get("cache-control", HEADERS["cache-control"])})
            await send(message)

        refusal = self._refusal(scope)
        app = self.app if refusal is None else PlainTextResponse(refusal[1], refusal[0])
        await app(scope, receive, protected)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 421, "This address is not served here."
        if scope["method"] in SAFE:
            return None
        if scope["method"] != "POST":
            return 405, "This method is not used here."
        origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
        if len(origins) != 1 or origins[0].lower() not in self.origins or any(site != "same-origin" for site in sites):
            return 403, "This form was sent from another site."
        return None


@dataclass(frozen=True)
class OpenService:
    """A service that listens. `link` is what to open in a browser."""

    link: str
    app: ASGIApp
    listener: socket.socket
    team: bool = False

    def run(self) -> None:
        """Answer until the process is told to end."""
        server_of(self.app, proxied=self.team).run([self.listener])
