"""The parameters and locals of a function, with what is known of their types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reviewgauge.operators.code.names import mentions, parameters
from reviewgauge.operators.code.operator import Code, callee
from reviewgauge.repo.syntax.tree import Node

_DECLARES = {  # the node of a declaration: the fields of its name and value
    "assignment": ("left", "right"),
    "variable_declarator": ("name", "value"),
    "short_var_declaration": ("left", "right"),
    "var_spec": ("name", "value"),
    "let_declaration": ("pattern", "value"),
}
_LITERALS = ("string", "number")
_VAGUE = ("var", "any", "unknown", "Any", "object", "Object", "t.Any", "interface{}")


@dataclass(frozen=True, eq=False)
class Variable:
    """A parameter or local. `type` is as written or as its first value shows; empty where neither says."""

    name: str
    kind: str
    type: str
    declared: Node
    scope: Node
    """Where it holds: the block of its declaration, or the function."""

    def holds_at(self, node: Node) -> bool:
        """Whether a node can use it."""
        return self.scope.start <= node.start and node.end <= self.scope.end and self.declared.end <= node.start


def variables(code: Code, function: Node) -> dict[str, Variable]:
    """The variables of a function by name, not of the functions within; a name declared twice is left out."""
    found: dict[str, Variable | None] = {}
    for one in parameters(function):
        vague = one.type in _VAGUE or "..." in one.type
        found[one.name.text] = Variable(one.name.text, "parameter", "" if vague else one.type, one.name, function)
    for node in function.walk():
        if node.kind in _DECLARES and code.around(node, "function") is function:
            for new in _declared(code, function, node):
                if code.tree.grammar == "python" and found.get(new.name):
                    continue  # assigned once more
                found[new.name] = None if new.name in found else new
    return {name: one for name, one in found.items() if one is not None}


def _declared(code: Code, function: Node, node: Node) -> Iterator[Variable]:
    name_field, value_field = _DECLARES[node.kind]
    names = [one for one in node.children if one.field == name_field]
    if names and names[0].kind == "expression_list":
        names = names[0].parts
    scope = next((one for one in node.above() if code.is_a(one, "block") or code.is_a(one, "loop")), function)
    kind = "counter" if code.is_a(scope, "loop") else "local"
    if code.tree.grammar == "python":
        scope = scope if any(code.is_a(one, "if") or code.is_a(one, "try") for one in scope.above()) else function
    written = node.get("type") or (node.parent.get("type") if node.parent is not None else None)
    value = node.get(value_field)
    for place, name in enumerate(names):
        if name.kind == "identifier" and name.text != "_":
            text = written.text.removeprefix(":").strip() if written is not None else ""
            if not text or text in _VAGUE:
                text = _type_of(code, value, place if len(names) > 1 else -1)
            yield Variable(name.text, kind, text, name, scope)


def _type_of(code: Code, value: Node | None, place: int) -> str:
    """What a value shows of its type: the kind of literal, or the function that made it (and which of its results)."""
    if value is not None and value.kind == "expression_list" and len(value.parts) == 1:
        value = value.parts[0]
    if value is not None and value.kind in ("await", "await_expression", "try_expression") and value.parts:
        value = value.parts[0]
    if value is None:
        return ""
    for literal in _LITERALS:
        if code.is_a(value, literal):
            return literal
    if value.kind == "unary_expression" and value.text.startswith("+"):
        return "number"
    if code.is_a(value, "call"):
        if callee(value) in ("make", "new") and code.tree.grammar == "go":
            return value.parts[1].parts[0].text  # `make([]*Flag, n)`
        return f"{callee(value).rpartition('.')[2]}() {max(place, 0)}"
    return ""


def reads(code: Code, function: Node, variable: Variable) -> list[Node]:
    """Where a function reads a variable: not where it is set, nor within functions of its own."""
    return [
        one
        for one in mentions(function, variable.name)
        if one.kind == "identifier" and variable.holds_at(one) and code.around(one, "function") is function
        if not _is_target(one)
    ]


def _is_target(node: Node) -> bool:
    """Whether a name is set here, or stands for itself: `{ name }`, `println!("{}", name)`."""
    held = node.parent
    if held is None or held.kind in _OTHER_USES:
        return True
    if node.field in ("left", "name", "pattern", "key", "parameter", "alias"):
        return held.kind not in ("binary_expression", "comparison_operator", "boolean_operator")
    return held.kind in ("expression_list", "pattern_list", "tuple_pattern") and held.field == "left"


_OTHER_USES = ("shorthand_field_initializer", "update_expression", "inc_statement", "dec_statement", "token_tree")
