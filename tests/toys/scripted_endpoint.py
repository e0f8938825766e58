"""A real HTTP server on the loopback interface that says what a test tells it to, in both protocols."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from waiting import HANGS

KEY = "sk-a-secret-that-must-stay-one"


@dataclass(frozen=True)
class Say:
    """One answer. `delay`: seconds before it; `drip`: seconds between bytes; `cut`: bytes after which the line dies.

    `hangs`: nothing is said until the client leaves. `resets`: the line dies at once. `sent` is called after the whole.
    """

    body: Mapping[str, Any] | bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0
    cut: int | None = None
    hangs: bool = False
    resets: bool = False
    sent: Callable[[], None] = lambda: None

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Asked:
    """What a client sent."""

    path: str
    headers: Mapping[str, str]
    body: Any
    at: float


Rule = Callable[[Asked], Say]


class Scripted(ThreadingHTTPServer):
    """Answers with what `script` holds, in order, and then by `always`."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, always: Rule, certificate: Path | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[Say] = []
        self.always = always
        self.asked: list[Asked] = []
        self.most_at_once = self._at_once = 0
        self._lock = threading.Condition()
        self._may_answer: Callable[[], bool] = lambda: True
        self.scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
            self.scheme = "https"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}"

    @property
    def bodies(self) -> list[Any]:
        return [asked.body for asked in self.asked]

    def next_for(self, asked: Asked) -> Say:
        with self._lock:
            self.asked.append(asked)
            return self.script.pop(0) if self.script else self.always(asked)

    def count(self, change: int) -> None:
        with self._lock:
            self._at_once += change
            self.most_at_once = max(self.most_at_once, self._at_once)
            self._lock.notify_all()

    def answer_when(self, holds: Callable[[], bool] = lambda: True) -> None:
        """From now on calls are answered while this holds, and wait until it does."""
        with self._lock:
            self._may_answer = holds
            self._lock.notify_all()

    def may_answer(self) -> bool:
        return self._may_answer()

    def wait(self) -> None:
        """Return once calls are answered, by whatever `answer_when` was told last."""
        with self._lock:
            assert self._lock.wait_for(self.may_answer, HANGS), "it never happens"

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    server: Scripted

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            self._answer(json.loads(raw))
        except ValueError:
            self._answer(raw)

    def do_GET(self) -> None:
        self._answer(None)

    def _answer(self, body: Any) -> None:
        names = {name.lower(): value for name, value in self.headers.items()}
        self.server.count(1)
        try:
            self._say(self.server.next_for(Asked(self.path, names, body, time.monotonic())))
        finally:
            self.server.count(-1)

    def _say(self, say: Say) -> None:
        self.server.wait()
        time.sleep(say.delay)
        if say.hangs:
            self.connection.recv(1)
        if say.resets:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if say.status == 0 or say.hangs:
            self.close_connection = True
            return
        content = say.content
        self.send_response(say.status)
        for name, value in {"Content-Type": "application/json", **say.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if say.cut is not None:
            self.wfile.write(content[: say.cut])
            self.close_connection = True
        elif say.drip:
            for byte in content:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(say.drip)
        else:
            self.wfile.write(content)
        self.wfile.flush()
        if say.cut is None:
            say.sent()

    def log_message(self, format: str, *args: object) -> None:
        pass


class OpenAI:
    """How OpenAI's protocol says things."""

    provider = "openai"
    variable = "OPENAI_API_KEY"
    path = "/v1/chat/completions"

    def spec(self, server: Scripted, query: str = "") -> str:
        return f"openai:m@{server.url}/v1{query}"

    def good(self, text: str | None = "yes", finish: str = "stop", **more: Any) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, **more.pop("message", {})}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return {"model": "m-1", "choices": [choice], "usage": self.usage(11, 7), **more}

    def usage(self, asked: int, said: int) -> dict[str, int]:
        return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}

    def refused(self) -> dict[str, Any]:
        return self.good(None, message={"refusal": "I cannot help with that"})

    def cut_off(self, text: str) -> dict[str, Any]:
        return self.good(text, "length")

    def filtered(self) -> dict[str, Any]:
        return self.good("", "content_filter")

    def error(self, message: str, code: str = "", param: str = "") -> dict[str, Any]:
        return {"error": {"message": message, "type": "invalid_request_error", "code": code or None, "param": param}}

    def schema_in(self, body: Mapping[str, Any]) -> Any:
        return body.get("response_format", {}).get("json_schema", {}).get("schema")


class Anthropic:
    """How Anthropic's protocol says things."""

    provider = "anthropic"
    variable = "ANTHROPIC_API_KEY"
    path = "/v1/messages"

    def spec(self, server: Scripted, query: str = "") -> str:
        return f"anthropic:m@{server.url}{query}"

    def good(self, text: str | None = "yes", finish: str = "end_turn", **more: Any) -> dict[str, Any]:
        blocks = [{"type": "text", "text": text}] if text is not None else []
        said = {"type": "message", "role": "assistant", "model": "m-1", "content": blocks}
        return {**said, "stop_reason": finish, "usage": self.usage(11, 7), **more}

    def usage(self, asked: int, said: int) -> dict[str, int]:
        return {"input_tokens": asked, "output_tokens": said}

    def refused(self) -> dict[str, Any]:
        return self.good("I cannot help with that", "refusal")

    def cut_off(self, text: str) -> dict[str, Any]:
        return self.good(text or None, "max_tokens")

    def filtered(self) -> dict[str, Any]:
        return self.good(None, "refusal")

    def error(self, message: str, code: str = "", param: str = "") -> dict[str, Any]:
        return {"type": "error", "error": {"type": code or "invalid_request_error", "message": message}}

    def schema_in(self, body: Mapping[str, Any]) -> Any:
        return body.get("output_config", {}).get("format", {}).get("schema")


Protocol = OpenAI | Anthropic
