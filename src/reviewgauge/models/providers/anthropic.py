"""The messages of Anthropic, and of every endpoint that speaks their protocol.

Source: https://docs.anthropic.com/en/api/messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import override

from reviewgauge.core.errors import UserError
from reviewgauge.models.http.provider import Provider, ProviderReply, count, custom_headers, is_fake, text_of
from reviewgauge.models.http.replies import InvalidResponse
from reviewgauge.models.request.messages import Message, Request, Role, Tool, ToolCall
from reviewgauge.models.request.model_spec import ModelSpec

_LEAST_THOUGHT = 1024  # tokens, the protocol's own limit
_SHARE = {"minimal": 0.1, "low": 0.2, "medium": 0.5, "high": 0.8, "xhigh": 0.95}  # of max_tokens, for reasoning
_BY_BUDGET = re.compile(r"claude-(3|(opus|sonnet|haiku)-4(-[0-5])?(-\d{8})?$)")  # older models count thinking tokens


class Anthropic(Provider):
    """One model at one address."""

    key_variable = "ANTHROPIC_API_KEY"
    base_url = "https://api.anthropic.com"
    base_url_variable = "ANTHROPIC_BASE_URL"
    path = "/v1/messages"
    implied = "/v1"

    def __init__(self, spec: ModelSpec, official: bool) -> None:
        super().__init__(spec, official)
        if spec.seed is not None:
            remedy = "leave seed out; attempts are different calls anyway"
            raise UserError(f"{spec}: Anthropic's protocol has no seed", remedy=remedy)
        sent = {"temperature": spec.temperature, "top_p": spec.top_p, "top_k": spec.top_k}
        self._sampling: dict[str, Any] = {name: value for name, value in sent.items() if value is not None}
        self._sampling["max_tokens"] = spec.max_tokens
        self._effort: dict[str, Any] = {}
        if spec.reasoning is not None:
            self._sampling["thinking"], self._effort = _thinking(spec)

    @classmethod
    @override
    def headers(cls, key: str | None) -> dict[str, str]:
        version = {"anthropic-version": "2023-06-01"}
        if not key:
            return version
        own = {"X-Api-Key": key, "Authorization": f"Bearer {key}"}  # gateways read either
        return {**version, **own, **custom_headers("ANTHROPIC_CUSTOM_HEADERS")}

    @property
    @override
    def parameters(self) -> Mapping[str, str]:
        named = {name: "reasoning" if name == "thinking" else name for name in self._sampling}
        return named | ({"output_config": "reasoning", "effort": "reasoning"} if self._effort else {})

    @override
    def body(self, request: Request, attempt: int, schema: bool) -> dict[str, Any]:
        system = "\n\n".join(m.text for m in request.messages if m.role is Role.SYSTEM and m.text)
        body = {"model": self.spec.model, "messages": _messages(request.messages), **self._sampling}
        if system:
            body["system"] = system
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        config = dict(self._effort)
        if schema and request.answer_schema is not None:
            config["format"] = {"type": "json_schema", "schema": request.answer_schema}
        if config:
            body["output_config"] = config
        return body

    @override
    def read(self, payload: Mapping[str, Any]) -> ProviderReply:
        blocks = payload.get("content")
        if not isinstance(blocks, list):
            raise InvalidResponse
        parts = [block for block in blocks if isinstance(block, Mapping)]
        ended = payload.get("stop_reason")
        usage = payload.get("usage")
        tokens_in = [
            count(usage, name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        ]
        text = "".join(text_of(part.get("text")) for part in parts if part.get("type") == "text")
        return ProviderReply(
            text=text,
            tool_calls=tuple(_call(part) for part in parts if part.get("type") == "tool_use"),
            model=text_of(payload.get("model")),
            tokens_in=None if tokens_in[0] is None else sum(tokens or 0 for tokens in tokens_in),
            tokens_out=count(usage, "output_tokens"),
            reasoning_tokens=count(usage, "output_tokens_details", "thinking_tokens") or 0,
            refusal=(text or "the provider's filter held the answer back") if ended == "refusal" else "",
            cut=_CUTS.get(ended, "") if isinstance(ended, str) else "",
            fake=is_fake(payload.get("model"), payload.get("system_fingerprint")),
        )


_CUTS = {
    "max_tokens": "the answer is cut off at max_tokens",
    "model_context_window_exceeded": "the answer is cut off where the model's window ends",
    "pause_turn": "the model paused in the middle of its answer",
}


def _thinking(spec: ModelSpec) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters that ask for reasoning: (`thinking`, those in `output_config`)."""
    assert spec.reasoning is not None
    if spec.reasoning == "none":
        return {"type": "disabled"}, {}
    if _BY_BUDGET.match(spec.model):
        budget = max(_LEAST_THOUGHT, int(spec.max_tokens * _SHARE[spec.reasoning]))
        return {"type": "enabled", "budget_tokens": min(budget, spec.max_tokens - 1)}, {}
    return {"type": "adaptive"}, {"effort": "low" if spec.reasoning == "minimal" else spec.reasoning}


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The turns. Answers of tools are blocks of one user's turn, as many as follow one another."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role is Role.SYSTEM:
            continue
        if message.role is Role.TOOL:
            block = {"type": "tool_result", "tool_use_id": message.answers or "", "content": message.text}
            if turns and turns[-1]["role"] == "user" and isinstance(turns[-1]["content"], list):
                turns[-1]["content"].append(block)
            else:
                turns.append({"role": "user", "content": [block]})
        elif message.tool_calls:
            blocks: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
            turns.append({"role": "assistant", "content": blocks + [_use(call) for call in message.tool_calls]})
        else:
            turns.append({"role": message.role.value, "content": message.text})
    return turns


def _use(call: ToolCall) -> dict[str, Any]:
    """A call as it is sent back. Arguments that are not a JSON object are wrapped, as the protocol takes no others."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        arguments = {"unreadable": call.arguments}
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _call(block: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        id=text_of(block.get("id")),
        name=text_of(block.get("name")),
        arguments=text_of(json.dumps(block.get("input") or {}, ensure_ascii=False)),
    )


def _tool(tool: Tool) -> dict[str, Any]:
    schema = tool.parameters or {"type": "object", "properties": {}}
    return {"name": tool.name, "description": tool.description, "input_schema": schema}
