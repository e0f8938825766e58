"""Do two review comments express the same concern? Yes when the Dice coefficient of their content words is at least .3.

Content words are stemmed and without stop words (`models/lexical.dice`). Texts that are equal but for white space are
the same. The diff is not looked at.
"""

from __future__ import annotations

import re

from reviewgauge.models.fake.rules.slots import FENCED
from reviewgauge.models.request.messages import Request, Role
from reviewgauge.models.text.lexical import dice

OPENING = "Determine whether two given review comments express the same concern"
SAME = 0.3
_BOTHFENCED = re.compile(
    f"Review Comment 1:\n{FENCED.format('one')}\n\nReview Comment 2:\n{FENCED.format('two')}\n\n-Task-", re.DOTALL
)
_BOTH_BARE = re.compile(
    "Review Comment 1:\n(?P<one_text>.*?)\n\nReview Comment 2:\n(?P<two_text>.*?)\n\n-Task-\nDetermine", re.DOTALL
)


def reply(request: Request) -> str:
    """Yes or no."""
    asked = next(message.text for message in request.messages if message.role is Role.USER)
    found = _BOTHFENCED.search(asked) or _BOTH_BARE.search(asked)
    if found is None:
        return "I cannot find two review comments."
    return "yes" if overlap(found["one_text"], found["two_text"]) >= SAME else "no"


def overlap(one: str, other: str) -> float:
    """The Dice coefficient of their content words; 1 for equal texts."""
    return 1.0 if one.split() == other.split() else dice(one, other)
