"""The rule of the fake model for an agent: it calls the tools `definitions`, `comment` and `finish`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from reviewgauge.models.request.messages import Request, Role, ToolCall

OPENING = "You look around in a repository with tools before you judge a change to it."
_NAMES = 8  # that are looked up
_DIFF = re.compile(r"\nThe change:\n<<<DATA (\w+)>>>\n(.*?)\n<<<END \1>>>", re.DOTALL)
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)")
_CALL = re.compile(r"(?<![\w.`])([A-Za-z_]\w{0,99})\(([^()]{0,300})\)")
_PLAIN = re.compile(r"\w+(?:: ?\w+)?")


class _Use(NamedTuple):
    """A call on an added line of the change, by how many values it hands over."""

    path: str
    line: int
    name: str
    given: int


def explore(request: Request) -> tuple[ToolCall, ...]:
    """Looks up each function that an added line calls; reports a call with another number of arguments than it takes.

    The first eight names are looked up, all in one step; the next step comments and finishes. Only a definition in
    Python whose parameters have neither defaults nor stars is compared, and a call without keywords, stars or brackets.
    """
    diff = _DIFF.search("\n".join(message.text for message in request.messages[:2]))
    uses = list(_uses(diff[2])) if diff else []
    names = list(dict.fromkeys(use.name for use in uses))[:_NAMES]
    looked = [message.text for message in request.messages if message.role is Role.TOOL]
    if names and not looked:
        return _numbered([("definitions", {"name": name}) for name in names], 1)
    calls: list[tuple[str, dict[str, object]]] = []
    for use in uses:
        takes = next((found for text in looked if (found := _takes(text, use.name)) is not None), use.given)
        if takes != use.given:
            arguments, are = ("argument" if takes == 1 else "arguments"), ("is" if use.given == 1 else "are")
            words = f"`{use.name}` takes {takes} {arguments}, and {use.given} {are} given here."
            calls.append(("comment", {"path": use.path, "line": use.line, "text": words, "severity": "high"}))
    return _numbered([*calls, ("finish", {})], 1 + len(looked))


def _uses(diff: str) -> Iterator[_Use]:
    """The plain calls on the added lines of a diff; what stands in backticks is said, not called."""
    path, number = "", 0
    for row in diff.split("\n"):
        if row.startswith("+++ "):
            path = row[4:].removeprefix("b/")
        elif hunk := _HUNK.match(row):
            number = int(hunk[1]) - 1
        elif not row.startswith(("-", "\\")):
            number += 1
            for name, given in _CALL.findall(row) if row.startswith("+") and "def " not in row else ():
                if "=" not in given and "*" not in given:
                    yield _Use(path, number, name, len([part for part in given.split(",") if part.strip()]))


def _takes(text: str, name: str) -> int | None:
    """The number of arguments that the definition in an answer of the tool takes; None where that is not plain."""
    found = re.search(rf"def {re.escape(name)}\(([^()]{{0,300}})\)", text)
    if found is None:
        return None
    parts = [part.strip() for part in found[1].split(",") if part.strip()]
    if any(not _PLAIN.fullmatch(part) for part in parts):
        return None
    return len([part for part in parts if part not in ("self", "cls")])


def _numbered(calls: list[tuple[str, dict[str, object]]], first: int) -> tuple[ToolCall, ...]:
    """The calls with ids that no earlier one has."""
    return tuple(
        ToolCall(id=f"call_fake_{number}", name=name, arguments=json.dumps(arguments))
        for number, (name, arguments) in enumerate(calls, first)
    )
