"""The OpenAI chat completions protocol, as the fake server speaks it.

Source: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reviewgauge.models.fake.wire import Asked, FakeAnswer, Malformed, positive, text_of, tools_of
from reviewgauge.models.request.messages import Message, Request, Role, ToolCall

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
}
_FINISH = {"end": "stop", "length": "length", "tool": "tool_calls", "refuse": "stop", "filter": "content_filter"}
_SAMPLING = ("temperature", "top_p", "top_k", "seed")
_TYPES = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    403: "permission_error",
    404: "invalid_request_error",
    429: "requests",
}


def read(body: Mapping[str, Any]) -> Asked:
    """The request in a body. Raises Malformed."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Malformed("Missing required parameter: 'messages'.", "messages")
    if body.get("n") not in (None, 1):
        raise Malformed("This model answers with one choice: 'n' must be 1.", "n")
    form = body.get("response_format")
    schema = form.get("json_schema", {}).get("schema") if isinstance(form, dict) else None
    tools = [] if body.get("tool_choice") == "none" else body.get("tools") or []
    request = Request(
        messages=tuple(_message(message) for message in messages),
        answer_schema=schema,
        tools=tools_of([tool.get("function", {}) for tool in tools], "parameters"),
    )
    key = next((name for name in ("max_completion_tokens", "max_tokens") if body.get(name) is not None), None)
    return Asked(
        request,
        str(body.get("model") or ""),
        positive(body.get(key), key) if key else None,
        body.get("seed"),
        stream=bool(body.get("stream")),
        sampling=tuple(name for name in _SAMPLING if body.get(name) is not None),
        form=isinstance(form, dict) and form.get("type") in ("json_schema", "json_object"),
        old_limit=key == "max_tokens",
    )


def _message(message: Any) -> Message:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        raise Malformed("Invalid value: a message needs one of the roles system, user, assistant and tool.", "messages")
    calls = tuple(
        ToolCall(id=call["id"], name=call["function"]["name"], arguments=call["function"].get("arguments", ""))
        for call in message.get("tool_calls") or ()
    )
    return Message(
        role=_ROLES[message["role"]],
        text=text_of(message.get("content")),
        tool_calls=calls,
        answers=message.get("tool_call_id"),
    )


def completion(answer: FakeAnswer, name: str, number: str, created: int) -> dict[str, Any]:
    """The body of an answer."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None, "annotations": []}
    if answer.stop == "refuse":
        message |= {"content": None, "refusal": answer.text}
    if answer.tool_calls:
        message |= {"content": answer.text or None, "tool_calls": _calls(answer.tool_calls)}
    body: dict[str, Any] = {
        "id": f"chatcmpl-fake{number}",
        "object": "chat.completion",
        "created": created,
        "model": name,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": _FINISH[answer.stop]}],
        "service_tier": "default",
        "system_fingerprint": "fp_reviewgauge_fake",
    }
    if answer.counted:
        body["usage"] = {
            "prompt_tokens": answer.tokens_in,
            "completion_tokens": answer.tokens_out,
            "total_tokens": answer.tokens_in + answer.tokens_out,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": answer.reasoning, "audio_tokens": 0},
        }
    return body


def _calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    return [{"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in calls]


def error(status: int, message: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """An error's body."""
    kind = "insufficient_quota" if code == "insufficient_quota" else _TYPES.get(status, "server_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def models(names: Sequence[str]) -> dict[str, Any]:
    """The list of models."""
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "reviewgauge"} for name in names]
    return {"object": "list", "data": data}


def stream(done: Mapping[str, Any]) -> bytes:
    """The same answer as server-sent events: the role, the text in pieces, why it stopped, the usage."""
    message, finish = done["choices"][0]["message"], done["choices"][0]["finish_reason"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    text = message["content"] or ""
    deltas += [{"content": text[at : at + 20]} for at in range(0, len(text), 20)]
    if message["refusal"]:
        deltas.append({"refusal": message["refusal"]})
    if message.get("tool_calls"):
        deltas.append({"tool_calls": [{"index": n, **call} for n, call in enumerate(message["tool_calls"])]})
    common = {name: done[name] for name in ("id", "created", "model", "system_fingerprint")}
    common["object"] = "chat.completion.chunk"
    chunks = [common | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append(common | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if "usage" in done:
        chunks.append(common | {"choices": [], "usage": done["usage"]})
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"
