"""A prediction hits a known point where the Dice overlap of content words with one of its phrasings is at least .3."""

from __future__ import annotations

import json
import re

from reviewgauge.models.request.messages import Request
from reviewgauge.models.text.lexical import dice

OPENING = "You compare the change-points that a code review predicted"
OTHERWISE = "\nIn other words:\n"
ENOUGH = 0.3
_PLACE = re.compile(r"\A\[[^\]\n]+\]\n")
_BLOCK = re.compile(r"^([KP]\d+)\n<<<DATA (\w+)>>>\n(.*?)\n<<<END \2>>>$", re.MULTILINE | re.DOTALL)


def reply(request: Request) -> str:
    """Who hits whom, as JSON."""
    texts = {name: text for name, _, text in _BLOCK.findall(request.messages[1].text)}
    known = [name for name in texts if name.startswith("K")]
    predicted = [name for name in texts if name.startswith("P")]
    hits = [{"known": k, "predictions": [p for p in predicted if _alike(texts[k], texts[p])]} for k in known]
    return json.dumps({"hits": hits})


def _alike(known: str, predicted: str) -> bool:
    phrasings = _PLACE.sub("", known).split(OTHERWISE)
    return any(dice(phrasing, predicted) >= ENOUGH for phrasing in phrasings)
