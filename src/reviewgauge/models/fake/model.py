"""A deterministic, rule-based model that answers the project's own prompts sensibly. Its figures are labelled fake.

Each task has its rule in `models/fakes/`, one file a task, and the rules are written down in docs/fake.md, so that the
numbers of a run with it can be foretold. A request that is of no known task gets the plainest JSON of its schema; one
with tools gets a call of the first tool, once.

The name of the model says whether it keeps to the rules: `fake:rules` does, as does any name that is not a manner;
`fake:noisy-30` contradicts itself in 30% of the repeats, and so on. See `_fake_manners`.
"""

from __future__ import annotations

import json

from reviewgauge.core.records import Usage
from reviewgauge.models.fake.behaviours import manner_of
from reviewgauge.models.fake.schemas import plainest
from reviewgauge.models.request.messages import Answer, Request, Role, Stop, ToolCall

NAME = "reviewgauge-fake"
UNKNOWN = "I am a fake model and do not know this task."


def answer(
    request: Request, model: str = "rules", repeat: tuple[int, int, int] = (1, 1, 1), seed: int | None = None
) -> Answer:
    """The fake model's answer: that of the first rule whose opening words the messages hold.

    `repeat` (attempt, trial, ask) and `seed` matter to a model that contradicts itself, and to no other.
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
        text = manner_of(model).say(rule.reply(request), request, f"{seed}:{repeat}")
    elif request.answer_schema is not None:
        text = json.dumps(plainest(request.answer_schema))
    else:
        text = UNKNOWN
    return Answer(text=text, model=NAME, usage=Usage(calls=1, tokens_in=used, tokens_out=tokens(text)), fake=True)


def _tool_call(request: Request) -> ToolCall:
    tool = request.tools[0]
    arguments = plainest(tool.parameters) if tool.parameters else {}
    return ToolCall(id="call_fake_1", name=tool.name, arguments=json.dumps(arguments))


def tokens(text: str) -> int:
    """An estimate of the tokens in a text: a quarter of its characters."""
    return max(1, len(text) // 4)
