"""The chat completions of OpenAI, and of every endpoint that speaks their protocol.

Source: https://platform.openai.com/docs/api-reference/chat.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from reviewgauge.models.http.provider import Provider, ProviderReply, count, custom_headers, is_fake, text_of
from reviewgauge.models.http.replies import LIMIT, InvalidResponse
from reviewgauge.models.request.messages import Message, Request, Role, Tool, ToolCall
from reviewgauge.models.request.model_spec import ModelSpec


class OpenAI(Provider):
    """One model at one address."""

    key_variable = "OPENAI_API_KEY"
    base_url = "https://api.openai.com/v1"
    base_url_variable = "OPENAI_BASE_URL"
    path = "/chat/completions"

    def __init__(self, spec: ModelSpec, official: bool) -> None:
        super().__init__(spec, official)
        self._longest = LIMIT if official else "max_tokens"
        sent = {
            "temperature": spec.temperature,
            "top_p": spec.top_p,
            "top_k": spec.top_k,
            "reasoning_effort": spec.reasoning,
            self._longest: spec.max_tokens,
        }
        self._sampling: dict[str, Any] = {name: value for name, value in sent.items() if value is not None}

    @classmethod
    @override
    def headers(cls, key: str | None) -> dict[str, str]:
        if not key:
            return {}
        account = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
        named = {name: os.environ[variable] for name, variable in account.items() if os.environ.get(variable)}
        return {"Authorization": f"Bearer {key}", **named, **custom_headers("OPENAI_CUSTOM_HEADERS")}

    @property
    @override
    def parameters(self) -> Mapping[str, str]:
        names = {"reasoning_effort": "reasoning", LIMIT: "max_tokens"}
        sent = {**self._sampling, **({} if self.spec.seed is None else {"seed": 0})}
        return {name: names.get(name, name) for name in sent}

    @override
    def rename_limit(self) -> None:
        if self._longest != LIMIT:
            self._sampling[LIMIT] = self._sampling.pop(self._longest)
            self._longest = LIMIT

    @override
    def body(self, request: Request, attempt: int, schema: bool) -> dict[str, Any]:
        body = {"model": self.spec.model, "messages": [_message(m) for m in request.messages], **self._sampling}
        if self.spec.seed is not None:
            body["seed"] = self.spec.seed + attempt - 1  # repeats with one seed would be one answer
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if schema and request.answer_schema is not None:
            wanted = {"name": "answer", "schema": request.answer_schema, "strict": is_strict(request.answer_schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return body

    @override
    def read(self, payload: Mapping[str, Any]) -> ProviderReply:
        try:
            choice = payload["choices"][0]
            message = choice.get("message") or {}
            calls = tuple(_call(call) for call in message.get("tool_calls") or ())
        except (KeyError, IndexError, TypeError, AttributeError):
            raise InvalidResponse from None
        finish = choice.get("finish_reason")
        usage = payload.get("usage")
        refusal = text_of(message.get("refusal"))
        if finish == "content_filter":
            refusal = refusal or "the provider's filter held the answer back"
        return ProviderReply(
            text=_content(message.get("content")),
            tool_calls=calls,
            model=text_of(payload.get("model")),
            tokens_in=count(usage, "prompt_tokens"),
            tokens_out=_tokens_out(usage),
            reasoning_tokens=count(usage, "completion_tokens_details", "reasoning_tokens") or 0,
            refusal=refusal,
            cut="the answer is cut off at max_tokens" if finish == "length" else "",
            fake=is_fake(payload.get("model"), payload.get("system_fingerprint")),
        )


def _message(message: Message) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role.value, "content": message.text}
    if message.role is Role.TOOL:
        sent["tool_call_id"] = message.answers or ""
    if message.tool_calls:
        sent["content"] = message.text or None
        sent["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return sent


def _tool(tool: Tool) -> dict[str, Any]:
    parameters = tool.parameters or {"type": "object", "properties": {}}
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function") or {}
    return ToolCall(
        id=text_of(call.get("id")), name=text_of(function.get("name")), arguments=text_of(function.get("arguments"))
    )


def _content(content: object) -> str:
    """A message's text; some gateways send it in parts."""
    if isinstance(content, list):
        return "".join(text_of(part.get("text")) for part in content if isinstance(part, Mapping))
    return text_of(content)


def _tokens_out(usage: object) -> int | None:
    """Tokens of the answer. Some gateways leave reasoning out of them, but not out of the total."""
    completion = count(usage, "completion_tokens")
    total, prompt = count(usage, "total_tokens"), count(usage, "prompt_tokens")
    if completion is None or total is None or prompt is None:
        return completion
    return max(completion, total - prompt)


def is_strict(schema: object) -> bool:
    """Whether a schema is one that can be held to strictly: each object names all its properties and no others."""
    if isinstance(schema, list | tuple):
        return all(is_strict(one) for one in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        named = schema.get("properties")
        if not isinstance(named, Mapping) or schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required") or ()) != set(named):
            return False
    return all(is_strict(value) for value in schema.values())
