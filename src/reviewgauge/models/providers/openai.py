"""The chat completions of OpenAI, and of every endpoint that speaks their protocol.

Source: https://platform.openai.com/docs/api-reference/chat.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.models.providers.errors import LIMIT, Broken
from reviewgauge.models.providers.rate_limits import Trouble
from reviewgauge.models.providers.replies import ProviderReply, count, is_fake, whole_seed, words
from reviewgauge.models.request.messages import Message, Request, Role, Tool, ToolCall
from reviewgauge.models.request.model_spec import ModelSpec

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

VARIABLE = "OPENAI_API_KEY"
PATH = "/chat/completions"
_REASONS = re.compile(r"o\d|gpt-5(-mini|-nano|-pro|-codex)?(-\d{4}.*)?$")  # take no sampling parameters
_NO_REASONING = re.compile(r"gpt-(3|4)|chatgpt")
_HEADERS = ("Authorization", "OpenAI-Organization", "OpenAI-Project")


def check(spec: ModelSpec, official: bool) -> None:
    """Raise UserError for a parameter that the model is known not to take."""
    if not official:
        return
    if spec.top_k is not None:
        raise UserError(f"{spec}: OpenAI's models take no top_k", remedy="leave top_k out")
    for name in ("temperature", "top_p"):
        if getattr(spec, name) not in (None, 1) and _REASONS.match(spec.model):
            raise UserError(f"{spec}: {spec.model} reasons, and takes no {name}", remedy=f"leave {name} out")
    if spec.reasoning is not None and _NO_REASONING.match(spec.model):
        raise UserError(f"{spec}: {spec.model} does not reason", remedy="leave reasoning out")


def connect(
    address: str, key: str | None, http_client: httpx2.AsyncClient
) -> tuple[AsyncOpenAI, ModuleType, dict[str, Any]]:
    """(the SDK's client, the SDK, headers to leave out: without a key, all that the environment holds)."""
    try:
        import openai
    except ImportError:
        raise MissingExtra("openai", "models") from None
    unsent: dict[str, Any] = {}
    if not key:
        named = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
        unsent = dict.fromkeys((*_HEADERS, *(line.partition(":")[0].strip() for line in named if ":" in line)))
        unsent = {name: openai.Omit() for name in unsent}
    client = openai.AsyncOpenAI(
        api_key=key or "none",
        base_url=address,
        max_retries=0,
        http_client=http_client,
    )
    return client, openai, unsent


class OpenAIChat:
    """One model at one address."""

    variable = VARIABLE
    path = PATH

    def __init__(self, spec: ModelSpec, official: bool) -> None:
        self._spec = spec
        self._longest = LIMIT if official else "max_tokens"
        sent = {
            "temperature": spec.temperature,
            "top_p": spec.top_p,
            "top_k": spec.top_k,
            "reasoning_effort": spec.reasoning,
            self._longest: spec.max_tokens,
        }
        self._sampling: dict[str, Any] = {name: value for name, value in sent.items() if value is not None}

    @property
    def parameters(self) -> Mapping[str, str]:
        """The spec's name of each parameter that is sent, by its name in the protocol."""
        names = {"reasoning_effort": "reasoning", LIMIT: "max_tokens"}
        sent = {**self._sampling, **({} if self._spec.seed is None else {"seed": 0})}
        return {name: names.get(name, name) for name in sent}

    def rename_limit(self) -> None:
        """Send max_completion_tokens from now on: a compatible endpoint with a reasoning model behind it."""
        if self._longest != LIMIT:
            self._sampling[LIMIT] = self._sampling.pop(self._longest)
            self._longest = LIMIT

    def body(self, request: Request, attempt: int, schema: bool) -> dict[str, Any]:
        """What is sent for a request."""
        body = {"model": self._spec.model, "messages": [_message(m) for m in request.messages], **self._sampling}
        if self._spec.seed is not None:
            body["seed"] = whole_seed(self._spec.seed, attempt)
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if schema and request.answer_schema is not None:
            wanted = {"name": "answer", "schema": request.answer_schema, "strict": is_strict(request.answer_schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return body

    def read(self, payload: Mapping[str, Any]) -> ProviderReply:
        """What an answer says. Raises Broken where it is not what the protocol says."""
        try:
            choice = payload["choices"][0]
            message = choice.get("message") or {}
            calls = tuple(_call(call) for call in message.get("tool_calls") or ())
        except (KeyError, IndexError, TypeError, AttributeError):
            raise Broken("the answer is not what the protocol says", Trouble.GARBLED) from None
        ended = choice.get("finish_reason")
        usage = payload.get("usage")
        refusal = words(message.get("refusal"))
        if ended == "content_filter":
            refusal = refusal or "the provider's filter held the answer back"
        return ProviderReply(
            text=_content(message.get("content")),
            tool_calls=calls,
            model=words(payload.get("model")),
            tokens_in=count(usage, "prompt_tokens"),
            tokens_out=_tokens_out(usage),
            thought=count(usage, "completion_tokens_details", "reasoning_tokens") or 0,
            refusal=refusal,
            cut="the answer is cut off at max_tokens" if ended == "length" else "",
            fake=is_fake(payload.get("model"), payload.get("system_fingerprint")),
        )


def _message(message: Message) -> dict[str, Any]:
    made: dict[str, Any] = {"role": message.role.value, "content": message.text}
    if message.role is Role.TOOL:
        made["tool_call_id"] = message.answers or ""
    if message.tool_calls:
        made["content"] = message.text or None
        made["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return made


def _tool(tool: Tool) -> dict[str, Any]:
    parameters = tool.parameters or {"type": "object", "properties": {}}
    made = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": made}


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function") or {}
    return ToolCall(
        id=words(call.get("id")), name=words(function.get("name")), arguments=words(function.get("arguments"))
    )


def _content(content: object) -> str:
    """A message's text; some gateways send it in parts."""
    if isinstance(content, list):
        return "".join(words(part.get("text")) for part in content if isinstance(part, Mapping))
    return words(content)


def _tokens_out(usage: object) -> int | None:
    """Tokens of the answer. Some gateways leave reasoning out of them, but not out of the total."""
    said = count(usage, "completion_tokens")
    total, prompt = count(usage, "total_tokens"), count(usage, "prompt_tokens")
    if said is None or total is None or prompt is None:
        return said
    return max(said, total - prompt)


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
