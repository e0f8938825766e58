"""Exchange two neighbouring arguments of a call that are of one kind.

Source: ours; "argument selection defects" (Rice et al., "Detecting argument selection defects", OOPSLA 2017).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import RequiredContext, Severity
from reviewgauge.operators.code.names import Parameter, parameters
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee, nodes_of
from reviewgauge.operators.code.sentences import quoted, tell
from reviewgauge.operators.code.variables import variables
from reviewgauge.repo.syntax.tree import Node

_EITHER_WAY = re.compile(  # callees that take both orders, or whose order everybody knows
    r"(?i).*(?:same|equal|overlap|intersect|distance).*|_?(?:max|min|add|sum|plus|eq|is_?close|hypot|gcd|union|merge|zip"
    r"|chain|all|race|isinstance|issubclass|[gs]et_?attr|hasattr|push|append|extend|format|concat|set|tuple|list|join"
    r"|gather|and|or|xor)_?"
)
_TYPED = ("typescript", "java", "go", "rust")


@dataclass(frozen=True)
class SwappedArguments(Operator):
    """A call gets two arguments in the wrong order."""

    severity: ClassVar[Severity] = Severity.HIGH
    needs: ClassVar[RequiredContext] = RequiredContext.REPO

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for call in code.nodes("call"):
            arguments = call.get("arguments")
            name = re.split(r"\W+", callee(call))[-1]
            if arguments is None or len(arguments.parts) < 2 or not name or _EITHER_WAY.fullmatch(name[:200]):
                continue
            taken = _taken(code, name, len(arguments.parts))
            for place, (one, two) in enumerate(pairwise(arguments.parts)):
                here = taken[place : place + 2]
                if _alike(code, one, two, here):
                    edits = (Edit(one.start, one.end, two.text), Edit(two.start, two.end, one.text))
                    by_name = place + 2 == len(arguments.parts) and code.tree.grammar == "python"
                    yield Plant(edits, _told(call, one, two, here), _by_name(one, two, here) if by_name else ())
                    break


def _taken(code: Code, name: str, count: int) -> list[Parameter]:
    """What the function of that name takes, in this file or another; none where it is unknown or there are several."""
    found = [
        parameters(node)
        for tree in (code.tree, *code.others(name))
        for node in nodes_of(tree, "function")
        if (named := node.get("name")) is not None and named.text == name
    ]
    return found[0] if len(found) == 1 and len(found[0]) >= count else []


def _alike(code: Code, one: Node, two: Node, taken: list[Parameter]) -> bool:
    """Whether a compiler takes both orders and a reader sees no difference at a glance."""
    if one.text == two.text or one.kind != two.kind or not (code.is_a(one, "name") or code.is_a(one, "member")):
        return False
    lines = range(code.tree.line(one.start), code.tree.line(two.end) + 1)
    if not code.added.issuperset(lines) or "\n" in one.text + two.text:
        return False
    if taken and taken[0].type != taken[1].type:
        return False
    function = code.around(one, "function")
    known = variables(code, function) if function is not None else {}
    types = [known[node.text].type if node.text in known else "" for node in (one, two)]
    if types[0] != types[1]:
        return False
    if code.tree.grammar in _TYPED:
        return bool(types[0]) or (bool(taken) and bool(taken[0].type) and code.tree.grammar != "rust")
    return bool(taken) or all(node.text in known for node in (one, two))


def _told(call: Node, one: Node, two: Node, taken: list[Parameter]) -> str:
    values = {"name": quoted(callee(call)), "one": quoted(one), "two": quoted(two)}
    if not taken:
        return tell("swapped_arguments", "unknown", **values)
    first, second = (quoted(each.name.text) for each in taken)
    return tell("swapped_arguments", "known", first=first, second=second, **values)


def _by_name(one: Node, two: Node, taken: list[Parameter]) -> tuple[Edit, ...]:
    """The same two arguments by name and in the other order."""
    if not taken:
        return ()
    first, second = (each.name.text for each in taken)
    return (Edit(one.start, one.end, f"{second}={two.text}"), Edit(two.start, two.end, f"{first}={one.text}"))
