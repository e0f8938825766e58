"""A comment with list items is one point an item, any other is one point as it stands.

The type is that of the first of these lines with a word that begins a word of the point, else E.3.2. The severity is 9
for a point with crash, security, injection, data loss, deadlock or corrupt, 6 for a functional type, else 3.

- F.4: check, validate, null, none, boundary, overflow, missing case
- F.3: leak, close, lock, memory, resource, race, thread
- F.1: signature, interface, argument, parameter, caller
- F.5: library, dependency, version, upgrade
- F.6: not implemented, whole feature, rewrite
- F.2: wrong, bug, logic, incorrect, crash, injection, error, fails, loop
- E.1.1: comment, docstring, documentation, typo, rename, name
- E.1.2: type hint, annotation, const, final
- E.2: indent, whitespace, format, blank line, style
- E.3.1: move, duplicate, unused, dead code, remove
- E.3.2: test, refactor, simplify, complex
"""

from __future__ import annotations

import json
import re

from reviewgauge.models.request.messages import Request

OPENING = "You list the change-points of a code review."
_COMMENT = re.compile(r"^Comment (\d+)\n<<<DATA (\w+)>>>\n(.*?)\n<<<END \2>>>$", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(.+)$", re.MULTILINE)
_PLACE = re.compile(r"\A\[[^\]\n]+\]\n")
WORDS = (
    ("F.4", ("check", "validate", "null", "none", "boundary", "overflow", "missing case")),
    ("F.3", ("leak", "close", "lock", "memory", "resource", "race", "thread")),
    ("F.1", ("signature", "interface", "argument", "parameter", "caller")),
    ("F.5", ("library", "dependency", "version", "upgrade")),
    ("F.6", ("not implemented", "whole feature", "rewrite")),
    ("F.2", ("wrong", "bug", "logic", "incorrect", "crash", "injection", "error", "fails", "loop")),
    ("E.1.1", ("comment", "docstring", "documentation", "typo", "rename", "name")),
    ("E.1.2", ("type hint", "annotation", "const", "final")),
    ("E.2", ("indent", "whitespace", "format", "blank line", "style")),
    ("E.3.1", ("move", "duplicate", "unused", "dead code", "remove")),
    ("E.3.2", ("test", "refactor", "simplify", "complex")),
)
GRAVE = ("crash", "security", "injection", "data loss", "deadlock", "corrupt")


def reply(request: Request) -> str:
    """The list of points, as JSON."""
    asked = request.messages[1].text
    points = []
    for number, _, text in _COMMENT.findall(asked):
        body = _PLACE.sub("", text)
        for point in _ITEM.findall(body) or [body]:
            words = " ".join(point.split())
            kind = kind_of(words)
            points.append({"comment": int(number), "point": words, "type": kind, "severity": _severity(words, kind)})
    unique = {json.dumps(point): point for point in points}
    return json.dumps({"points": list(unique.values())})


def kind_of(text: str) -> str:
    """The type by the table."""
    text = text.lower()
    return next((code for code, words in WORDS if any(re.search(rf"\b{word}", text) for word in words)), "E.3.2")


def _severity(text: str, kind: str) -> int:
    if any(word in text.lower() for word in GRAVE):
        return 9
    return 6 if kind.startswith("F") else 3
