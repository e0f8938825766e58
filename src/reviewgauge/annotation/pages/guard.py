"""Refuses requests that no page of ours makes, before anything reads them, and sends the headers that protect pages.

A name that resolves to this machine (DNS rebinding) fails at the Host header, another site's form at the Origin, and a
script that slipped through escaping at the Content-Security-Policy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
        self.origins = {origin.lower().encode() for origin in origins}
        self.hosts = {origin.partition(b"://")[2] for origin in self.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                theirs = [pair for pair in message["headers"] if pair[0].decode().lower() not in HEADERS]
                message = {**message, "headers": [*theirs, *ours]}
            await send(message)

        refusal = self._refusal(scope)
        app = self.app if refusal is None else PlainTextResponse(refusal[1], refusal[0])
        await app(scope, receive, protected)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts = _all(headers, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 421, "This address is not served here."
        if scope["method"] in SAFE:
            return None
        if scope["method"] != "POST":
            return 405, "This method is not used here."
        origins, sites = _all(headers, b"origin"), _all(headers, b"sec-fetch-site")
        if len(origins) != 1 or origins[0].lower() not in self.origins or any(site != b"same-origin" for site in sites):
            return 403, "This form was sent from another site."
        return None


def _all(headers: list[tuple[bytes, bytes]], name: bytes) -> list[Any]:
    return [value for key, value in headers if key.lower() == name]
