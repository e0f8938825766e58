"""The grade of a review against its reference: 5, 4, 3, 2 or 1 by the Dice coefficient of their content words.

5 where it is 1, 4 from .7 on, 3 from .4 on, 2 from .15 on, else 1. Content words are stemmed and without stop words.
"""

from __future__ import annotations

import re

from reviewgauge.models.fake.rules.slots import FENCED
from reviewgauge.models.request.messages import Request, Role
from reviewgauge.models.text.lexical import dice

OPENING = "Scenario Matching: I am going to give you a generated code review"
FROM = ((1.0, 5), (0.7, 4), (0.4, 3), (0.15, 2), (0.0, 1))  # (Dice coefficient from which on, grade)
_BOTHFENCED = re.compile(
    f"Generated Code Review:\n{FENCED.format('one')}\n\nReference Code Review:\n{FENCED.format('two')}", re.DOTALL
)
_BOTH_BARE = re.compile(
    'Generated Code Review: "(?P<one_text>.*?)"\n\nReference Code Review: "(?P<two_text>.*)"', re.DOTALL
)


def reply(request: Request) -> str:
    """A grade as the prompt asks for it."""
    asked = next(message.text for message in request.messages if message.role is Role.USER)
    found = _BOTHFENCED.search(asked) or _BOTH_BARE.search(asked)
    if found is None:
        return "I cannot find a generated and a reference review."
    return f"Grade={grade(found['one_text'], found['two_text'])}"


def grade(said: str, reference: str) -> int:
    """The rule."""
    shared = dice(said, reference)
    return next(grade for least, grade in FROM if shared >= least)
