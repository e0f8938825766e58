"""A local server with the fake model behind the OpenAI and the Anthropic protocol, which fails on request.

    with FakeServer(fail="429:0.2,drop:0.05", latency=0.2) as server:
        chat_model(server.spec()).ask(...)
        server.stats()["answered"]

It listens on the loopback interface only, in a thread of this process. `faults.FAULTS` lists what can go wrong.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from pathlib import Path
from typing import Any

from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.models.fake.faults import read_faults
from reviewgauge.models.fake.model import BEHAVIOURS, is_behaviour

try:
    import uvicorn

    from reviewgauge.models.fake.delivery import FaultyProtocol
    from reviewgauge.models.fake.service import FakeService, Latency, SeenRequest, digest_of
except ImportError:
    raise MissingExtra("the web server of the fake model (starlette, uvicorn, httptools)", "models") from None

__all__ = ["FakeServer", "digest_of", "read_latency"]
HOST = "127.0.0.1"
BACKLOG = 4096


def read_latency(text: str | float) -> Latency:
    """Seconds: `0.2`, or `0.1-2.0` for anything between. Raises UserError."""
    found = re.fullmatch(r"(\d*\.?\d+)(?:-(\d*\.?\d+))?", str(text).strip())
    low = float(found[1]) if found else -1.0
    high = float(found[2]) if found and found[2] else low
    if not 0 <= low <= high <= 86_400:
        raise UserError(
            f"{text!r} is not a valid latency", remedy="write seconds: 0.2, or 0.1-2.0 for anything between"
        )
    return Latency(low, high)


def _listen(port: int) -> socket.socket:
    try:
        listener = socket.create_server((HOST, port), backlog=BACKLOG)
    except OSError as error:
        raise UserError(f"port {port} cannot be used: {error.strerror}", remedy="--port 0 takes a free one") from error
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # connections inherit it
    return listener


async def _serve(service: FakeService, listener: socket.socket, certificate: Path | None, stop: asyncio.Event) -> None:
    """Serve until `stop` is set, then close every connection at once."""
    config = uvicorn.Config(
        service.app(),
        http=FaultyProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        date_header=False,
        server_header=False,
        timeout_keep_alive=86_400,
        backlog=BACKLOG,
        ssl_certfile=certificate,
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup([listener])
    try:
        await stop.wait()
    finally:
        for listening in server.servers:
            listening.close()
        for connection in tuple(server.server_state.connections):
            connection.transport.abort()
        await asyncio.gather(*server.server_state.tasks, return_exceptions=True)


class FakeServer:
    """The server as a context. `model`, where given, answers for every model that a request names.

    `key`: requests without it are refused with 401. `certificate`: a PEM file with a key and its certificate; then
    the server speaks https.
    """

    def __init__(
        self,
        *,
        fail: str = "",
        latency: str | float = 0.0,
        seed: int = 0,
        model: str = "",
        key: str | None = None,
        port: int = 0,
        certificate: Path | None = None,
    ) -> None:
        if model and not is_behaviour(model):
            raise UserError(f"the fake model has no behaviour {model!r}", remedy=f"behaviours: {', '.join(BEHAVIOURS)}")
        self._service = FakeService(read_latency(latency), read_faults(fail, seed), model, key)
        self.port, self._certificate = port, certificate
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()

    def __enter__(self) -> FakeServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`, without a path."""
        return f"{'http' if self._certificate is None else 'https'}://{HOST}:{self.port}"

    def spec(self, model: str = "fake", provider: str = "openai") -> str:
        """The spec of a model here: `openai:fake@http://127.0.0.1:PORT/v1`."""
        return f"{provider}:{model}@{self.url}" + ("/v1" if provider == "openai" else "")

    def start(self) -> None:
        """Start; it listens when this returns. One that was stopped starts again on its port, with its counters."""
        listener = _listen(self.port)
        self.port = listener.getsockname()[1]
        self._loop, self._stop = asyncio.new_event_loop(), asyncio.Event()
        serving = _serve(self._service, listener, self._certificate, self._stop)
        self._thread = threading.Thread(
            target=self._loop.run_until_complete, args=[serving], name="fake server", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Close every connection, and listen no more."""
        if self._thread is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
            self._loop.close()
            self._thread = self._loop = None

    def change(self, *, fail: str | None = None, latency: str | float | None = None) -> None:
        """Change faults or latency from the next call on."""
        if fail is not None:
            self._service.faults = read_faults(fail, self._service.faults.seed)
        if latency is not None:
            self._service.latency = read_latency(latency)

    def stats(self) -> dict[str, Any]:
        """The counts of `FakeService.stats`."""
        if self._loop is None:
            return self._service.stats()

        async def count() -> dict[str, Any]:
            return self._service.stats()

        return asyncio.run_coroutine_threadsafe(count(), self._loop).result()

    @property
    def calls(self) -> int:
        """The number of calls to the model so far."""
        return self._service.calls

    @property
    def seen(self) -> tuple[SeenRequest, ...]:
        """The last 1,000 requests to the model, oldest first."""
        return tuple(self._service.seen)
