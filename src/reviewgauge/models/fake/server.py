"""A local server that speaks the OpenAI and the Anthropic protocol with the fake model, and can fail in every way.

    with FakeServer(fail="429:0.2,drop:0.05", latency=0.2) as server:
        chat_model(server.spec()).ask(...)
        server.stats()["answered"]

It listens on the loopback interface only. It runs in a thread of this process or, with `process=True`, in a process
of its own, which ends with this one. `_fake_faults.FAULTS` lists what can go wrong.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import ssl
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from reviewgauge.core.errors import UserError
from reviewgauge.models.fake.behaviours import MANNERS, is_manner
from reviewgauge.models.fake.faults import read_faults
from reviewgauge.models.fake.http_server import Connection
from reviewgauge.models.fake.service import FakeService, Latency, SeenRequest, digest_of

__all__ = ["FakeServer", "digest_of", "read_latency", "serve"]
HOST = "127.0.0.1"


def read_latency(text: str | float) -> Latency:
    """Seconds: `0.2`, or `0.1-2.0` for anything between. Raises UserError."""
    found = re.fullmatch(r"(\d*\.?\d+)(?:-(\d*\.?\d+))?", str(text).strip())
    low = float(found[1]) if found else -1.0
    high = float(found[2]) if found and found[2] else low
    if not 0 <= low <= high <= 86_400:
        raise UserError(f"a latency of {text} is none", remedy="write seconds: 0.2, or 0.1-2.0 for anything between")
    return Latency(low, high)


async def serve(
    service: FakeService,
    port: int,
    started: Callable[[int], None],
    stop: asyncio.Event,
    certificate: Path | None = None,
) -> None:
    """Serve until `stop` is set. `started` is told the port. Raises UserError where the port is taken."""
    loop = asyncio.get_running_loop()
    open_ones: set[Connection] = set()
    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    try:
        server = await loop.create_server(lambda: Connection(service, open_ones), HOST, port, backlog=4096, ssl=context)
    except OSError as error:
        raise UserError(f"port {port} cannot be used: {error.strerror}", remedy="--port 0 takes a free one") from error
    started(server.sockets[0].getsockname()[1])
    try:
        await stop.wait()
    finally:
        server.close()
        for connection in tuple(open_ones):
            connection.abort()


class FakeServer:
    """The server as a context. `model` answers whatever model a request names, where it is given.

    `key`: requests need it, or are refused with 401. `certificate`: a PEM file with a key and its certificate; then
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
        process: bool = False,
    ) -> None:
        self._options: dict[str, Any] = {
            "fail": fail,
            "latency": str(latency),
            "seed": seed,
            "model": model,
            "key": key,
        }
        self._service = _service(**self._options)  # bad options are an error here, and not in another process
        self.port, self._certificate, self._in_process = port, certificate, process
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> FakeServer:
        self.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
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
        if self._in_process:
            self._start_process()
        else:
            self._start_thread()

    def _start_thread(self) -> None:
        listening = threading.Event()
        errors: list[BaseException] = []

        def started(port: int) -> None:
            self.port = port
            listening.set()

        async def run() -> None:
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            await serve(self._service, self.port, started, self._stop, self._certificate)

        def work() -> None:
            try:
                asyncio.run(run())
            except BaseException as error:
                errors.append(error)
                listening.set()

        self._thread = threading.Thread(target=work, name="fake server", daemon=True)
        self._thread.start()
        listening.wait()
        if errors:
            raise errors[0]

    def _start_process(self) -> None:
        options = {**self._options, "port": self.port, "certificate": str(self._certificate or "")}
        code = "from reviewgauge.models.fake.server import child; child()"
        self._child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(options).encode() + b"\n")
        self._child.stdin.flush()
        line = self._child.stdout.readline()
        if not line.strip().isdigit():
            self.stop()
            raise UserError("the fake server did not start", remedy=line.decode(errors="replace"))
        self.port = int(line)

    def stop(self) -> None:
        """Close every connection, and listen no more."""
        if self._child is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()  # type: ignore[union-attr]
            self._child.wait()
            self._child.stdout.close()  # type: ignore[union-attr]
            self._child = None
        if self._thread is not None:
            if self._loop is not None and self._stop is not None:
                with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                    self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
            self._thread = None

    def change(self, *, fail: str | None = None, latency: str | float | None = None) -> None:
        """Other faults or another latency from the next call on. Only for a server in this process."""
        if self._in_process:
            raise RuntimeError("a server in a process of its own keeps its settings")
        if fail is not None:
            self._service.faults = read_faults(fail, self._service.faults.seed)
        if latency is not None:
            self._service.latency = read_latency(latency)

    def stats(self) -> dict[str, Any]:
        """See `FakeService.stats`."""
        if not self._in_process:
            if self._loop is None or self._thread is None:
                return self._service.stats()

            async def count() -> dict[str, Any]:
                return self._service.stats()

            return asyncio.run_coroutine_threadsafe(count(), self._loop).result()
        with urllib.request.urlopen(f"{self.url}/stats") as reply:
            found: dict[str, Any] = json.load(reply)
            return found

    @property
    def calls(self) -> int:
        """How many calls to the model came in so far."""
        return int(self.stats()["calls"]) if self._in_process else self._service.calls

    @property
    def seen(self) -> tuple[SeenRequest, ...]:
        """The last 1,000 requests to the model, oldest first. Only for a server in this process."""
        return tuple(self._service.seen)


def _service(fail: str, latency: str, seed: int, model: str, key: str | None) -> FakeService:
    if model and not is_manner(model):
        raise UserError(f"the fake model knows no manner {model!r}", remedy=f"there are: {', '.join(MANNERS)}")
    return FakeService(read_latency(latency), read_faults(fail, seed), model, key)


def child() -> None:
    """The body of the process that a FakeServer starts: options from the first line of its input, until that ends."""
    options = json.loads(sys.stdin.readline())
    port, certificate = options.pop("port"), options.pop("certificate")

    def started(port: int) -> None:
        print(port, flush=True)

    async def run() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()

        def wait_for_end() -> None:
            sys.stdin.read()
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(stop.set)

        threading.Thread(target=wait_for_end, daemon=True).start()
        await serve(_service(**options), port, started, stop, Path(certificate) if certificate else None)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())
