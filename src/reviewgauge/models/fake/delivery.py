"""The ways in which the fake server sends a response: whole, late, in pieces, broken off, or never.

ASGI can wait, split and stop, but not close or reset a connection: `FaultyProtocol` hands the connection's transport
to the application for that.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

ENDLESS_LENGTH = 64 * 1024 * 1024  # the content-length that an endless answer announces
PIECES = 20
BLANK_EVERY = 0.05  # seconds between the blanks of an endless answer
_TRANSPORT = "reviewgauge.transport"


class FaultyProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol, with the transport of the connection among the extensions of the ASGI scope."""

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self.scope["extensions"] = {_TRANSPORT: self.transport}  # type: ignore[dict-item]


class FakeResponse(Response):
    """A response that is sent after `delay` seconds, with its fault.

    `digest` is that of the request to the model that it answers, empty for any other.
    """

    def __init__(self, status: int, body: bytes, media_type: str = "application/json") -> None:
        super().__init__(body, status, media_type=media_type)
        self.fault, self.digest, self.delay = "", "", 0.0

    async def deliver(self, scope: Scope, receive: Receive, send: Send, spread: float) -> bool:
        """Send it, a slow one over `spread` seconds, and return whether all of it went to an open connection."""
        transport: asyncio.Transport = scope["extensions"][_TRANSPORT]
        if self.fault == "timeout":
            await _disconnected(receive)
            return False
        if self.delay > 0 and await _disconnected(receive, self.delay):
            return False
        match self.fault:
            case "slow":
                return await self._send_slowly(transport, receive, send, spread / PIECES)
            case "endless":
                self.headers["content-length"] = str(ENDLESS_LENGTH)
                await self._start(send)
                await _send_part(send, b" ")
                while not await _disconnected(receive, BLANK_EVERY):
                    await _send_part(send, b" ")
            case "cut":
                await self._start(send)
                await _send_part(send, bytes(self.body[: len(self.body) // 2]))
                transport.close()
            case "drop":
                transport.close()
            case "reset":
                raw = transport.get_extra_info("socket")
                with contextlib.suppress(OSError, AttributeError):  # closing with this option set sends a reset
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                transport.abort()
            case _:
                if self.fault == "close":
                    self.headers["connection"] = "close"
                is_open = not transport.is_closing()
                await self(scope, receive, send)
                return is_open
        await _disconnected(receive)
        return False

    async def _send_slowly(self, transport: asyncio.Transport, receive: Receive, send: Send, wait: float) -> bool:
        await self._start(send)
        size = max(1, -(-len(self.body) // PIECES))
        for start in range(0, len(self.body), size):
            if start and await _disconnected(receive, wait):
                return False
            await _send_part(send, bytes(self.body[start : start + size]))
        is_open = not transport.is_closing()
        await send({"type": "http.response.body", "body": b""})
        return is_open

    async def _start(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})


async def _send_part(send: Send, part: bytes) -> None:
    await send({"type": "http.response.body", "body": part, "more_body": True})


async def _disconnected(receive: Receive, within: float | None = None) -> bool:
    """Wait until the client disconnects, at most `within` seconds; return whether it did."""
    try:
        async with asyncio.timeout(within):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True
