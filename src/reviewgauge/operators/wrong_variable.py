"""Use another variable of the same kind: `end` for `start`.

Source: ours; "variable misuse" (Allamanis et al., "Learning to represent programs with graphs", ICLR 2018), only
between variables of one type that are used in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import RequiredContext, Severity
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee, is_arid, nodes_of
from reviewgauge.operators.code.sentences import edited, quoted, tell
from reviewgauge.operators.code.variables import Variable, reads, variables
from reviewgauge.repo.syntax.tree import Node

_TYPED = ("typescript", "java", "go", "rust")
_COPIED = re.compile(r"&(?!mut)\S.*|[iu](?:8|16|32|64|128|size)|f32|f64|bool|char|number|len\(\) 0")
_OPTIONAL = re.compile(r"\||\?|\b(?:undefined|null|Optional)\b")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


@dataclass(frozen=True)
class WrongVariable(Operator):
    """A name stands where another of the same kind belongs."""

    severity: ClassVar[Severity] = Severity.HIGH
    needs: ClassVar[RequiredContext] = RequiredContext.FILE

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for function in nodes_of(code.tree, "function"):
            lines = range(code.tree.line(function.start), code.tree.line(function.end) + 1)
            if not code.added.isdisjoint(lines):
                yield from sorted(_in_function(code, function))


def _in_function(code: Code, function: Node) -> Iterator[Plant]:
    known = variables(code, function)
    uses = {name: reads(code, function, one) for name, one in known.items()}
    for name, one in known.items():
        if len(uses[name]) < 2:
            continue  # it would be unused
        for use in reversed(uses[name]):
            other = next((two for two in known.values() if _fits(code, use, one, two, uses)), None)
            line = code.tree.line(use.start)
            if other is not None and line in code.added and not is_arid(code.tree, use):
                yield Plant((Edit(use.start, use.end, other.name),), _told(code, use, one, other))
                break


def _fits(code: Code, use: Node, one: Variable, two: Variable, uses: dict[str, list[Node]]) -> bool:
    """Whether a use of one variable could as well be of the other, for the compiler and for the eye."""
    if one.name == two.name or one.kind != two.kind or not two.holds_at(use) or not uses[two.name]:
        return False
    grammar = code.tree.grammar
    if one.type != two.type or (grammar in _TYPED and not one.type):
        return False
    if grammar == "rust" and not _COPIED.fullmatch(one.type):
        return False
    if grammar == "typescript" and _OPTIONAL.search(one.type):
        return False
    if _line(code, use).count(two.name) or _is_alias(two, one) or _is_alias(one, two):
        return False
    alike = set(_WORDS.findall(one.name[:200])) & set(_WORDS.findall(two.name[:200]))
    return bool(alike) or bool({_role(code, use)} & {_role(code, other) for other in uses[two.name]})


def _line(code: Code, node: Node) -> str:
    start = code.tree.line_start(node.start)
    return code.tree.source[start:].partition(b"\n")[0].decode()


def _is_alias(one: Variable, two: Variable) -> bool:
    """Whether one begins as the other."""
    held = one.declared.parent
    return held is not None and re.search(rf"=\s*{re.escape(two.name)}\b", held.text) is not None


def _role(code: Code, use: Node) -> tuple[str, ...]:
    """How a value is used: which field is taken of it, which argument of which call it is, beside which sign."""
    held = use.parent
    if held is None:
        return ()
    if code.is_a(held, "arguments") and held.parent is not None:
        return ("argument", callee(held.parent), str(held.parts.index(use)))
    if code.is_a(held, "member") or (code.is_a(held, "call") and held.get("object") is use):
        last = held.get("name") or held.parts[-1]
        return ("of", last.text)
    if held.kind in ("subscript", "subscript_expression", "index_expression", "array_access"):
        return ("index", str(held.parts.index(use)))
    if code.is_a(held, "comparison"):
        return ("compared", str(held.parts.index(use)), held.parts[1 - held.parts.index(use)].text)
    return (held.kind, use.field)


def _told(code: Code, use: Node, one: Variable, other: Variable) -> str:
    held = use.parent
    if held is not None and held.kind == "expression_list":
        held = held.parent
    values = {"wrong": quoted(other.name), "right": quoted(one.name)}
    if held is not None and code.is_a(held, "arguments") and held.parent is not None:
        return tell("wrong_variable", "argument", call=quoted(callee(held.parent)), **values)
    if code.is_a(held, "return"):
        return tell("wrong_variable", "returned", **values)
    around = _around(code, use)
    if around is use:
        return tell("wrong_variable", "alone", **values)
    shown = edited(around, Edit(use.start, use.end, other.name))
    return tell("wrong_variable", "within", shown=quoted(shown), **values)


def _around(code: Code, use: Node) -> Node:
    """The expression to show: the use with what is taken of it, or compared with it."""
    held = use.parent
    while held is not None and held.parent is not None and code.is_a(held, "member") and code.is_a(held.parent, "call"):
        held = held.parent
    return held if held is not None and "\n" not in held.text and len(held.text) < 60 else use
