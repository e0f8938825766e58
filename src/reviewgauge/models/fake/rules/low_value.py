"""Is a comment worth anything to its code? Low below three content words, or where it begins with praise; else high.

Content words are stemmed, without stop words. Praise is LGTM, +1, thanks, thank you, nice, great, done or good.
"""

from __future__ import annotations

import json
import re

from reviewgauge.models.fake.rules.slots import last_slot
from reviewgauge.models.request.messages import Request
from reviewgauge.models.text.lexical import profile

OPENING = "Is the review comment below of high or of low relevance to its code?"
FEWEST = 3
_PRAISE = re.compile(r"\s*(?:LGTM|\+1|thanks|thank you|nice|great|done|good)\b", re.IGNORECASE)


def reply(request: Request) -> str:
    """A JSON object with reasoning and relevance."""
    comment = last_slot(request, "Review comment:\n", "\n\nAnswer with one JSON object")
    words = len(profile(comment).content)
    low = words < FEWEST or _PRAISE.match(comment) is not None
    return json.dumps({"reasoning": f"{words} content words", "relevance": "low" if low else "high"})
