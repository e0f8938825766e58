"""The rule of the fake model that says what a change does."""

from __future__ import annotations

import json
import re

from fake_rules.request_text import FENCED, prompt_of
from reviewgauge.models.request.messages import Request

MOST = 5  # changed lines that are told
_DIFF = re.compile(rf"\n\n{FENCED.format('diff')}\n\nWrite two lists\.", re.DOTALL)


def claims(request: Request) -> str:
    """What a change does: its first five changed lines, quoted; one implication where lines are added."""
    found = _DIFF.search(prompt_of(request))
    if found is None:
        return "I cannot find a diff."
    hunks = found["diff_text"].partition("@@")[2]
    told = [line for line in hunks.split("\n") if line[:1] in "+-" and re.search(r"\w", line)][:MOST]
    words = {"+": "is added", "-": "is removed"}
    first = [f"The line `{line[1:].strip()}` {words[line[0]]}." for line in told]
    adds = any(line.startswith("+") for line in told)
    second = ["The behaviour of this code may change for those who call it."] if adds else []
    return json.dumps({"claims": first, "implications": second})
