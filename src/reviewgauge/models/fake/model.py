"""A deterministic, rule-based model that answers the project's own prompts sensibly. Its figures are labelled fake.

Each task has its rule in `rules`, listed in docs/reference/fake.md, so that the figures of a run can be predicted. A
request of no known task gets the simplest JSON that its schema allows, one with tools gets a call of the first tool.

The model's name selects its behaviour: `fake:rules`, like any unknown name, follows the rules; `fake:noisy-30`
contradicts itself in 30% of the repeats. See `behaviours`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from reviewgauge.core.records import Usage
from reviewgauge.models.fake.behaviours import behaviour_of
from reviewgauge.models.request.messages import Answer, Request, Role, Stop, ToolCall

NAME = "reviewgauge-fake"
UNKNOWN = "I am a fake model and do not know this task."
_PLAIN: Mapping[str, JsonValue] = {"boolean": False, "null": None, "string": "fake"}
_MAX_DEPTH = 20  # of a schema that holds itself


def answer(
    request: Request, model: str = "rules", repeat: tuple[int, int, int] = (1, 1, 1), seed: int | None = None
) -> Answer:
    """The answer by the first rule whose opening words the messages hold.

    `repeat` (attempt, trial, ask) and `seed` matter only to a model that contradicts itself.
    """
    from reviewgauge.models.fake.rules import RULES

    asked = "\n".join(message.text for message in request.messages)
    used = tokens(asked)
    if request.tools and not any(message.role is Role.TOOL for message in request.messages):
        call = _tool_call(request)
        spent = Usage(calls=1, tokens_in=used, tokens_out=tokens(call.arguments))
        return Answer(tool_calls=(call,), stop=Stop.TOOL, model=NAME, usage=spent, fake=True)
    rule = next((rule for rule in RULES if rule.opening in asked), None)
    if rule is not None:
        text = _in_schema(behaviour_of(model).say(rule.reply(request), request, f"{seed}:{repeat}"), request)
    elif request.answer_schema is not None:
        text = json.dumps(plainest(request.answer_schema))
    else:
        text = UNKNOWN
    return Answer(text=text, model=NAME, usage=Usage(calls=1, tokens_in=used, tokens_out=tokens(text)), fake=True)


def _in_schema(text: str, request: Request) -> str:
    """One of the options of the schema as the JSON that an endpoint with schemas sends; anything else as it is."""
    schema: Mapping[str, Any] = request.answer_schema or {}
    options = schema.get("properties", {}).get("answer", {}).get("enum", ())
    answer = text.rpartition("=")[2].strip(" .").casefold()
    chosen = [option for option in options if str(option).casefold() == answer]
    return json.dumps({"answer": chosen[0]}) if chosen else text


def _tool_call(request: Request) -> ToolCall:
    tool = request.tools[0]
    arguments = plainest(tool.parameters) if tool.parameters else {}
    return ToolCall(id="call_fake_1", name=tool.name, arguments=json.dumps(arguments))


def tokens(text: str) -> int:
    """An estimate of the tokens in a text: a quarter of its characters."""
    return max(1, len(text) // 4)


def plainest(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None, depth: int = 0) -> JsonValue:
    """The simplest value of a schema: the first choice, the smallest number, the shortest list.

    An object gets its required properties, or all where none is required.
    """
    root = schema if root is None else root
    if depth > _MAX_DEPTH:
        return None
    if isinstance(reference := schema.get("$ref"), str):
        return plainest(_referenced(reference, root), root, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        if schema.get(word):
            return plainest(schema[word][0], root, depth + 1)
    if "const" in schema:
        return schema["const"]  # type: ignore[no-any-return]
    if schema.get("enum"):
        return schema["enum"][0]  # type: ignore[no-any-return]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object" or (kind is None and "properties" in schema):
        properties = schema.get("properties") or {}
        names = schema.get("required") or list(properties)
        return {name: plainest(properties.get(name) or {}, root, depth + 1) for name in names}
    if kind == "array":
        one = schema.get("items")
        return [plainest(one if isinstance(one, Mapping) else {}, root, depth + 1)] * int(schema.get("minItems", 0))
    if kind in ("integer", "number"):
        low = schema.get("minimum", 0)
        return low if kind == "number" or isinstance(low, int) else int(low)
    if kind == "string":
        return "fake".ljust(int(schema.get("minLength", 0)), ".")
    return _PLAIN.get(str(kind), None)


def _referenced(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(part, {}) if isinstance(found, Mapping) else {}
    return found if isinstance(found, Mapping) else {}
