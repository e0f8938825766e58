"""The toy model behind a real server that speaks both protocols and fails as told.

    with FakeServer(fail="429:0.2,drop:0.05", latency=0.2) as server:
        chat_model(server.spec()).ask(...)
        server.stats()["answered"]

`fail` names faults and which calls they hit: `429:0.2` one in five, `500:first=3` the first three,
`garbage:when=def main` those whose messages hold these words, `empty` all. The draw is a hash of the seed and of the
number of the call. `retry-after=SECONDS` goes with refusals for now, `slow=SECONDS` is how long a slow answer takes.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from fake_rules.behaviours import register
from reviewgauge.models.embeddings.fake import FakeEmbedder
from reviewgauge.models.fake import NAME, answer, share_of, tokens
from reviewgauge.models.request.messages import Message, Repeat, Request, Role
from scripted_endpoint import Anthropic, Asked, OpenAI, Protocol, Say, Scripted

_GARBAGE = (
    "The two are not similar. Yes, they mention the same file, but no.",
    '{"verdict": ',
    "```json\n{verdict: maybe}\n```",
    "As an AI model I would rather talk about something else. Here are 3 of 5 thoughts.",
    "[[[[[[[[[[",
)
_HARMLESS = ("", "slow", "close", "nousage")  # the answer is right all the same
_PAGE = b"<html><title>502 Bad Gateway</title><body>a proxy</body></html>"


class FakeServer(Scripted):
    """`latency`: seconds until an answer, or (least, most). `key`: calls without it are refused."""

    def __init__(
        self,
        *,
        fail: str = "",
        latency: float | tuple[float, float] = 0.0,
        seed: int = 0,
        model: str = "rules",
        key: str | None = None,
    ) -> None:
        super().__init__(self._reply)
        register()
        self._low, self._high = latency if isinstance(latency, tuple) else (latency, latency)
        self._seed, self._model, self._key = seed, model, key
        self._faults: Counter[str] = Counter()
        self._requests: dict[str, list[int]] = {}
        self.change(fail)

    def __enter__(self) -> FakeServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def spec(self, model: str = "fake", provider: str = "openai") -> str:
        """The spec of a model here."""
        return f"{provider}:{model}@{self.url}" + ("/v1" if provider == "openai" else "")

    def change(self, fail: str) -> None:
        """Other faults from the next call on."""
        words = [word.partition(":")[::2] for word in fail.split(",") if word and "=" not in word.partition(":")[0]]
        self._rules = [(fault, *(how if "=" in how else f"share={how or 1}").split("=", 1)) for fault, how in words]
        settings = dict(word.split("=") for word in fail.split(",") if "=" in word.partition(":")[0])
        self._slow, self._retry_after = float(settings.get("slow", 2)), settings.get("retry-after")

    @property
    def calls(self) -> int:
        """The calls to the model so far."""
        return sum(received for received, *_ in self._requests.values())

    def stats(self) -> dict[str, Any]:
        """The counts so far; `requests`, by digest: times received, answered in whole, answered without a fault."""
        with self._lock:
            requests = {digest: list(counts) for digest, counts in self._requests.items()}
            answered = sum(given for _, given, _ in requests.values())
            faults, in_flight, peak = dict(self._faults), self._at_once, self.most_at_once
        return {
            "calls": sum(received for received, *_ in requests.values()), "answered": answered, "faults": faults,
            "in_flight": in_flight, "peak_in_flight": peak, "requests": requests,
        }  # fmt: skip

    def _reply(self, asked: Asked) -> Say:
        """The answer to a call; the lock is held."""
        protocol: Protocol = OpenAI() if asked.path.endswith("completions") else Anthropic()
        key = asked.headers.get("x-api-key") or asked.headers.get("authorization", "").removeprefix("Bearer ")
        if self._key not in (None, key):
            return Say(protocol.error(f"Incorrect API key provided: {key}.", "invalid_api_key"), 401)
        if asked.path.endswith("embeddings"):
            vectors = FakeEmbedder(NAME).vectors(asked.body["input"]).tolist()
            return Say({"model": NAME, "data": [{"index": n, "embedding": one} for n, one in enumerate(vectors)]})
        request = _request(protocol, asked.body)
        digest = digest_of(request)
        counts = self._requests.setdefault(digest, [0, 0, 0])
        counts[0] += 1
        number = self.calls
        fault = self._drawn(number, "\n".join(one.text for one in request.messages))
        self._faults.update([fault] if fault else [])
        name = self._model if asked.body["model"] == "fake" else asked.body["model"].removeprefix("fake-")
        text = answer(request, name, Repeat(trial=counts[0]), asked.body.get("seed")).text
        delay = self._low + (self._high - self._low) * share_of(f"latency:{self._seed}:{number}")

        def sent() -> None:
            counts[1] += said.status == 200
            counts[2] += fault in _HARMLESS

        asked_tokens = tokens("\n".join(one.text for one in request.messages))
        said = self._spoilt(protocol, asked_tokens, text, fault, number)
        return Say(**{**vars(said), "delay": delay, "sent": sent})

    def _drawn(self, number: int, text: str) -> str:
        """The fault of a call, or nothing."""
        for fault, how, value in self._rules:
            if (how == "first" and number <= int(value)) or (how == "when" and value in text):
                return fault
        point = share_of(f"{self._seed}:{number}")
        for fault, _, value in (rule for rule in self._rules if rule[1] == "share"):
            point -= float(value)
            if point < 0:
                return fault
        return ""

    def _spoilt(self, protocol: Protocol, asked: int, text: str, fault: str, number: int) -> Say:
        half = text[: len(text) // 2]
        marked: dict[str, Any] = {"model": NAME, "usage": protocol.usage(asked, tokens(text))}
        good = protocol.good(text, **marked)
        body = json.dumps(good).encode()
        if fault.isdecimal() and fault != "502":
            headers = {"Retry-After": self._retry_after} if self._retry_after and fault in ("429", "503", "529") else {}
            return Say(protocol.error("It cannot be done now."), int(fault), headers)
        said: dict[str, Say] = {
            "timeout": Say(hangs=True),
            "drop": Say(status=0),
            "reset": Say(status=0, resets=True),
            "cut": Say(good, cut=len(body) // 2),
            "slow": Say(good, drip=self._slow / len(body)),
            "close": Say(good, headers={"Connection": "close"}),
            "502": Say(_PAGE, 502),
            "html": Say(_PAGE, headers={"Content-Type": "text/html"}),
            "badjson": Say(b'{"id": "fake", "choices": [{"message": {"content": '),
            "blank": Say(b""),
            "error200": Say(protocol.error("Provider returned error")),
            "badutf8": Say(body.replace(json.dumps(text).encode()[1:-1], b"\xff\xfe\x80", 1)),
            "nousage": Say({name: part for name, part in good.items() if name != "usage"}),
            "truncate": Say(protocol.good(half, **marked)),
            "length": Say({**protocol.cut_off(half), **marked}),
            "reasoning": Say({**protocol.cut_off(""), **marked}),
            "empty": Say(protocol.good("", **marked)),
            "refuse": Say({**protocol.refused(), **marked}),
            "filter": Say({**protocol.filtered(), **marked}),
            "garbage": Say(protocol.good(_GARBAGE[number % len(_GARBAGE)], **marked)),
            "overflow": Say(protocol.error("prompt is too long: 9 tokens > 8 maximum", "context_length_exceeded"), 400),
        }
        return said[fault] if fault else Say(good)


def _request(protocol: Protocol, body: Mapping[str, Any]) -> Request:
    """What is asked, from the body of either protocol."""
    said = [{"role": "system", "content": body["system"]}] if body.get("system") else []
    messages = tuple(Message(role=Role(one["role"]), text=_text(one["content"])) for one in [*said, *body["messages"]])
    return Request(messages=messages, answer_schema=protocol.schema_in(body))


def _text(content: str | list[dict[str, str]]) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def digest_of(request: Request) -> str:
    """The first 16 hex digits of a SHA-256 of the roles and texts of a request's messages."""
    messages = "\x1e".join(f"{message.role}\x1f{message.text}" for message in request.messages)
    return hashlib.sha256(messages.encode("utf-8", "surrogatepass")).hexdigest()[:16]
