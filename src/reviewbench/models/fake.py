"""A deterministic, rule-based model that answers the project's own prompts sensibly. Its figures are labelled fake.

Each task has its rule in `models/fakes/`, one file a task, and the rules are written down in docs/fake.md, so that the
numbers of a run with it can be foretold.
"""

from __future__ import annotations

from reviewbench.core.records import Usage
from reviewbench.models.messages import Answer, Request

NAME = "reviewbench-fake"


def answer(request: Request) -> Answer:
    """The fake model's answer to a request: that of the first rule whose opening words its first message holds."""
    from reviewbench.models.fakes import RULES

    asked = "\n".join(message.text for message in request.messages)
    text = next((rule.reply(request) for rule in RULES if rule.opening in asked), UNKNOWN)
    usage = Usage(calls=1, tokens_in=tokens(asked), tokens_out=tokens(text))
    return Answer(text=text, model=NAME, usage=usage, fake=True)


UNKNOWN = "I am a fake model and do not know this task."


def tokens(text: str) -> int:
    """An estimate of the tokens in a text: a quarter of its characters."""
    return max(1, len(text) // 4)
