"""What a prompt was filled with: the text between the last of two marks, without a fence around it."""

from __future__ import annotations

import re

from reviewgauge.models.request.messages import Request, Role

FENCED = r"<<<DATA (?P<{0}>[0-9a-f]+)>>>\n(?P<{0}_text>.*?)\n<<<END (?P={0})>>>"  # `.format(name)` for its groups
_FENCED = re.compile(r"\A<<<DATA (\w+)>>>\n(.*)\n<<<END \1>>>\Z", re.DOTALL)


def last_slot(request: Request, begin: str, end: str) -> str:
    """The text behind the last `begin` and before the last `end` of the prompt; empty where they are missing.

    The prompt is the first message of the user: what follows it is an answer that was refused, and why.
    """
    asked = next((message.text for message in request.messages if message.role is Role.USER), "")
    _, found, text = asked.rpartition(begin)
    inside, closed, _ = text.rpartition(end)
    if not found or not closed:
        return ""
    fenced = _FENCED.match(inside)
    return fenced[2] if fenced else inside


def holds(text: str, words: tuple[str, ...]) -> bool:
    """Whether one of the words begins a word of the text, in any case."""
    return any(re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE) for word in words)
