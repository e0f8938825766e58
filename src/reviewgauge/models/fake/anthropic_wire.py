"""The Anthropic messages protocol, as the fake server speaks it.

Source: https://docs.anthropic.com/en/api/messages and https://docs.anthropic.com/en/api/errors
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reviewgauge.models.fake.wire import Asked, FakeAnswer, Malformed, positive, text_of, tools_of
from reviewgauge.models.request.messages import Message, Request, Role, ToolCall

_SAMPLING = ("temperature", "top_p", "top_k")
_STOP = {"end": "end_turn", "length": "max_tokens", "tool": "tool_use", "refuse": "refusal", "filter": "refusal"}
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def read(body: Mapping[str, Any]) -> Asked:
    """The request in a body. Raises Malformed."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Malformed("messages: Field required", "messages")
    if body.get("max_tokens") is None:
        raise Malformed("max_tokens: Field required", "max_tokens")
    conversation: list[Message] = []
    if body.get("system"):
        conversation.append(Message(role=Role.SYSTEM, text=text_of(body["system"])))
    for message in messages:
        conversation += _messages(message)
    choice = body.get("tool_choice")
    tools = [] if isinstance(choice, dict) and choice.get("type") == "none" else body.get("tools") or []
    form = (body.get("output_config") or {}).get("format") or body.get("output_format")
    request = Request(
        messages=tuple(conversation),
        answer_schema=form.get("schema") if isinstance(form, dict) else None,
        tools=tools_of(tools, "input_schema"),
    )
    return Asked(
        request,
        str(body.get("model") or ""),
        positive(body["max_tokens"], "max_tokens"),
        stream=bool(body.get("stream")),
        sampling=tuple(name for name in _SAMPLING if body.get(name) is not None),
        form=isinstance(form, dict),
    )


def _messages(message: Any) -> list[Message]:
    """The messages in one message of theirs: each tool result becomes a message of its own."""
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        raise Malformed("messages: Unexpected role. Allowed roles are 'user' and 'assistant'.", "messages")
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    results = [
        Message(role=Role.TOOL, text=text_of(part.get("content")), answers=part.get("tool_use_id"))
        for part in parts
        if part.get("type") == "tool_result"
    ]
    calls = tuple(
        ToolCall(id=part["id"], name=part["name"], arguments=json.dumps(part.get("input")))
        for part in parts
        if part.get("type") == "tool_use"
    )
    text = text_of(content)
    if text or calls or not results:
        results.append(Message(role=Role(message["role"]), text=text, tool_calls=calls))
    return results


def completion(answer: FakeAnswer, name: str, number: str, created: int) -> dict[str, Any]:
    """The body of an answer. `created` is not part of it."""
    content: list[dict[str, Any]] = []
    if answer.reasoning:
        content.append({"type": "thinking", "thinking": "Hm.", "signature": "fake"})
    if answer.text and answer.stop not in ("refuse", "filter"):
        content.append({"type": "text", "text": answer.text})
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments or "{}")}
        for call in answer.tool_calls
    ]
    body: dict[str, Any] = {
        "id": f"msg_fake{number}",
        "type": "message",
        "role": "assistant",
        "model": name,
        "content": content,
        "stop_reason": _STOP[answer.stop],
        "stop_sequence": None,
    }
    if answer.counted:
        body["usage"] = {
            "input_tokens": answer.tokens_in,
            "output_tokens": answer.tokens_out,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "service_tier": "standard",
        }
    return body


def error(status: int, message: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """An error's body."""
    return {
        "type": "error",
        "error": {"type": _TYPES.get(status, "api_error"), "message": message},
        "request_id": "req_fake",
    }


def models(names: Sequence[str]) -> dict[str, Any]:
    """The list of models."""
    data = [{"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"} for name in names]
    return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def stream(done: Mapping[str, Any]) -> bytes:
    """The same answer as server-sent events: a start, each block with its pieces, why it stopped, an end."""
    usage = done.get("usage") or {"input_tokens": 0, "output_tokens": 0}
    start = {**done, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(done["content"]):
        events += _block(index, block)
    delta = {"stop_reason": done["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": usage["output_tokens"]}})
    events.append({"type": "message_stop"})
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def _block(index: int, block: Mapping[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "tool_use":
        empty: dict[str, Any] = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
    else:
        field = str(block["type"])  # "text" and "thinking" name their own field
        text = block[field]
        empty = {**block, field: ""}
        deltas = [{"type": f"{field}_delta", field: text[at : at + 20]} for at in range(0, len(text), 20)]
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]
