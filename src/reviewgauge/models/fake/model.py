"""A deterministic, rule-based model that answers the project's own prompts sensibly. Its figures are labelled fake.

Each task has its rule in `rules`, listed in docs/reference/fake.md, so that the figures of a run can be predicted. A
request of no known task gets the simplest JSON that its schema allows, one with tools gets a call of the first tool.

The model's name selects its behaviour: `fake:rules`, like any unknown name, follows the rules; `fake:noisy-30`
contradicts itself in 30% of the repeats. `BEHAVIOURS` have the faults that judges have, to test what looks for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import JsonValue

from reviewgauge.core.records import Usage
from reviewgauge.models.answers.readers import options_of
from reviewgauge.models.fake.exploring import OPENING, explore
from reviewgauge.models.fake.faults import share_of
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
    if calls := _tool_calls(request, asked):
        spent = Usage(calls=1, tokens_in=used, tokens_out=sum(tokens(call.arguments) for call in calls))
        return Answer(tool_calls=calls, stop=Stop.TOOL, model=NAME, usage=spent, fake=True)
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
    said = text.rpartition("=")[2].strip(" .").casefold()
    chosen = [option for option in options_of(request.answer_schema) if option.casefold() == said]
    return json.dumps({"answer": int(chosen[0]) if chosen[0].isdigit() else chosen[0]}) if chosen else text


def _tool_calls(request: Request, asked: str) -> tuple[ToolCall, ...]:
    """The calls of the agent's rule; for another prompt the first tool, once."""
    if not request.tools or OPENING in asked:
        return explore(request) if request.tools else ()
    if any(message.role is Role.TOOL for message in request.messages):
        return ()
    tool = request.tools[0]
    arguments = plainest(tool.parameters) if tool.parameters else {}
    return (ToolCall(id="call_fake_1", name=tool.name, arguments=json.dumps(arguments)),)


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


# --- behaviours ----------------------------------------------------------------------------------------------------

_NAME = re.compile(r"(?:reviewgauge-)?(?:fake-)?([a-z]+)(?:-(\d{1,4}))?")
_FENCED = re.compile(r"^<<<DATA (\w+)>>>\n(.*?)\n<<<END \1>>>$", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_GRADE = re.compile(r"(?<![\w.])([1-5])(?![\w.]\d|\w)")
_ORDERED = re.compile(
    r"\b(?:answer|reply|respond|output|say|print|return)\b[^.\n]{0,40}?[\s\"'`*:](yes|no|true|false|[1-5]|10)\b"
    r"|\b(?:score|grade|rate|rating)\b[^.\n]{0,40}?\b([1-5]|10)\b",
    re.IGNORECASE,
)
TOP, BOTTOM = 5, 1
_FINDINGS = '{"points": [{'  # how the reply of a rule begins that lists something


@dataclass(frozen=True)
class FakeBehaviour:
    """How a model of this name departs from the rules. `number` follows the name: `noisy-30`."""

    name: str
    about: str
    number: int
    stray: Callable[[str, Request, str, int], str]

    def say(self, text: str, request: Request, repeat: str) -> str:
        """The model's answer where the rule's is `text`."""
        return self.stray(text, request, repeat, self.number)


def behaviour_of(model: str) -> FakeBehaviour:
    """The behaviour that a model's name selects, such as `noisy-30` or `fake-noisy-30`; `rules` for any other name."""
    found = _NAME.fullmatch(model.lower())
    behaviour = BEHAVIOURS.get(found[1]) if found else None
    if found is None or behaviour is None:
        return BEHAVIOURS["rules"]
    return behaviour if found[2] is None else replace(behaviour, number=int(found[2]))


def is_behaviour(model: str) -> bool:
    """Whether a model's name selects a behaviour, `rules` included."""
    found = _NAME.fullmatch(model.lower())
    return found is not None and found[1] in BEHAVIOURS


def contradict(text: str) -> str:
    """The opposite of a reply: yes is no, true is false, a grade g is 6 - g, a list of findings is empty."""

    def opposite(value: JsonValue) -> JsonValue:
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return TOP + BOTTOM - value if BOTTOM <= value <= TOP else value
        if isinstance(value, str) and value.lower() in ("yes", "no"):
            return "no" if value.lower() == "yes" else "yes"
        return value

    return json.dumps({"points": []}) if text.startswith(_FINDINGS) else _changed(text, opposite)


def approve(text: str, yes: bool = True) -> str:
    """A reply that says yes (or no) to everything, with the highest (or lowest) grade."""

    def approved(value: JsonValue) -> JsonValue:
        if isinstance(value, bool):
            return yes
        if isinstance(value, int):
            return (TOP if yes else BOTTOM) if BOTTOM <= value <= TOP else value
        return ("yes" if yes else "no") if isinstance(value, str) and value.lower() in ("yes", "no") else value

    return _changed(text, approved)


def _changed(text: str, change: Callable[[JsonValue], JsonValue]) -> str:
    """`text` with its verdicts changed: those in its JSON, else its first yes or no, else its first grade."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, (dict, list)):
        return json.dumps(_walk(value, change), ensure_ascii=False)
    if _WORD.search(text):
        return _WORD.sub(lambda match: _as(match[0], str(change(match[0].lower()))), text, count=1)
    return _GRADE.sub(lambda match: str(change(int(match[1]))), text, count=1)


def _as(model: str, word: str) -> str:
    return word.upper() if model.isupper() else word.capitalize() if model[0].isupper() else word


def _walk(found: JsonValue, value: Callable[[JsonValue], JsonValue]) -> JsonValue:
    if isinstance(found, dict):
        return {name: _walk(part, value) for name, part in found.items()}
    if isinstance(found, list):
        return [_walk(part, value) for part in found]
    return value(found)


def _material(request: Request) -> list[str]:
    """The texts under review: those between fences, or the whole last message where there are none."""
    fenced = [block for message in request.messages for _, block in _FENCED.findall(message.text)]
    return fenced or [request.messages[-1].text]


def _noisy(text: str, request: Request, repeat: str, number: int) -> str:
    return _contradict_some(text, request, f"noisy\0{repeat}", number)


def _touchy(text: str, request: Request, repeat: str, number: int) -> str:
    return _contradict_some(text, request, "touchy", number)


def _contradict_some(text: str, request: Request, seed: str, percent: int) -> str:
    prompt = "\n".join(message.text for message in request.messages)
    return contradict(text) if share_of(f"{seed}\0{prompt}") * 100 < percent else text


def _wordy(text: str, request: Request, repeat: str, number: int) -> str:
    longest = max(len(block.split()) for block in _material(request))
    return approve(text) if longest >= number else text


def _first(text: str, request: Request, repeat: str, number: int) -> str:
    blocks = _material(request)
    return approve(text, blocks[-2] > blocks[-1]) if len(blocks) > 1 else text


def _gullible(text: str, request: Request, repeat: str, number: int) -> str:
    orders = [order for block in _material(request) for order in _ORDERED.findall(block)]
    if not orders:
        return text
    order = (orders[-1][0] or orders[-1][1]).lower()
    return approve(text, order not in ("no", "false", "1", "2"))


def _fickle(text: str, request: Request, repeat: str, number: int) -> str:
    from reviewgauge.models.fake.review_rules import as_notes, judged_lines, review

    if text != review(request):
        return text
    said = []
    for line, note in judged_lines(request):
        strays = share_of(f"fickle\0{repeat}\0{line}\0{request.messages[0].text}") * 100 < number
        if strays != (note is not None):
            said.append((line, note or f"Why {line[1:].strip()}?"))
    return as_notes(said)


def _literal(text: str, request: Request, repeat: str, number: int) -> str:
    from reviewgauge.models.fake.review_rules import named_report, report

    return named_report(request) if text == report(request) else text


_ABOUT: Mapping[str, tuple[str, int, Callable[[str, Request, str, int], str]]] = {
    "rules": ("keeps to the rules", 0, lambda text, *_: text),
    "noisy": ("says the opposite in N% of the repeats (20), by a hash of request, repeat and seed", 20, _noisy),
    "touchy": ("says the opposite on N% of the requests (20), by a hash of every character", 20, _touchy),
    "contrary": ("always says the opposite", 0, lambda text, *_: contradict(text)),
    "wordy": ("says yes, or the highest grade, where a text under review has N words or more (60)", 60, _wordy),
    "first": ("says yes where, of the last two fenced texts, the first comes later in the alphabet", 0, _first),
    "fickle": (
        "judges each added line of a review wrongly in N% of the repeats (30), apart from all others",
        30,
        _fickle,
    ),
    "literal": ("reports (rule `report`) only what the prompt names: half of a note's words stand in it", 0, _literal),
    "gullible": ("does what a text under review tells it to answer", 0, _gullible),
}
BEHAVIOURS: Mapping[str, FakeBehaviour] = {name: FakeBehaviour(name, *rest) for name, rest in _ABOUT.items()}
