"""The fake model: it answers with the example that each prompt file ends with, for dry runs and to try a verb.

`fake:example` always gives the first example that fits, `fake:varied` one of them, drawn by a hash of the request and
of its repeat. Nothing is read, so its figures mean nothing; every one is labelled fake. An example in a prompt file:

    [example ^(?P<name>K\\d+)$]
    {"hits": [{{ each }}{"known": "{{ name }}", "predictions": []}{{ end }}]}

The pattern is looked for in the request, and its groups fill the answer: those of the first place where it is found,
and between `each` and `end` those of each place. An example whose pattern is found nowhere does not fit. For an agent
each line of the example is the call of a tool.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from reviewgauge.core.records import Usage
from reviewgauge.models.request.messages import EXAMPLE, Answer, Repeat, Request, Stop, ToolCall, fill

NAME = "reviewgauge-fake"  # how its name and fingerprint begin
UNKNOWN = "I am a fake model and do not know this task."
_PACKAGE = Path(__file__).parents[1]
_EACH = re.compile(r"\{\{ each \}\}(.*?)\{\{ end \}\}", re.DOTALL)
_FIRST = Repeat()
_SHORTEST = 25  # characters of a line that tells one prompt from another


class Example(NamedTuple):
    """One example of a prompt file. `where` is its pattern, empty for none."""

    where: str
    text: str

    def answer(self, asked: str) -> str | None:
        """The answer to a request of these words; None where the pattern is not found."""
        if not self.where:
            return self.text
        places = [_escaped(found, self.text) for found in re.finditer(self.where, asked, re.MULTILINE)]
        if not places:
            return None
        once, *rest = _EACH.split(self.text)
        pairs = zip(rest[::2], rest[1::2], strict=True)
        more = (", ".join(fill(each, place) for place in places) + fill(then, places[0]) for each, then in pairs)
        return fill(once, places[0]) + "".join(more)


def _escaped(found: re.Match[str], text: str) -> dict[str, str]:
    groups = found.groupdict()
    return {name: json.dumps(value)[1:-1] for name, value in groups.items()} if '{"' in text else groups


@cache
def examples() -> Mapping[str, tuple[Example, ...]]:
    """The examples of all prompts, by each line that stands in no prompt with other examples."""
    found: dict[str, tuple[Example, ...]] = {}
    shared: set[str] = set()
    for file in sorted(_PACKAGE.glob("*/prompts/*.txt")):
        words, *rest = EXAMPLE.split(file.read_text(encoding="utf-8"))
        own = tuple(
            Example(where or "", text.removesuffix("\n")) for where, text in zip(*[iter(rest)] * 2, strict=True)
        )
        for line in {line for line in words.split("\n") if own and len(line) >= _SHORTEST}:
            if found.setdefault(line, own) != own:
                shared.add(line)
    return {line: own for line, own in found.items() if line not in shared}


def _fitting(request: Request) -> list[str]:
    """The answers of the examples that fit, of the prompt that the request begins with."""
    asked = "\n".join(message.text for message in request.messages)
    known = examples()
    own: tuple[Example, ...] = next((known[line] for line in asked.split("\n") if line in known), ())
    return [text for example in own if (text := example.answer(asked)) is not None]


def first_example(request: Request, repeat: Repeat, seed: int | None) -> str | None:
    """The first example that fits."""
    return next(iter(_fitting(request)), None)


def any_example(request: Request, repeat: Repeat, seed: int | None) -> str | None:
    """One of the examples that fit, drawn by a hash."""
    fitting = _fitting(request)
    drawn = share_of(f"{seed}\0{tuple(repeat)}\0{request.messages[-1].text}")
    return fitting[int(drawn * len(fitting))] if fitting else None


Say = Callable[[Request, Repeat, int | None], str | None]
MODELS: dict[str, Say] = {"example": first_example, "varied": any_example}


def answer(request: Request, model: str = "example", repeat: Repeat = _FIRST, seed: int | None = None) -> Answer:
    """The answer of one of `MODELS`; to a prompt without an example the plainest that its schema allows."""
    text = MODELS[model](request, repeat, seed)
    if text is None:
        text = UNKNOWN if request.answer_schema is None else json.dumps(plainest(request.answer_schema))
    used = Usage(calls=1, tokens_in=tokens("\n".join(one.text for one in request.messages)), tokens_out=tokens(text))
    if request.tools and text != UNKNOWN:
        calls = tuple(_call(number, *line.split(" ", 1)) for number, line in enumerate(text.split("\n"), 1))
        return Answer(tool_calls=calls, stop=Stop.TOOL, model=NAME, usage=used, fake=True)
    return Answer(text=text, model=NAME, usage=used, fake=True)


def _call(number: int, name: str, arguments: str) -> ToolCall:
    return ToolCall(id=f"call_fake_{number}", name=name, arguments=arguments)


def plainest(schema: Mapping[str, Any]) -> JsonValue:
    """The simplest value of a schema: the first choice, the smallest number, the shortest list."""
    if schema.get("enum"):
        return schema["enum"][0]  # type: ignore[no-any-return]
    kind = schema.get("type")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            return {name: plainest(part) for name, part in (schema.get("properties") or {}).items()}
        case "array":
            return [plainest(schema.get("items") or {})] * int(schema.get("minItems", 0))
        case "integer" | "number":
            return schema.get("minimum", 0)  # type: ignore[no-any-return]
        case "boolean":
            return False
        case "null":
            return None
    return "fake"


def tokens(text: str) -> int:
    """An estimate of the tokens in a text: a quarter of its characters."""
    return max(1, len(text) // 4)


def share_of(text: str) -> float:
    """A number in [0, 1) that depends on nothing but `text`."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) / 2**64
