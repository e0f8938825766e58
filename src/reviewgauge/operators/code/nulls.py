"""Tests for null (`None`, `null`, `undefined`, `nil`), and uses that fail on it."""

from __future__ import annotations

import re
from typing import NamedTuple

from reviewgauge.operators.code.conditions import bare, operator_of
from reviewgauge.operators.code.names import parameters
from reviewgauge.operators.code.operator import Code
from reviewgauge.repo.syntax.tree import Node

_IS = frozenset({"is", "==", "==="})
_IS_NOT = frozenset({"is not", "!=", "!=="})
_NULLS = frozenset({"None", "null", "undefined", "nil"})
_OPTIONAL = re.compile(r"\b(?:None|Optional|null|undefined)\b")
_MAY_FAIL = re.compile(r"(?:^|\.)(?:get|pop|match|search|fullmatch|find|getenv|querySelector|getElementById|exec)$")


class NullTest(NamedTuple):
    """A test of `subject`: it holds when that is null, or when it is not. `plain`: for truth and not against null."""

    subject: Node
    holds_on_null: bool
    plain: bool


def null_test(code: Code, node: Node) -> NullTest | None:
    """The test for null that an expression is; None for another."""
    node = bare(node)
    if code.is_a(node, "comparison") and (sign := operator_of(node)):
        left, right = node.parts
        if right.text in _NULLS and sign.text in _IS | _IS_NOT and _is_place(code, left):
            return NullTest(left, sign.text in _IS, False)
        return None
    turned = code.is_a(node, "not") and node.children[0].text in ("not", "!")
    subject = bare(node.parts[0]) if turned else node
    if _is_place(code, subject) and code.tree.grammar in ("python", "javascript", "typescript"):
        return NullTest(subject, turned, True)
    return None


def may_be_null(code: Code, subject: Node) -> str:
    """Why a value may be null, to be said after "when"; empty where the code does not say."""
    function = code.around(subject, "function")
    if function is None:
        return ""
    missing = null_word(code)
    for one in parameters(function):
        if one.name.text == subject.text and one.default is not None and one.default.text == missing:
            return f"it is left at its default `{missing}`"
        if one.name.text == subject.text and _OPTIONAL.search(one.type):
            return f"the caller passes `{missing}`"
    for node in function.walk():
        if node.end < subject.start and node.kind in ("assignment", "variable_declarator", "assignment_expression"):
            name, value = node.get("left") or node.get("name"), node.get("right") or node.get("value")
            called = value.get("function") if value is not None and code.is_a(value, "call") else None
            if name is not None and name.text == subject.text and called and _MAY_FAIL.search(called.text):
                return f"`{called.text}` finds nothing"
    return ""


def null_word(code: Code) -> str:
    """What a language calls it."""
    return {"python": "None", "go": "nil", "java": "null"}.get(code.tree.grammar, "undefined")


def failing_use(code: Code, subject: Node, start: int, end: int) -> Node | None:
    """The first mention of a value between two bytes, if that is a use which fails on null: `x.y`, `x[0]`, `x()`."""
    scope = code.around(subject, "function") or code.tree.root
    for node in scope.walk():
        if start <= node.start and node.end <= end and node.text == subject.text and node.kind == subject.kind:
            above = node.parent
            takes = above is not None and above.children[0] is node and code.is_a(above, "failing")
            return above if takes and above is not None and _fails(above) else None
    return None


def _fails(use: Node) -> bool:
    """Whether a use is made in any case and is plain: `x?.y` does not fail on null."""
    chosen = any("conditional" in one.kind or "ternary" in one.kind for one in use.above())
    return not chosen and not any(child.kind == "optional_chain" for child in use.children)


def _is_place(code: Code, node: Node) -> bool:
    """Whether it is a name or a field: calls may answer anew each time."""
    return code.is_a(node, "name") or code.is_a(node, "member")
