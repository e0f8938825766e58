"""A local endpoint that speaks the OpenAI protocol and says what a script tells it to: real answers, word for word."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Messages = Sequence[Mapping[str, str]]


class ScriptedModel:
    """What was asked, in the order in which it came, and what is said. `spec` names the model."""

    def __init__(self, say: Callable[[Messages], str]) -> None:
        self.asked: list[list[dict[str, str]]] = []
        self._say, self._lock = say, threading.Lock()
        self.spec = ""

    def reply(self, body: Mapping[str, Any]) -> str:
        """The text that answers a request."""
        with self._lock:
            self.asked.append(body["messages"])
            return self._say(body["messages"])


@contextmanager
def scripted(script: Sequence[str] | Callable[[Messages], str]) -> Iterator[ScriptedModel]:
    """Serve a script while the context lasts: texts in turn, the last one for ever; or what a function says."""
    if callable(script):
        model = ScriptedModel(script)
    else:
        left = list(script)
        model = ScriptedModel(lambda _: left.pop(0) if len(left) > 1 else left[0])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = {"role": "assistant", "content": model.reply(body)}
            answer = {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
            }
            data = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    model.spec = f"openai:scripted@http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
