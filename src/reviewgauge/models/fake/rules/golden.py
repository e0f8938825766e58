"""Does a candidate raise the golden comment's issue? Yes when their content words' Dice coefficient is .3 or more.

The confidence of a yes is one half plus half the coefficient, that of a no is one less the coefficient, both to two
decimals.
"""

from __future__ import annotations

import json
import re

from reviewgauge.models.fake.rules.same_concern import SAME, overlap
from reviewgauge.models.fake.rules.slots import FENCED
from reviewgauge.models.request.messages import Request, Role

OPENING = "Does the candidate comment raise the issue of the golden comment?"
_BOTH = re.compile(
    f"Golden comment:\n{FENCED.format('golden')}\n\nCandidate comment:\n{FENCED.format('candidate')}\n", re.DOTALL
)


def reply(request: Request) -> str:
    """A JSON object with reasoning, match and confidence."""
    asked = next(message.text for message in request.messages if message.role is Role.USER)
    found = _BOTH.search(asked)
    if found is None:
        return "I cannot find a golden comment and a candidate."
    shared = overlap(found["golden_text"], found["candidate_text"])
    match = shared >= SAME
    answer = {"reasoning": f"Dice {shared:.2f}", "match": match, "confidence": confidence(shared)}
    return json.dumps(answer)


def confidence(shared: float) -> float:
    """How sure the rule is of its answer, by the Dice coefficient."""
    return round(0.5 + shared / 2 if shared >= SAME else 1 - shared, 2)
