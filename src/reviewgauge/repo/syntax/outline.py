"""What the nodes of a syntax tree say: functions and parameters, conditions, calls, assignments, returns, errors.

Runs in the parsing process, so it imports nothing but the standard library and the grammars. A fact goes out as [kind,
first row, last row, first byte, last byte, name, text, scope, details]; rows count from 0. The rows are those of the
part that the fact is about: a function's head, a condition's expression. `text` is in one line, at most LONGEST
characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from reviewgauge.repo.syntax.grammars import Grammar

Node = Any
Fact = list[Any]
MOST = 4000  # facts of a source
MOST_NODES = 200_000
LONGEST = 400  # characters of a text
_DEEP = 20  # steps from a declarator to its name

_CONDITIONS = {
    "if_statement": "if", "elif_clause": "elif", "if_expression": "if", "if": "if", "elsif": "elsif",
    "unless": "unless", "if_modifier": "if", "unless_modifier": "unless", "else_if_clause": "elseif",
    "conditional_expression": "?:", "ternary_expression": "?:", "conditional": "?:", "if_guard": "if",
    "while_statement": "while", "while_expression": "while", "do_statement": "while", "while": "while",
    "until": "until", "while_modifier": "while", "until_modifier": "until", "assert_statement": "assert",
    "if_clause": "if", "switch_statement": "switch", "switch_expression": "switch", "match_expression": "match",
    "expression_switch_statement": "switch", "match_statement": "match",
}  # fmt: skip
_LOOPS = frozenset(
    """
    for_statement enhanced_for_statement for_in_statement for_range_loop foreach_statement for_expression for
    for_in_clause
    """.split()  # noqa: SIM905
)
_CALLS = {
    "call": "function method", "call_expression": "function", "method_invocation": "name",
    "object_creation_expression": "type", "new_expression": "constructor type", "invocation_expression": "function",
    "function_call_expression": "function", "member_call_expression": "name", "scoped_call_expression": "name",
    "nullsafe_member_call_expression": "name", "macro_invocation": "macro", "explicit_constructor_invocation":
    "constructor",
}  # fmt: skip
_OWNED = frozenset(("call", "method_invocation", "member_call_expression", "scoped_call_expression"))
_NO_VALUES = frozenset(
    """
    arrow_function function_expression generator_function lambda func_literal lambda_expression closure_expression
    anonymous_function
    """.split()  # noqa: SIM905
)
_NO_PARAMETERS = frozenset(
    ("comment", "line_comment", "block_comment", "ERROR", "positional_separator", "keyword_separator")
)
_ASSIGNMENTS = {
    "assignment": "left right", "assignment_expression": "left right", "augmented_assignment": "left right",
    "operator_assignment": "left right", "augmented_assignment_expression": "left right",
    "compound_assignment_expr": "left right", "variable_declarator": "name value",
    "init_declarator": "declarator value",
    "short_var_declaration": "left right", "assignment_statement": "left right", "let_declaration": "pattern value",
    "var_spec": "name value", "const_spec": "name value", "const_item": "name value", "static_item": "name value",
    "field_definition": "property value", "public_field_definition": "name value", "property_element": "name "
    "default_value", "preproc_def": "name value", "property_signature": "name value", "named_expression": "name value",
}  # fmt: skip
_DECLARING = frozenset(
    """
    variable_declarator init_declarator short_var_declaration let_declaration var_spec const_spec const_item static_item
    field_definition public_field_definition property_element preproc_def field_declaration property_signature
    """.split()  # noqa: SIM905
)
_WHOLE = frozenset(("assignment", "public_field_definition", "field_definition", "var_spec", "property_signature"))
_ENTRIES = {"pair": "key value", "keyed_element": "key value"}
_RETURNS = frozenset(
    """
    return_statement return_expression return yield_statement yield yield_expression
    """.split()  # noqa: SIM905
)
_RAISES = frozenset(
    """
    raise_statement throw_statement throw_expression
    """.split()  # noqa: SIM905
)
_HANDLERS = frozenset(
    """
    except_clause except_group_clause catch_clause rescue finally_clause ensure try_statement
    try_with_resources_statement
    """.split()  # noqa: SIM905
)
_IMPORTS = frozenset(
    """
    import_statement import_from_statement future_import_statement import_declaration import_spec preproc_include
    using_directive using_declaration use_declaration namespace_use_declaration package_declaration
    """.split()  # noqa: SIM905
)
_ATTRIBUTES = frozenset(
    """
    decorator marker_annotation annotation attribute_item attribute_list
    """.split()  # noqa: SIM905
)
_NUMBER = re.compile(r"(?:.*_)?(?:integer|float|number)(?:_literal)?|int_literal|imaginary_literal|float_literal")
_REQUIRES = frozenset(
    """
    require require_relative include_once require_once load
    """.split()  # noqa: SIM905
)
_ANNOTATIONS = re.compile(r"^(?:(?:@[\w.]+(?:\([^()]*\))?|\[[^\[\]]*\])\s+)+")
_WRAPPED = re.compile(r"\((.*)\)", re.DOTALL)


def outline(root: Node, grammar: Grammar) -> list[Fact]:
    """The facts of a tree, outer before inner, in the order of the source."""
    found: list[Fact] = []
    for node, scope in _walk(root, grammar):
        found += _facts(node, scope, grammar)
        if len(found) >= MOST:
            break
    return found[:MOST]


def _walk(root: Node, grammar: Grammar) -> Iterator[tuple[Node, str]]:
    """The named nodes with the name of the definition around each."""
    stack: list[tuple[Node, str]] = [(root, "")]
    seen = 0
    while stack and seen < MOST_NODES:
        node, scope = stack.pop()
        seen += 1
        yield node, scope
        inner = scope
        if grammar.roles.get(node.type) is not None:
            name = definition_name(node)
            inner = (f"{scope}{grammar.joint}{name}" if scope else name) if name else scope
        stack += [(child, inner) for child in reversed(node.named_children)]


def _first(node: Node, fields: str) -> Node | None:
    """The first child that one of some fields holds."""
    return next((found for f in fields.split() if (found := node.child_by_field_name(f)) is not None), None)


def definition_name(node: Node) -> str:
    """The name of a function or class; of a closure, the variable that it is given to; empty without one."""
    own = node.child_by_field_name("name")
    if own is None and node.type in ("function_definition", "preproc_function_def"):
        own = _innermost(node.child_by_field_name("declarator"))
    if own is None and node.parent is not None:
        for field in ("name", "left", "key", "property", "pattern"):
            parent = node.parent
            value = parent.child_by_field_name("value") or parent.child_by_field_name("right")
            if value == node and (named := parent.child_by_field_name(field)) is not None:
                return flat(named)
    return flat(own)


def flat(node: Node | None) -> str:
    """The text of a node in one line."""
    if node is None or node.text is None:
        return ""
    return " ".join(node.text[: 4 * LONGEST].decode("utf-8", "replace").replace("\x00", " ").split())[:LONGEST]


def _innermost(node: Node | None) -> Node | None:
    for _ in range(_DEEP):
        inner = None if node is None else node.child_by_field_name("declarator")
        if inner is None and node is not None and node.type in ("parenthesized_declarator", "reference_declarator"):
            inner = node.named_child(0)
        if inner is None:
            break
        node = inner
    return node


def _fact(kind: str, node: Node, scope: str, name: str = "", text: str | None = None) -> Fact:
    last = node.end_point.row - (node.end_point.column == 0 and node.end_point.row > node.start_point.row)
    shown = flat(node).rstrip(";") if text is None else text
    return [kind, node.start_point.row, last, node.start_byte, node.end_byte, name, shown, scope, []]


def _facts(node: Node, scope: str, grammar: Grammar) -> Iterator[Fact]:
    kind = node.type
    role = grammar.roles.get(kind)
    if role is not None:
        yield from _definition(node, scope, grammar, role)
    if kind in _CONDITIONS:
        yield from _condition(node, scope)
    elif kind in _CALLS:
        yield from _call(node, scope)
    elif kind in _ASSIGNMENTS:
        yield from _named("assign", node, scope, _ASSIGNMENTS[kind])
    elif kind in _ENTRIES:
        yield from _named("entry", node, scope, _ENTRIES[kind])
    elif kind in _RETURNS or kind in _RAISES:
        yield _statement("return" if kind in _RETURNS else "raise", node, scope)
    elif kind in _LOOPS or kind in _HANDLERS:
        yield _headed("loop" if kind in _LOOPS else "handler", node, scope, kind if kind in _HANDLERS else "")
    else:
        yield from _leaf(node, scope, grammar)


def _definition(node: Node, scope: str, grammar: Grammar, role: str) -> Iterator[Fact]:
    name = definition_name(node)
    if role in ("function", "closure") and name:
        yield _function(node, scope, name)
    elif role == "class" and (node.type not in grammar.bodied.split() or _body(node) is not None):
        name = name or flat(node.child_by_field_name("type"))
        if name:
            yield _headed("class", node, scope, name)


def _leaf(node: Node, scope: str, grammar: Grammar) -> Iterator[Fact]:
    """Imports, annotations, comments and literals."""
    kind, literals = node.type, grammar.literals.split()
    if kind in _IMPORTS and not any("import_spec" in one.type for one in node.named_children):
        yield _fact("import", node, scope)
    elif kind in _ATTRIBUTES:
        yield _fact("attribute", node, scope)
    elif kind in grammar.comments.split():
        yield _fact("comment", node, scope)
    elif kind in literals or _NUMBER.fullmatch(kind):
        parent = node.parent
        alone = kind == "string" and parent is not None and parent.type == "expression_statement"
        documents = alone and (node.text or b"").lstrip(b"rRuU").startswith((b'"""', b"'''"))
        name = "string" if kind in literals else "number"
        yield _fact("comment", node, scope) if documents else _fact("literal", node, scope, name)


def _body(node: Node) -> Node | None:
    for field in ("body", "consequence", "block"):
        if (found := node.child_by_field_name(field)) is not None:
            return found
    if node.type == "type_spec":
        return node.child_by_field_name("type")
    blocks = ("block", "statement_block", "body_statement", "compound_statement", "then", "do", "declaration_list")
    return next((child for child in node.named_children if child.type in blocks), None)


def _headed(kind: str, node: Node, scope: str, name: str) -> Fact:
    """A fact about what stands before the body of a node."""
    fact = _fact(kind, node, scope, name)
    body = _body(node)
    end = None
    if body is not None and body.start_byte > node.start_byte:
        end = body.start_byte - node.start_byte
        before = body.prev_sibling
        fact[2] = (before or node).end_point.row if before is not None else node.start_point.row
        fact[4] = body.start_byte
    raw = (node.text or b"")[:end][: 4 * LONGEST]
    lines = raw.decode("utf-8", "replace").replace("\x00", " ")
    if end is None and kind in ("handler", "loop", "class"):
        lines = lines.partition("\n")[0]
        fact[2] = fact[1]
    fact[6] = " ".join(lines.split()).rstrip("{: ")[:LONGEST]
    fact[8] = [node.start_point.row, node.end_point.row - (node.end_point.column == 0)]
    return fact


def _function(node: Node, scope: str, name: str) -> Fact:
    fact = _headed("function", node, scope, name)
    own = node.child_by_field_name("name")
    if own is not None:
        fact[1] = max(own.start_point.row, fact[1])
        fact[6] = _ANNOTATIONS.sub("", fact[6])
    result = next(
        (flat(found) for f in ("return_type", "result", "type") if (found := node.child_by_field_name(f))), ""
    )
    fact[8] = [*fact[8], list(_parameters(node)), result.lstrip(": ")]
    return fact


def _parameters(node: Node) -> Iterator[list[str]]:
    """[name, default, text] of each parameter."""
    at: Node | None = node
    found = None
    for _ in range(_DEEP):
        if at is None:
            break
        found = at.child_by_field_name("parameters") or at.child_by_field_name("parameter")
        if found is not None:
            break
        at = at.child_by_field_name("declarator")
    if found is None:
        return
    single = found.type == "identifier"
    for one in [found] if single else found.named_children:
        if one.type in _NO_PARAMETERS:
            continue
        default = next(
            (flat(value) for f in ("value", "default_value", "right") if (value := one.child_by_field_name(f))), ""
        )
        clause = next((child for child in one.named_children if child.type == "equals_value_clause"), None)
        pattern = _first(one, "pattern left") or one
        if pattern.type == "object_pattern":
            yield from _unpacked(pattern)
            continue
        names = one.children_by_field_name("name") or [_parameter_name(one)]
        for name in names:
            yield [flat(name), default or flat(clause).lstrip("= "), flat(one)]


def _unpacked(pattern: Node) -> Iterator[list[str]]:
    """The parameters in an object pattern: `{ a, b = 2, c: d }`."""
    for one in pattern.named_children:
        name = _first(one, "left key") or (one.named_child(0) if one.type == "rest_pattern" else one)
        yield [flat(name), flat(one.child_by_field_name("right")), flat(one)]


def _parameter_name(node: Node) -> Node:
    for field in ("pattern", "left"):
        if (found := node.child_by_field_name(field)) is not None:
            return found
    declared = _innermost(node.child_by_field_name("declarator"))
    if declared is not None:
        return declared
    return next((child for child in node.named_children if child.type == "identifier"), node)


def _condition(node: Node, scope: str) -> Iterator[Fact]:
    word = _CONDITIONS[node.type]
    test = node.child_by_field_name("condition") or node.child_by_field_name("value")
    if test is None and node.type in ("switch_expression", "match_statement"):
        test = node.child_by_field_name("subject")
    if test is None and node.type == "conditional_expression":
        test = node.named_child(1)
    if test is None and node.type in ("if_clause", "assert_statement", "if_guard"):
        test = node.named_child(0)
    if test is None:
        return
    text = flat(test)
    if test.type in ("parenthesized_expression", "condition_clause", "parenthesized_statements"):
        wrapped = _WRAPPED.fullmatch(text)
        text = wrapped[1].strip() if wrapped else text
    if text:
        yield _fact("condition", test, scope, word, text)


def _call(node: Node, scope: str) -> Iterator[Fact]:
    callee = _first(node, _CALLS[node.type])
    name = flat(callee)
    if callee is not None and ("(" in name or b"\n" in (callee.text or b"")):  # a chain of calls
        last = _first(callee, "attribute property field name")
        name = flat(last) or name
    if node.type == "object_creation_expression" and callee is None:
        name = flat(next((one for one in node.named_children if one.type in ("name", "qualified_name")), None))
    arguments = node.child_by_field_name("arguments") or next(
        (one for one in node.named_children if one.type in ("arguments", "argument_list", "token_tree")), None
    )
    around = _first(node, "receiver object scope")
    if around is not None and node.type in _OWNED:
        owner = flat(around)
        joint = "->" if node.type.startswith("member") else "::" if node.type.startswith("scoped") else "."
        name = f"{owner}{joint}{name}" if len(owner) <= 40 and "(" not in owner else name
    name = name.removeprefix("await ")
    if not name or len(name) > 120:
        return
    given = [flat(one) for one in (arguments.named_children if arguments else ()) if "comment" not in one.type]
    if node.type == "call" and name == "raise":
        yield _fact("raise", node, scope)
    elif name in _REQUIRES and node.child_by_field_name("method") is not None and arguments is not None:  # of Ruby
        yield _fact("import", node, scope)
    else:
        yield [*_fact("call", node, scope, name)[:-1], given]


def _named(kind: str, node: Node, scope: str, fields: str) -> Iterator[Fact]:
    left, right = fields.split()
    target = node.child_by_field_name(left)
    value = node.child_by_field_name(right)
    if value is None and node.type == "variable_declarator":  # of C#
        named = [one for one in node.named_children if one.type != "equals_value_clause"]
        clause = next((one for one in node.named_children if one.type == "equals_value_clause"), None)
        value = clause.named_child(0) if clause is not None else named[1] if len(named) > 1 else None
    operator = flat(node.child_by_field_name("operator"))
    if target is None or (value is not None and value.type in _NO_VALUES):
        return
    word = _declared(node, flat(target))
    if value is not None:
        operator = operator if operator.endswith("=") else "="
        yield [*_fact(kind, node, scope, flat(target), flat(value))[:-1], [operator, word]]
    elif word and (around := node if node.type in _WHOLE else node.parent) is not None:
        yield [*_fact("declare", around, scope, flat(target))[:-1], [word]]


def _declared(node: Node, name: str) -> str:
    """What a node declares: field, constant or variable; empty for an assignment to something that may be there."""
    parent = node.parent.type if node.parent is not None else ""
    if node.type not in _DECLARING and not (node.type == "assignment" and node.child_by_field_name("type") is not None):
        return ""
    if node.type.startswith(("const", "static", "preproc")) or (len(name) > 1 and name.isupper()):
        return "constant"
    if parent == "local_variable_declaration" and flat(node.parent).startswith(("private", "public", "protected")):
        return "field"
    return "field" if "field" in parent or "field" in node.type or "property" in node.type else "variable"


def _statement(kind: str, node: Node, scope: str) -> Fact:
    """The expression of a return or a throw."""
    text = flat(node)
    word = text.split(maxsplit=1)[0].rstrip(";(") if text else ""
    return _fact(kind, node, scope, word, text[len(word) :].strip().rstrip(";").strip())
