"""A review thread as one comment: the words of its first message; as bullet points where that holds two list items.

"No code issues identified." where a later message holds "not an issue", "no issue", "false alarm", "never mind",
"by design" or "works as intended", and where the first begins with LGTM, thanks, nice, great or good.
"""

from __future__ import annotations

import re

from reviewgauge.models.fake.rules.slots import FENCED
from reviewgauge.models.request.messages import Request, Role

OPENING = "You are a senior code reviewer tasked with summarizing code review discussions."
NOTHING = "No code issues identified."
SETTLED = ("not an issue", "no issue", "false alarm", "never mind", "by design", "works as intended")
_ROLE = r"(?:author|bot|reviewer(?: \d+)?)"
_FENCED_HUNK = re.compile(rf"{FENCED.format('hunk')}\n\nConversation:\n", re.DOTALL)
_TURN_FENCED = re.compile(rf"^{_ROLE}:\n{FENCED.format('said')}$", re.MULTILINE | re.DOTALL)
_TURN_BARE = re.compile(rf"^{_ROLE}: (?P<said_text>.*?)(?=\n\n{_ROLE}: |\Z)", re.MULTILINE | re.DOTALL)
_PRAISE = re.compile(r"\s*(?:LGTM|thanks|nice|great|good)\b", re.IGNORECASE)
_ITEM = re.compile(r"^[ \t]*(?:[-*]|\d{1,2}[.)])[ \t]+(.+)$", re.MULTILINE)


def reply(request: Request) -> str:
    """The summary."""
    asked = next(message.text for message in request.messages if message.role is Role.USER)
    material = asked.partition("\nDiff Hunk:\n")[2]
    fenced = _FENCED_HUNK.match(material)
    conversation = material[fenced.end() :] if fenced else material.partition("\n\nConversation:\n")[2]
    pattern = _TURN_FENCED if fenced or "<<<DATA " in conversation else _TURN_BARE
    first, *later = [found["said_text"] for found in pattern.finditer(conversation)] or [""]
    if not first.strip() or _PRAISE.match(first):
        return NOTHING
    if any(words in turn.lower() for turn in later for words in SETTLED):
        return NOTHING
    items = [" ".join(item.split()) for item in _ITEM.findall(first)]
    return "\n".join(f"- {item}" for item in items) if len(items) > 1 else " ".join(first.split())
