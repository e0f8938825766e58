"""The HTTP connections that the SDKs' clients are given.

httpx2's own pool looks through all its connections at each call, so with hundreds in flight it costs more than the
call itself. What is needed here is little: POST to one host, HTTP/1.1, whole answers. Behind a proxy, or with another
host than the one it was opened for, httpx2's own connections are used.
"""

from __future__ import annotations

import asyncio
import ssl
import time
import urllib.request
from typing import Any

import httpx2

from reviewgauge.models.providers.http_response import LARGEST, Garbled, HttpAnswer, unpacked

Answer = httpx2.Response  # what the SDKs are asked to return: an answer as it came
CONNECT = 10.0  # seconds to be connected
IDLE = 30.0  # seconds after which a connection is not used again
_STAGGER = 0.25  # seconds between attempts at a host's several addresses


def open_connections(address: str, in_flight: int) -> httpx2.AsyncClient:
    """An HTTP client for so many calls at once. It follows no redirects, as they would carry the key elsewhere."""
    timeout = httpx2.Timeout(None, connect=CONNECT)  # the whole call has a deadline of its own
    if _proxied(httpx2.URL(address)):
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=in_flight)
        return _Proxied(limits=limits, timeout=timeout, follow_redirects=False)
    return _Client(Connections(httpx2.URL(address)), timeout)


class _Client(httpx2.AsyncClient):
    """A client without redirects, cookies, hooks and authentication flows, which the SDKs do not need."""

    def __init__(self, connections: Connections, timeout: httpx2.Timeout) -> None:
        super().__init__(transport=connections, timeout=timeout, trust_env=False)
        self._connections = connections
        self._urls: dict[str, httpx2.URL] = {}

    def build_request(
        self, method: str, url: httpx2.URL | str, *, content: Any = None, headers: Any = None, **more: Any
    ) -> httpx2.Request:
        """A request; what the SDKs send again and again, a body to one address, is not merged with defaults anew."""
        if content is None or not isinstance(url, str) or any(more.get(name) for name in ("params", "files", "data")):
            return super().build_request(method, url, content=content, headers=headers, **more)
        parsed = self._urls.get(url)
        if parsed is None:
            parsed = self._urls[url] = httpx2.URL(url)
        request = httpx2.Request(method, parsed, headers=headers, content=content)
        request.headers["Accept-Encoding"] = "gzip, deflate"
        return request

    async def send(self, request: httpx2.Request, **_: Any) -> httpx2.Response:
        """One call; the answer is read already."""
        return await self._connections.handle_async_request(request)


class _Proxied(httpx2.AsyncClient):
    """A client for what goes through a proxy. It reads no more than the limits allow, and keeps no cookies."""

    async def send(self, request: httpx2.Request, **_: Any) -> httpx2.Response:
        """One call; the answer is read already."""
        request.headers["Accept-Encoding"] = "gzip, deflate"
        response = await super().send(request, stream=True, follow_redirects=False)
        self.cookies.clear()
        body = bytearray()
        try:
            async for part in response.aiter_raw():
                body += part
                if len(body) > LARGEST:
                    raise Garbled(f"the answer is over {LARGEST:,} bytes")
            headers, content = unpacked(response.headers.raw, bytes(body))
        except Garbled as error:
            raise httpx2.RemoteProtocolError(str(error), request=request) from None
        finally:
            await response.aclose()
        return httpx2.Response(response.status_code, headers=headers, content=content, request=request)


def _proxied(url: httpx2.URL) -> bool:
    proxies = urllib.request.getproxies()
    if not proxies.get(url.scheme) and not proxies.get("all"):
        return False
    return not urllib.request.proxy_bypass(url.host)


class Connections(httpx2.AsyncBaseTransport):
    """Connections to one host, as many as there are calls in flight; the one used last is used first."""

    def __init__(self, url: httpx2.URL) -> None:
        self._scheme, self._host = url.scheme, url.host
        self._port = url.port or (443 if url.scheme == "https" else 80)
        self._secure: ssl.SSLContext | None = None
        self._idle: list[_Connection] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """One call. Raises httpx2's errors."""
        url = request.url
        if (url.scheme, url.host, url.port or self._port) != (self._scheme, self._host, self._port):
            raise httpx2.UnsupportedProtocol(f"these connections go to {self._host} only", request=request)
        lines = [b"%s %s HTTP/1.1" % (request.method.encode(), url.raw_path)]
        lines += [b"%s: %s" % header for header in request.headers.raw]
        head = b"\r\n".join(lines) + b"\r\n\r\n"
        if head.count(b"\n") != len(lines) + 1 or head.count(b"\r") != len(lines) + 1:
            raise httpx2.LocalProtocolError("a header holds a line break", request=request)
        connection = self._rested() or await self._connect(request)
        try:
            answer = await connection.ask(head + request.content)
            headers, content = unpacked(answer.headers, answer.body)
        except Garbled as error:
            raise httpx2.RemoteProtocolError(str(error), request=request) from None
        except OSError as error:
            raise httpx2.ReadError(str(error) or "the connection broke", request=request) from error
        finally:
            if connection.usable:
                self._idle.append(connection)
            else:
                connection.close()
        return httpx2.Response(answer.status, headers=headers, content=content, request=request)

    def _rested(self) -> _Connection | None:
        now = time.monotonic()
        while self._idle:
            connection = self._idle.pop()
            if connection.usable and now - connection.used < IDLE:
                return connection
            connection.close()
        return None

    async def _connect(self, request: httpx2.Request) -> _Connection:
        if self._scheme == "https" and self._secure is None:
            self._secure = httpx2.create_ssl_context()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT):
                _, connection = await loop.create_connection(
                    _Connection, self._host, self._port, ssl=self._secure, happy_eyeballs_delay=_STAGGER
                )
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(f"not connected within {CONNECT:.0f} s", request=request) from error
        except OSError as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        return connection

    async def aclose(self) -> None:
        """Close the connections that are not in use; those in use close with their calls."""
        while self._idle:
            self._idle.pop().close()


class _Connection(asyncio.Protocol):
    """One connection, with at most one call on it."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answer = HttpAnswer()
        self._waiting: asyncio.Future[HttpAnswer] | None = None
        self.usable, self.used = True, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a stream's is an asyncio.Transport

    async def ask(self, call: bytes) -> HttpAnswer:
        """Send a call; its answer. Whatever goes wrong, the connection is then no longer `usable`."""
        if self._transport is None or self._transport.is_closing():
            self.usable = False
            raise ConnectionResetError("the connection was closed")
        self.usable = False
        self._answer = HttpAnswer()
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(call)
        try:
            answer = await self._waiting
        finally:
            self._waiting = None
        self.usable = answer.keeps and not self._transport.is_closing()
        self.used = time.monotonic()
        return answer

    def data_received(self, data: bytes) -> None:
        waiting = self._waiting
        if waiting is None or waiting.done():
            self.usable = False  # nobody asked
            self.close()
            return
        try:
            if self._answer.feed(data):
                waiting.set_result(self._answer)
        except Garbled as error:
            waiting.set_exception(error)

    def connection_lost(self, error: Exception | None) -> None:
        self.usable = False
        waiting = self._waiting
        if waiting is None or waiting.done():
            return
        try:
            self._answer.end()
        except Garbled as garbled:
            waiting.set_exception(error or garbled)
        else:
            waiting.set_result(self._answer)

    def close(self) -> None:
        """Close it, now."""
        if self._transport is not None:
            self._transport.abort()
