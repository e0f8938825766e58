"""The fake model: every prompt has an example, and a schema without one gets its plainest value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import reviewgauge
from reviewgauge.models.fake import MODELS, NAME, UNKNOWN, Example, answer, plainest
from reviewgauge.models.request.messages import Repeat, Request, Stop, Tool, load_prompt, user

FILES = sorted(Path(reviewgauge.__file__).parent.glob("*/prompts/*.txt"))
LABELS = ("K1", "P1", "F1, by the reviewer of form", "Decide on F1, which are yours.", "Comment 1", "1.1", "1: none")
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n one\n+two\n[][2] +two\n"
FENCED = 'The prompt:\n<<<DATA 0a>>>\nSay "yes".\n<<<END 0a>>>\nThis is variant 7 of many'


def asked(file: Path) -> Request:
    """A prompt with everything in its slots that an example may look for."""
    prompt = load_prompt(f"reviewgauge.{file.parent.parent.name}", file.stem)
    return Request(messages=prompt.messages(dict.fromkeys(prompt.slots, "\n".join(["", *LABELS, DIFF, FENCED]))))


def say(request: Request, model: str = "example", trial: int = 1) -> str | None:
    return MODELS[model](request, Repeat(trial=trial), None)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_prompt_has_an_example_that_is_not_sent(file: Path) -> None:
    request = asked(file)
    said = say(request)
    assert said and "{{" not in said
    assert "[example" not in request.messages[-1].text
    if said.startswith("{"):
        assert json.loads(said)


def test_the_varied_model_differs_from_repeat_to_repeat_and_never_from_itself() -> None:
    request = asked(next(file for file in FILES if file.stem == "golden"))
    said = [say(request, "varied", trial) for trial in range(1, 41)]
    assert len(set(said)) == 2
    assert said == [say(request, "varied", trial) for trial in range(1, 41)]
    assert {say(request, trial=trial) for trial in range(1, 41)} == {say(request)}


def test_an_example_is_filled_from_each_place_and_what_it_quotes_is_no_slot() -> None:
    example = Example(r"^(?P<name>K\d): (?P<said>.*)$", '{"a": "{{ name }}", "b": [{{ each }}"{{ said }}"{{ end }}]}')
    found = example.answer('K1: a "quote"\nother\nK2: {{ name }}')
    assert found and json.loads(found) == {"a": "K1", "b": ['a "quote"', "{{ name }}"]}
    assert example.answer("nothing of the kind") is None


def test_an_agent_calls_tools() -> None:
    request = asked(next(file for file in FILES if file.stem == "agent"))
    said = answer(request.model_copy(update={"tools": (Tool(name="finish"),)}))
    assert said.stop is Stop.TOOL and said.fake
    assert [call.name for call in said.tool_calls] == ["show", "comment", "finish"]
    assert json.loads(said.tool_calls[1].arguments)["line"] == 1


def test_a_task_that_it_does_not_know_is_said_to_be_so() -> None:
    said = answer(Request(messages=(user("Sing."),)))
    assert (said.text, said.model, said.fake, said.stop) == (UNKNOWN, NAME, True, Stop.END)
    assert said.usage.tokens_in == 1


@pytest.mark.parametrize("schema", [
    {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "integer", "minimum": 1}}},
    {"type": "array", "items": {"type": "number"}, "minItems": 2},
    {"enum": ["low", "high"]}, {"type": ["null", "string"]}, {},
], ids=json.dumps)  # fmt: skip
def test_a_schema_without_a_task_gets_the_plainest_value(schema: dict[str, Any]) -> None:
    jsonschema.validate(plainest(schema), schema)
    said = answer(Request(messages=(user("something"),), answer_schema=schema))
    assert json.loads(said.text) == plainest(schema) and said.fake
