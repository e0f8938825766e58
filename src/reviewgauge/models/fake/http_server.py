"""Just enough of HTTP/1.1 for the fake server: one protocol object a connection, and the ways an answer can go wrong.

Written on asyncio's protocols rather than its streams, as a call must cost far less here than at the client measured
against it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from typing import NamedTuple, Protocol, cast

MOST_HEAD = 64 * 1024
MOST_BODY = 64 * 1024 * 1024
PIECES = 20
BLANK_EVERY = 0.05  # seconds between the blanks of an endless answer
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class HttpRequest(NamedTuple):
    """A request. The names of its headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class ReplyMode(StrEnum):
    """How a reply is sent."""

    WHOLE = "whole"
    CLOSE = "close"  # whole, then the connection is closed
    SILENT = "silent"  # never
    DROP = "drop"  # closed before the first byte
    RESET = "reset"  # reset before the first byte
    CUT = "cut"  # closed after half of the body
    SLOW = "slow"  # in pieces
    ENDLESS = "endless"  # the head, then blanks


@dataclass
class FakeResponse:
    """What is sent, after `delay` seconds. `spread` is how long the pieces of a slow one take."""

    status: int
    body: bytes
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    manner: ReplyMode = ReplyMode.WHOLE
    spread: float = 0.0
    digest: str = ""  # of the request it answers, where that was one to the model
    fault: str = ""

    def head(self, length: int | None = None) -> bytes:
        """The status line and the headers."""
        close = self.manner not in (ReplyMode.WHOLE, ReplyMode.SLOW)
        lines = [
            f"HTTP/1.1 {self.status} {_PHRASES.get(self.status, 'Status')}",
            f"content-type: {self.kind}",
            f"content-length: {len(self.body) if length is None else length}",
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        if close:
            lines.append("connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


_PHRASES = {status.value: status.phrase for status in HTTPStatus}


class Service(Protocol):
    """What answers requests, and is told how each ended."""

    def reply(self, request: HttpRequest) -> FakeResponse:
        """The reply, computed at once; waiting is what its delay is for."""

    def ended(self, reply: FakeResponse, sent: bool) -> None:
        """The reply was sent in whole to an open connection, or it was not."""


class Connection(asyncio.Protocol):
    """One client: its requests are answered one after the other."""

    def __init__(self, service: Service, open_ones: set[Connection]) -> None:
        self._service, self._open = service, open_ones
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._reply: FakeResponse | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._continued = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        self._transport = cast(asyncio.Transport, transport)
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._open.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        self._transport = None
        self._done(sent=False)

    def abort(self) -> None:
        """Close without another byte."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._buffer = self._buffer + data if self._buffer else data
        if self._reply is None:
            self._next()

    def _next(self) -> None:
        """Answer the next request in the buffer, once all of it is there."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MOST_HEAD:
                self._refuse(431)
            return
        lines = self._buffer[:end].decode("latin-1").split("\r\n")
        method, _, rest = lines[0].partition(" ")
        path, _, version = rest.partition(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        length = headers.get("content-length", "0")
        if not version.startswith("HTTP/1.") or not length.isdecimal():
            self._refuse(400)
            return
        if "transfer-encoding" in headers:
            self._refuse(411)
            return
        if int(length) > MOST_BODY:
            self._refuse(413)
            return
        stop = end + 4 + int(length)
        if len(self._buffer) < stop:
            if headers.get("expect", "").lower() == "100-continue" and not self._continued and self._transport:
                self._continued = True
                self._transport.write(_CONTINUE)
            return
        body, self._buffer, self._continued = self._buffer[end + 4 : stop], self._buffer[stop:], False
        self._answer(self._service.reply(HttpRequest(method, path, headers, body)))

    def _refuse(self, status: int) -> None:
        self._buffer = b""
        if self._transport is not None:
            self._transport.write(FakeResponse(status, b"{}", manner=ReplyMode.CLOSE).head() + b"{}")
            self._transport.close()

    def _answer(self, reply: FakeResponse) -> None:
        self._reply = reply
        if reply.manner is ReplyMode.SILENT:
            return
        if reply.delay > 0:
            self._timer = self._loop.call_later(reply.delay, self._send)
        else:
            self._send()

    def _send(self) -> None:
        reply, transport = self._reply, self._transport
        if reply is None or transport is None:
            return
        if reply.manner in (ReplyMode.WHOLE, ReplyMode.CLOSE):
            sent = not transport.is_closing()
            transport.write(reply.head() + reply.body)
            if reply.manner is ReplyMode.CLOSE:
                transport.close()
            self._done(sent)
            if self._buffer:
                self._next()
        elif reply.manner is ReplyMode.SLOW:
            transport.write(reply.head())
            self._piece(0)
        elif reply.manner is ReplyMode.ENDLESS:
            transport.write(reply.head(MOST_BODY))
            self._blank()
        else:
            self._break_off(reply, transport)

    def _break_off(self, reply: FakeResponse, transport: asyncio.Transport) -> None:
        if reply.manner is ReplyMode.CUT:
            transport.write(reply.head() + reply.body[: len(reply.body) // 2])
            transport.close()
        elif reply.manner is ReplyMode.RESET:
            raw = transport.get_extra_info("socket")
            with contextlib.suppress(OSError, AttributeError):  # closing with this option set sends a reset
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        else:
            transport.close()
        self._done(sent=False)

    def _piece(self, number: int) -> None:
        reply, transport = self._reply, self._transport
        if reply is None or transport is None:
            return
        size = -(-len(reply.body) // PIECES)
        transport.write(reply.body[number * size : (number + 1) * size])
        if number + 1 < PIECES:
            self._timer = self._loop.call_later(reply.spread / PIECES, self._piece, number + 1)
        else:
            self._done(sent=not transport.is_closing())
            if self._buffer:
                self._next()

    def _blank(self) -> None:
        if self._transport is not None:
            self._transport.write(b" ")
            self._timer = self._loop.call_later(BLANK_EVERY, self._blank)

    def _done(self, sent: bool) -> None:
        reply, self._reply = self._reply, None
        if reply is not None:
            self._service.ended(reply, sent)
