"""A local endpoint that speaks the OpenAI protocol and says what a script tells it to: real answers, word for word."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from scripted_endpoint import OpenAI, Say, Scripted

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

    protocol = OpenAI()
    server = Scripted(lambda asked: Say(protocol.good(model.reply(asked.body))))
    model.spec = f"openai:scripted@{server.url}/v1"
    try:
        yield model
    finally:
        server.stop()
