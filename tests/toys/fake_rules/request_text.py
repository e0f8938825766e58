"""Where the texts under review stand in a prompt, for the rules of the fake model."""

from __future__ import annotations

import re

from reviewgauge.models.request.messages import Request, Role

FENCED = r"<<<DATA (?P<{0}>[0-9a-f]+)>>>\n(?P<{0}_text>.*?)\n<<<END (?P={0})>>>"  # `.format(name)` for its groups
_FENCED = re.compile(r"\A<<<DATA (\w+)>>>\n(.*)\n<<<END \1>>>\Z", re.DOTALL)


def prompt_of(request: Request) -> str:
    """The first message of the user; later ones repeat the question after an unreadable answer."""
    return next((message.text for message in request.messages if message.role is Role.USER), "")


def last_slot(request: Request, begin: str, end: str) -> str:
    """The text after the last `begin` and before the last `end` of the prompt; empty where they are missing."""
    _, found, text = prompt_of(request).rpartition(begin)
    inside, closed, _ = text.rpartition(end)
    if not found or not closed:
        return ""
    fenced = _FENCED.match(inside)
    return fenced[2] if fenced else inside
