"""Build a query or a command from text: SQL and shell injection.

Source: ours; CWE-89 and CWE-78.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import Severity
from reviewgauge.operators.code.names import says
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee
from reviewgauge.operators.code.sentences import quoted, tell
from reviewgauge.repo.syntax.tree import Node

_HOLE = re.compile(r"\?|%s|\$\d+")
_NAME = re.compile(r"[\w.]+(?:\[\w+\])?")
_SPECIAL = re.compile(r"[\s{}\\$*;&|<>()'\"]")
_ODD = re.compile(r"'(?:\?|%s)|(?:limit|offset)\s+[?%$]", re.IGNORECASE)  # quoted already, or a number
_LISTS = frozenset({"list", "tuple", "array"})


@dataclass(frozen=True)
class QueryFromString(Operator):
    """Values that come from elsewhere are put into the text of a query or of a shell command."""

    category: ClassVar[str] = "security"
    severity: ClassVar[Severity] = Severity.CRITICAL
    languages: ClassVar[Sequence[str]] = ("python", "javascript", "typescript", "go")

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in code.nodes("call"):
            held = node.get("arguments")
            if held is None or len(held.parts) == 0 or not code.adds(held):
                continue
            if says("query", "call", callee(node)):
                yield from _query(code, node, held)
            if code.tree.grammar == "python" and says("query", "command", callee(node)):
                yield from _command(code, held)


def _query(code: Code, node: Node, held: Node) -> Iterator[Plant]:
    """A query with holes, and the values for them as arguments of their own."""
    at = next((place for place, one in enumerate(held.parts) if code.is_a(one, "string")), None)
    if at is None or at > 1 or at + 1 >= len(held.parts):
        return
    query, rest = held.parts[at], held.parts[at + 1 :]
    given = rest[0].parts if rest[0].kind in _LISTS else rest
    if code.tree.grammar != "go" and (rest[0].kind not in _LISTS or len(rest) > 1):
        return
    text, values = query.text, [one.text for one in given]
    if not says("query", "sql", text) or len(_HOLE.findall(text)) != len(values):
        return
    if not values or not all(_NAME.fullmatch(one) for one in values):
        return
    made = _text(code, text, values)
    if made:
        shown = quoted(", ".join(dict.fromkeys(values)))
        body = tell("query_from_string", "sql", values=shown, made=quoted(made), call=callee(node))
        safe = (Edit(rest[0].start, rest[0].end, f"[{', '.join(values)}]"),) if rest[0].kind == "tuple" else ()
        yield Plant((Edit(query.start, rest[-1].end, made),), body, safe)


def _text(code: Code, text: str, values: Sequence[str]) -> str:
    """The text of a query with the values in it; empty where it cannot be written so."""
    start, inside, end = _parts(text)
    numbers = [hole for hole in _HOLE.findall(inside) if hole[0] == "$"]
    if not start or _ODD.search(inside) or numbers != [f"${place}" for place in range(1, len(numbers) + 1)]:
        return ""
    if code.tree.grammar == "go":
        if not re.search(r'"fmt"', code.tree.source.decode()) or "%" in inside:
            return ""
        return f"fmt.Sprintf({start}{_HOLE.sub(chr(39) + '%v' + chr(39), inside)}{end}, {', '.join(values)})"
    left = iter(values)
    filled = _HOLE.sub(lambda _: f"'{'' if code.tree.grammar == 'python' else '$'}{{{next(left)}}}'", inside)
    if code.tree.grammar == "python":
        if start.lower() not in ('"', '"""') or "{" in inside:
            return ""
        return f"f{start}{filled}{end}"
    if "`" in inside or "${" in inside:
        return ""
    return f"`{filled}`"


def _parts(text: str) -> tuple[str, str, str]:
    """A literal's opening, what it holds, and its end."""
    found = re.fullmatch(r'("""|"|\'|`)(.*)\1', text, re.DOTALL)
    return (found[1], found[2], found[1]) if found else ("", "", "")


def _command(code: Code, held: Node) -> Iterator[Plant]:
    """A list of arguments for a program, in Python: as one line for a shell."""
    first, words = held.parts[0], []
    if first.kind != "list" or any(one.text.startswith("shell=") for one in held.parts):
        return
    for one in first.parts:
        literal = _parts(one.text)[1]
        is_name = _NAME.fullmatch(one.text) is not None and not code.is_a(one, "number")
        if not is_name and (not literal or _SPECIAL.search(literal)):
            return
        words.append(f"{{{one.text}}}" if is_name else literal)
    free = [word.strip("{}") for word in words if word.startswith("{")]
    if free and not words[0].startswith("{"):
        made = f'f"{" ".join(words)}"'
        body = tell("query_from_string", "command", value=free[0], made=quoted(made))
        safe = (Edit(first.end, first.end, ", shell=False"),)
        yield Plant((Edit(first.start, first.end, f"{made}, shell=True"),), body, safe)
