"""The relevance of a review to a code change: 5, 4, 3, 2 or 1 by the share of the review's words that the diff holds.

5 from .8 on, 4 from .6 on, 3 from .4 on, 2 from .2 on, else 1. Distinct content words count, stemmed and without stop
words; a review without any has 1.
"""

from __future__ import annotations

import re

from reviewgauge.models.fake.rules.slots import FENCED
from reviewgauge.models.request.messages import Request, Role
from reviewgauge.models.text.lexical import profile

OPENING = "You will be asked to rate the relevance of reviews for given"
FROM = ((0.8, 5), (0.6, 4), (0.4, 3), (0.2, 2), (0.0, 1))  # (share from which on, score)
_BOTHFENCED = re.compile(f"Code Change:\n{FENCED.format('one')}\n\nReview:\n{FENCED.format('two')}", re.DOTALL)
_BOTH_BARE = re.compile("\n\nCode Change: (?P<one_text>.*)\n\nReview: (?P<two_text>.*)\n\nYour score:\\Z", re.DOTALL)


def reply(request: Request) -> str:
    """The bare score."""
    asked = next(message.text for message in request.messages if message.role is Role.USER)
    found = _BOTHFENCED.search(asked) or _BOTH_BARE.search(asked)
    if found is None:
        return "I cannot find a code change and a review."
    return str(score(found["one_text"], found["two_text"]))


def score(diff: str, said: str) -> int:
    """The rule."""
    words, held = profile(said).content, profile(diff).content
    share = len(words & held) / len(words) if words else 0.0
    return next(score for least, score in FROM if share >= least)
