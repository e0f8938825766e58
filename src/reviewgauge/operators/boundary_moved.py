"""Move the bound of a comparison by one: `<` for `<=` and the like.

Source: ours; "relational operator replacement" of mutation testing (Offutt et al., TOSEM 1996), only where it moves a
bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import Severity
from reviewgauge.operators.code.conditions import mirrored, operator_of
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant
from reviewgauge.operators.code.sentences import does, quoted, statements, tell
from reviewgauge.repo.syntax.tree import Node

_MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_PLAIN = {"does": "do", "goes": "go"}
_LENGTH = re.compile(r"(?i)(?:\blen\(.*\)|\.(?:length|size|count|len)(?:\(\))?|len|length|size|count)$")
# values that are almost never equal, and bounds where one more or less does no harm
_VAGUE = re.compile(
    r"\d\.\d|\b(?:time|clock|random|now|elapsed|deadline|monotonic|perf_counter|Date)\b|NaN|(?i:timeout|buf|capacity|\bcap\("
    r"|chunk|warn|threshold)| & |indexOf"
)


@dataclass(frozen=True)
class BoundaryMoved(Operator):
    """A comparison of order between two values lets one value more through, or one less."""

    severity: ClassVar[Severity] = Severity.HIGH

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in code.nodes("comparison"):
            sign = operator_of(node)
            if sign is None or sign.text not in _MOVED or not code.adds(node):
                continue
            left, right = node.parts
            if code.around(node, "function") is None or _VAGUE.search(node.text):
                continue
            if _is_always_so(left, right) or _keeps_best(code, node):
                continue
            moved = _MOVED[sign.text]
            middle = node.source[left.end : right.start].decode()
            plain = not any("\n" in one or "#" in one or "//" in one for one in (left.text, middle, right.text))
            plain = plain and not any(_is_literal(code, one) for one in node.parts)
            safe = (mirrored(node, sign),)
            fits = plain and not _tested_by(code, node, "loop")
            yield Plant((Edit(sign.start, sign.end, moved),), _told(code, node, moved), safe if fits else ())


def _is_literal(code: Code, node: Node) -> bool:
    """Whether it is a literal, which authors write on the right."""
    literals = ("unary_operator", "unary_expression", "character_literal", "rune_literal", "char_literal")
    return code.is_a(node, "number") or code.is_a(node, "string") or node.kind in literals


def _is_always_so(left: Node, right: Node) -> bool:
    """Whether a bound moved there can never or must always be met: `len(x) >= 0`, `len(x) < 0`."""
    if right.text == "0":
        return _LENGTH.search(left.text[-200:]) is not None
    return left.text == "0" and _LENGTH.search(right.text[-200:]) is not None


def _keeps_best(code: Code, node: Node) -> bool:
    """Whether the smaller or larger of two is kept, `if a < b: b = a`: which of two equals is all the same."""
    branch = _tested_by(code, node, "if")
    left, right = (one.text for one in node.parts)
    held = branch.get("consequence") if branch is not None else None
    lines = [line.text.rstrip(";") for line in statements(code, held)]
    return f"{left} = {right}" in lines or f"{right} = {left}" in lines


def _told(code: Code, node: Node, moved: str) -> str:
    left, right = node.parts
    way = "more" if "=" in moved else "less"
    values = {"wrong": quoted(f"{left.text} {moved} {right.text}"), "left": quoted(left), "right": quoted(right)}
    if _tested_by(code, node, "loop") is not None:
        return tell("boundary_moved", f"loop_{way}", **values)
    branch = _tested_by(code, node, "if")
    if branch is None:
        return tell("boundary_moved", way, **values)
    deed = does(code, branch.get("consequence"))
    return tell("boundary_moved", f"if_{way}", deed=deed if way == "more" else _plain(deed), **values)


def _plain(deed: str) -> str:
    """A deed after "does not": "return `None`" for "returns `None`"."""
    verb, _, rest = deed.partition(" ")
    return f"{_PLAIN.get(verb, verb.removesuffix('s'))} {rest}".strip()


def _tested_by(code: Code, node: Node, role: str) -> Node | None:
    """The statement of a role in whose condition a node stands."""
    for one in (node, *node.above()):
        if one.field == "condition" and one.parent is not None:
            held = one.parent if one.parent.kind != "for_clause" else one.parent.parent
            return held if code.is_a(held, role) else None
        if role == "loop" and one.parent is not None and one.parent.kind == "for_statement" and one.field != "body":
            return one.parent
        if code.is_a(one, "function"):
            return None
    return None
