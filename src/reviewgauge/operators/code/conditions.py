"""Conditions: what they ask, how they read the other way round, and what they guard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reviewgauge.operators.code.operator import Code, Edit
from reviewgauge.operators.code.sentences import edited
from reviewgauge.repo.syntax.tree import Node

_PAIRS = {"==": "!=", "===": "!==", "is": "is not", "in": "not in", "<": ">=", "<=": ">"}
_OPPOSITE = _PAIRS | {two: one for one, two in _PAIRS.items()}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ORDER = frozenset({"<", "<=", ">", ">="})
_RUST_OPPOSITE = {"is_none": "is_some", "is_some": "is_none", "is_ok": "is_err", "is_err": "is_ok"}
BOTH = frozenset({"and", "&&"})
EITHER = frozenset({"or", "||"})


@dataclass(frozen=True, eq=False)
class If:
    """An `if` and its parts, without the parentheses around the condition."""

    node: Node
    condition: Node
    then: Node
    otherwise: Node | None

    @property
    def chained(self) -> bool:
        """Whether it is part of a chain of `else if`."""
        before = self.node.parent
        links = ("else_clause", "elif_clause", "if_statement")
        others = [] if self.otherwise is None else [self.otherwise, *self.otherwise.parts[:1]]
        return (
            self.node.kind == "elif_clause"
            or (before is not None and before.kind in links and self.node.field in ("alternative", ""))
            or any(one.kind in ("elif_clause", "if_statement", "if_expression") for one in others)
        )


def ifs(code: Code) -> Iterator[If]:
    """Every `if` of a function whose condition lies in added lines."""
    for node in code.nodes("if"):
        condition, then = node.get("condition"), node.get("consequence")
        if condition is None or then is None or code.around(node, "function") is None:
            continue
        condition = bare(condition)
        if code.adds(condition):
            yield If(node, condition, then, node.get("alternative"))


def bare(node: Node) -> Node:
    """An expression without parentheses around it."""
    while node.kind == "parenthesized_expression" and len(node.parts) == 1:
        node = node.parts[0]
    return node


def operator_of(node: Node) -> Node | None:
    """The sign or word between the two parts of an expression: `<`, `and`, `is not`."""
    if len(node.parts) != 2:
        return None
    return next((child for child in node.children if not child.named and child.text not in ("(", ")")), None)


def mirrored(node: Node, sign: Node) -> Edit:
    """A comparison with its sides exchanged, which says the same."""
    left, right = node.parts
    middle = node.source[left.end : right.start].decode().replace(sign.text, _MIRRORED.get(sign.text, sign.text))
    return Edit(node.start, node.end, f"{right.text}{middle}{left.text}")


def operands(code: Code, node: Node, words: frozenset[str]) -> list[Node]:
    """The operands of a chain of one operator, `a and b and c`; the node alone where it is none."""
    sign = operator_of(node) if code.is_a(node, "both") else None
    if sign is None or sign.text not in words:
        return [node]
    return [one for part in node.parts for one in operands(code, part, words)]


def opposite(code: Code, node: Node) -> str | None:
    """The condition that holds when this one does not, as its author would write it; None where that reads oddly."""
    if code.is_a(node, "comparison") and (sign := operator_of(node)):
        left, right = node.parts
        if sign.text not in _OPPOSITE or (sign.text == "in" and code.tree.grammar != "python"):
            return None
        if sign.text in _ORDER and ("0" in (left.text, right.text) or code.is_a(node.parent, "both")):
            return None  # `len(x) <= 0` and `a < 1 or a < 9` stand out
        return edited(node, Edit(sign.start, sign.end, _OPPOSITE[sign.text]))
    if code.is_a(node, "not") and node.children[0].text in ("not", "!"):
        inner = bare(node.parts[0])
        return inner.text if code.is_a(inner, "value") else None
    if code.is_a(node, "value"):
        return _opposite_value(code, node)
    return None


def _opposite_value(code: Code, node: Node) -> str:
    if code.tree.grammar == "rust" and node.kind == "call_expression":
        name = node.parts[0].get("field")
        if name is not None and name.text in _RUST_OPPOSITE:
            return f"{node.text[: name.start - node.start]}{_RUST_OPPOSITE[name.text]}()"
    return f"not {node.text}" if code.tree.grammar == "python" else f"!{node.text}"
