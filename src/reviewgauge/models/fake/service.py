"""The web application of the fake server: the fake model's answers in the request's protocol, with faults."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from reviewgauge.models.fake import anthropic_wire, openai_wire
from reviewgauge.models.fake.delivery import FakeResponse
from reviewgauge.models.fake.faults import Faults, share_of
from reviewgauge.models.fake.model import NAME, answer, tokens
from reviewgauge.models.fake.wire import Asked, FakeAnswer, Malformed
from reviewgauge.models.request.messages import Request, Stop

SERVED = ("fake", "fake-noisy", "fake-touchy", "fake-contrary", "fake-wordy", "fake-first", "fake-gullible")
KEPT = 1000  # of the last requests, for tests to look at
MOST_BODY = 64 * 1024 * 1024  # bytes of a request
CONTEXT = 200_000  # tokens that the model claims to take in where it refuses more
GARBAGE = (
    "The two are not similar. Yes, they mention the same file, but no.",
    '{"verdict": ',
    "```json\n{verdict: maybe}\n```",
    "As an AI model I would rather talk about something else. Here are 3 of 5 thoughts.",
    "\u202e\u200b\N{PILE OF POO}",
    "[[[[[[[[[[",
)
HARMLESS = ("", "slow", "close", "nousage")  # the answer is right all the same
_PAGES = {"502": (502, "502 Bad Gateway"), "504": (504, "504 Gateway Time-out"), "html": (200, "Checking your browser")}
_STATUS = {
    "429": "Rate limit reached for requests. Please try again later.",
    "500": "The server had an error while processing your request.",
    "503": "The engine is currently overloaded, please try again later.",
    "529": "Overloaded",
    "403": "This key may not use the model.",
}


class SeenRequest(NamedTuple):
    """A request to the model: its path, headers, body, and the fault drawn for it."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    fault: str


@dataclass
class Latency:
    """Seconds until an answer begins, drawn evenly between the two by the number of the call."""

    low: float = 0.0
    high: float = 0.0

    def of(self, number: int, seed: int) -> float:
        """The seconds of one call."""
        if self.low == self.high:
            return self.low
        return self.low + (self.high - self.low) * share_of(f"latency:{seed}:{number}")


class FakeService:
    """The state of one fake server: its settings and counters. Not thread-safe: one event loop uses it."""

    def __init__(self, latency: Latency, faults: Faults, model: str, key: str | None) -> None:
        self.latency, self.faults, self.model, self.key = latency, faults, model, key
        self.seen: deque[SeenRequest] = deque(maxlen=KEPT)
        self.calls = self._answered = self._in_flight = self._peak = 0
        self._by_fault: Counter[str] = Counter()
        self._received: Counter[str] = Counter()
        self._begun: Counter[str] = Counter()  # answers begun: the number of the next repeat
        self._given: Counter[str] = Counter()
        self._clean: Counter[str] = Counter()

    def stats(self) -> dict[str, Any]:
        """The counts so far. `requests`, by digest: times received, answered in whole, and answered without a fault."""
        requests = {
            digest: [count, self._given[digest], self._clean[digest]] for digest, count in self._received.items()
        }
        return {
            "calls": self.calls,
            "answered": self._answered,
            "in_flight": self._in_flight,
            "peak_in_flight": self._peak,
            "faults": dict(sorted(self._by_fault.items())),
            "requests": requests,
        }

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/{base:path}chat/completions", _Endpoint(self, openai_wire), methods=["POST"]),
                Route("/{base:path}messages", _Endpoint(self, anthropic_wire), methods=["POST"]),
                Route("/{base:path}models", self._models, methods=["GET"]),
                Route("/stats", self._stats, methods=["GET"]),
            ],
            exception_handlers={404: _not_found, 405: _not_allowed},
        )

    async def _models(self, request: HttpRequest) -> FakeResponse:
        protocol = anthropic_wire if "anthropic-version" in request.headers else openai_wire
        return self._refused_key(protocol, request) or _json(200, protocol.models(SERVED))

    async def _stats(self, request: HttpRequest) -> FakeResponse:
        return _json(200, self.stats())

    def count(self, reply: FakeResponse, arrived: bool) -> None:
        """Count a finished reply. `arrived`: all of it went to an open connection."""
        if not reply.digest:
            return
        self._in_flight -= 1
        if arrived and reply.status_code == 200:
            self._answered += 1
            self._given[reply.digest] += 1
            self._clean[reply.digest] += reply.fault in HARMLESS

    def _refused_key(self, protocol: ModuleType, request: HttpRequest) -> FakeResponse | None:
        """The refusal of a request without the right key; None where it has it."""
        return None if self.key is None or self.key == _key(request) else _wrong_key(protocol, request)

    def reply(self, protocol: ModuleType, request: HttpRequest, raw: bytes) -> FakeResponse:
        """The reply to a request to the model with the body `raw`, not yet sent."""
        if (refusal := self._refused_key(protocol, request)) is not None:
            return refusal
        try:
            body = json.loads(raw)
            if not isinstance(body, dict):
                raise Malformed("the body is not a JSON object")
            asked: Asked = protocol.read(body)
        except Malformed as error:
            return _error(protocol, 400, str(error), None, error.param)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            return _error(protocol, 400, f"We could not parse the body of your request: {error}")
        digest = digest_of(asked.request)
        self.calls += 1
        self._received[digest] += 1
        number = self.calls
        fault = self.faults.draw(number, self._received[digest], _text(asked.request))
        fault = fault if applies(fault, asked) else ""
        reply = self._failed(protocol, request, asked, fault) or self._answer(protocol, asked, number, fault)
        if fault:
            self._by_fault[fault] += 1
        self.seen.append(SeenRequest(request.url.path, request.headers, body, fault))
        self._in_flight += 1
        self._peak = max(self._peak, self._in_flight)
        reply.digest, reply.fault = digest, fault
        reply.delay = self.latency.of(number, self.faults.seed)
        reply.headers["x-request-id"] = reply.headers["request-id"] = f"req_fake{number}"
        return reply

    def _failed(self, protocol: ModuleType, request: HttpRequest, asked: Asked, fault: str) -> FakeResponse | None:
        """The reply with a fault in place of an answer; None where the model answers."""
        match fault:
            case "quota":
                status = 429 if protocol is openai_wire else 402
                return _error(protocol, status, "You exceeded your current quota, add credits.", "insufficient_quota")
            case "401":
                return _wrong_key(protocol, request)
            case "404":
                return _error(protocol, 404, f"The model {asked.model!r} does not exist.", "model_not_found", "model")
            case "overflow":
                return _overflow(protocol, asked)
            case "nojson" | "param" | "maxtokens":
                return _unsupported(protocol, asked, fault)
            case "502" | "504" | "html":
                return _page(fault)
            case "badjson":
                return FakeResponse(200, b'{"id": "fake", "choices": [{"message": {"content": ')
            case "blank":
                return FakeResponse(200, b"")
            case "error200":
                return _json(200, protocol.error(502, "Provider returned error"))
        if not fault.isdecimal():
            return None
        reply = _error(protocol, int(fault), _STATUS.get(fault, f"A fault with status {fault}."))
        if fault in ("429", "503", "529") and self.faults.retry_after is not None:
            reply.headers["retry-after"] = f"{self.faults.retry_after:g}"
        return reply

    def _answer(self, protocol: ModuleType, asked: Asked, number: int, fault: str) -> FakeResponse:
        """The model's answer, which the fault may spoil."""
        digest = digest_of(asked.request)
        self._begun[digest] += 1
        model_answer = answer(asked.request, self.model or asked.model, (1, self._begun[digest], 1), asked.seed)
        content = FakeAnswer(
            model_answer.text,
            model_answer.tool_calls,
            {Stop.END: "end", Stop.LENGTH: "length", Stop.TOOL: "tool"}[model_answer.stop],  # type: ignore[arg-type]
            tokens_in=model_answer.usage.tokens_in,
            tokens_out=model_answer.usage.tokens_out,
        )
        content = spoilt(_shortened(content, asked.max_tokens), fault, asked, number)
        done = protocol.completion(content, NAME, f"{number:08d}", int(time.time()))
        if asked.stream:
            return FakeResponse(200, protocol.stream(done), "text/event-stream")
        body = json.dumps(done, ensure_ascii=False).encode("utf-8", "replace")
        if fault == "badutf8":
            mark = json.dumps(content.text, ensure_ascii=False).encode("utf-8", "replace")[1:-1]
            body = body.replace(mark, b"\xff\xfe" + mark + b"\x80", 1)
        return FakeResponse(200, body)


class _Endpoint:
    """The ASGI endpoint of one protocol's chat."""

    def __init__(self, service: FakeService, protocol: ModuleType) -> None:
        self._service, self._protocol = service, protocol

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HttpRequest(scope, receive)
        try:
            raw = await _body(request)
        except ClientDisconnect:
            return  # nobody is there to be answered
        if raw is None:
            reply = _error(self._protocol, 413, "The body of your request is too large.")
        else:
            reply = self._service.reply(self._protocol, request, raw)
        sent = False
        try:
            sent = await reply.deliver(scope, receive, send, self._service.faults.slow)
        finally:
            self._service.count(reply, sent)


async def _body(request: HttpRequest) -> bytes | None:
    """The body, which may come without its length; None for one that is too large. Raises ClientDisconnect."""
    if int(request.headers.get("content-length", "0")) > MOST_BODY:
        return None
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > MOST_BODY:
            return None
    return bytes(raw)


async def _not_found(request: HttpRequest, error: Exception) -> FakeResponse:
    return _json(404, {"error": {"message": f"there is nothing at {request.url.path}", "type": "not_found_error"}})


async def _not_allowed(request: HttpRequest, error: Exception) -> FakeResponse:
    protocol = anthropic_wire if request.url.path.endswith("/messages") else openai_wire
    return _error(protocol, 405, f"{request.method} is not allowed here.")


def applies(fault: str, asked: Asked) -> bool:
    """Whether a fault applies to this request."""
    conditions = {"nojson": asked.form, "param": bool(asked.sampling), "maxtokens": asked.old_limit}
    return conditions.get(fault, True)


def spoilt(answer: FakeAnswer, fault: str, asked: Asked, number: int) -> FakeAnswer:
    """The answer with a fault of its content."""
    half, spent = answer.text[: len(answer.text) // 2], asked.max_tokens or 8192
    changes: dict[str, dict[str, Any]] = {
        "nousage": {"counted": False},
        "truncate": {"text": half},
        "length": {"text": half, "stop": "length", "tool_calls": ()},
        "reasoning": {"text": "", "stop": "length", "tool_calls": (), "tokens_out": spent, "reasoning": spent},
        "empty": {"text": "", "stop": "end", "tool_calls": (), "tokens_out": 0},
        "refuse": {"text": "I'm sorry, but I can't help with that.", "stop": "refuse", "tool_calls": ()},
        "filter": {"text": "", "stop": "filter", "tool_calls": (), "tokens_out": 0},
        "garbage": {"text": GARBAGE[number % len(GARBAGE)], "stop": "end", "tool_calls": ()},
    }
    return replace(answer, **changes.get(fault, {}))


def digest_of(request: Request) -> str:
    """The first 16 hex digits of a SHA-256 of the roles and texts of a request's messages."""
    messages = "\x1e".join(f"{message.role}\x1f{message.text}" for message in request.messages)
    return hashlib.sha256(messages.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _shortened(answer: FakeAnswer, max_tokens: int | None) -> FakeAnswer:
    """The answer cut at `max_tokens`, as an endpoint does it."""
    if max_tokens is None or answer.tokens_out <= max_tokens or answer.tool_calls:
        return answer
    return replace(answer, text=answer.text[: max_tokens * 4], stop="length", tokens_out=max_tokens)


def _text(request: Request) -> str:
    return "\n".join(message.text for message in request.messages)


def _key(request: HttpRequest) -> str:
    given = request.headers.get("x-api-key") or request.headers.get("authorization") or ""
    return given.removeprefix("Bearer ")


def _overflow(protocol: ModuleType, asked: Asked) -> FakeResponse:
    used = CONTEXT + tokens(_text(asked.request))
    if protocol is anthropic_wire:
        return _error(protocol, 400, f"prompt is too long: {used} tokens > {CONTEXT} maximum")
    text = (
        f"This model's maximum context length is {CONTEXT} tokens. However, your messages resulted in {used} tokens. "
        "Please reduce the length of the messages."
    )
    return _error(protocol, 400, text, "context_length_exceeded", "messages")


def _wrong_key(protocol: ModuleType, request: HttpRequest) -> FakeResponse:
    return _error(protocol, 401, f"Incorrect API key provided: {_key(request)}.", "invalid_api_key")


def _unsupported(protocol: ModuleType, asked: Asked, fault: str) -> FakeResponse:
    """The refusal of a request for a schema, for its first sampling parameter, or for how it names the limit."""
    if fault == "nojson":
        return _error(protocol, 400, "This model knows no structured output.", None, "response_format")
    name, advice = "max_tokens", " Use 'max_completion_tokens' instead."
    if fault == "param":
        name, advice = asked.sampling[0], ""
    text = f"Unsupported parameter: '{name}' is not supported with this model.{advice}"
    return _error(protocol, 400, text, "unsupported_parameter", name)


def _json(status: int, body: Mapping[str, Any]) -> FakeResponse:
    return FakeResponse(status, json.dumps(body).encode())


def _error(
    protocol: ModuleType, status: int, message: str, code: str | None = None, param: str | None = None
) -> FakeResponse:
    return _json(status, protocol.error(status, message, code, param))


def _page(fault: str) -> FakeResponse:
    """A proxy's page."""
    status, title = _PAGES[fault]
    page = f"<html><head><title>{title}</title></head><body><center><h1>{title}</h1></center><hr>a proxy</body></html>"
    return FakeResponse(status, page.encode(), "text/html")
