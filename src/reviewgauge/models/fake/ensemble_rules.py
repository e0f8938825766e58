"""The fake model's rules for what several reviews become."""

from __future__ import annotations

import json
import re

from reviewgauge.models.request.messages import Request, Role
from reviewgauge.models.text.lexical import dice

_COUNT = re.compile(r"^(\d+) reviews were written\.", re.MULTILINE)
_FINDING = re.compile(r"^(\d+\.\d+)\n<<<DATA (\w+)>>>\n([^\n]*)\n\n(.*?)\n<<<END \2>>>$", re.MULTILINE | re.DOTALL)
_SAME_FROM = 0.3


def aggregate(request: Request) -> str:
    """One report of several reviews: what more than half of them raise at one place, in the words of the first.

    Two findings are the same where their places are written alike and the Dice coefficient of their content words is
    at least .3.
    """
    prompt = next(message.text for message in request.messages if message.role is Role.USER)
    count = _COUNT.search(prompt)
    groups: list[list[tuple[str, str, str]]] = []
    for number, _, place, text in _FINDING.findall(prompt):
        for group in groups:
            _, there, other = group[0]
            if place == there and (text == other or dice(text, other) >= _SAME_FROM):
                group.append((number, place, text))
                break
        else:
            groups.append([(number, place, text)])
    of = int(count[1]) if count else 0
    kept = [g for g in groups if 2 * len({number.partition(".")[0] for number, _, _ in g}) > of]
    report = [{"from": [number for number, _, _ in group], "text": group[0][2]} for group in kept]
    return json.dumps({"findings": report})
