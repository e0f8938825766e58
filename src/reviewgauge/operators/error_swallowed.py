"""Go on as if nothing had happened where an error is passed on: an empty `except`, `return nil` for `return err`.

Source: ours; ignored errors are a quarter of the catastrophic failures in Yuan et al., "Simple testing can prevent most
critical failures" (OSDI 2014).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import Severity
from reviewgauge.operators.code.blocks import apart, statement, without
from reviewgauge.operators.code.conditions import ifs
from reviewgauge.operators.code.names import leaves_unused, mentions
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee, is_arid
from reviewgauge.operators.code.sentences import inner, quoted, statements, tell
from reviewgauge.repo.syntax.tree import Node

_NOTHING = dict.fromkeys(("float", "double", "int", "long", "short", "byte"), "return 0;") | {
    "void": "return;",
    "boolean": "return false;",
    "char": "",
}  # what a Java method returns that has nothing to return


@dataclass(frozen=True)
class ErrorSwallowed(Operator):
    """An error is dropped, and the code goes on as if all were well."""

    severity: ClassVar[Severity] = Severity.HIGH

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in code.nodes("catch"):
            yield from _in_catch(code, node)
        if code.tree.grammar == "go":
            yield from _in_go(code)
        if code.tree.grammar == "rust":
            yield from _in_rust(code)


def _in_catch(code: Code, node: Node) -> Iterator[Plant]:
    guard, function = node.parent, code.around(node, "function")
    body = node.get("body") or next((one for one in node.parts if code.is_a(one, "block")), None)
    lines = statements(code, body)
    if guard is None or function is None or not lines or code.around(function, "catch") is guard:
        return
    last = lines[-1]
    caught = _caught(node)
    if not (code.is_a(last, "raise") or _passes_on(code, last, caught)) or not code.adds(node):
        return
    instead, follows = _instead(code, guard, function)
    tried = next((one for one in (guard.get("body") or guard).walk() if code.is_a(one, "call")), None)
    if instead is None or tried is None or is_arid(code.tree, tried) or (instead and instead in node.text):
        return
    made = last.parts[0] if last.parts else None
    if "AssertionError" in last.text:
        return  # it never happens
    if made is not None and code.is_a(made, "name") and made.text != caught:
        return  # it is made above, and would stand there for nothing
    if code.tree.grammar == "python" and not instead and len(lines) == 1:
        instead = "pass"
    edit = Edit(last.start, last.end, instead) if instead else without(code, last, alone=code.tree.grammar != "python")
    if edit is None or leaves_unused(code, last.start, last.end, but=caught):
        return
    edits = [edit]
    name = node.get("value")
    others = len(mentions(node, caught)) - len(mentions(last, caught))
    if name is not None and name.kind == "as_pattern" and others == 1:
        edits.insert(0, Edit(name.parts[0].end, name.end, ""))
    head = node.source[node.start : body.start if body is not None else node.end].decode().split("{")[0].strip(" :\n")
    shown = quoted(head.removesuffix(f" as {caught}"))
    said = tell("error_swallowed", "caught", shown=shown, tried=quoted(callee(tried)), follows=follows)
    yield Plant(tuple(edits), said, _split(code, last))


def _caught(node: Node) -> str:
    """The name of the error in a `catch`."""
    for one in node.walk():
        if one.field == "parameter" or (
            one.field == "name" and one.parent and one.parent.kind == "catch_formal_parameter"
        ):
            return one.text
        if one.kind == "as_pattern_target":
            return one.text
    return ""


def _passes_on(code: Code, last: Node, caught: str) -> bool:
    """Whether a statement hands the error to someone: `next(err)`."""
    call = inner(last)
    if code.is_a(call, "return") and call.parts:
        call = call.parts[0]
    arguments = call.get("arguments") if code.is_a(call, "call") and not is_arid(code.tree, call) else None
    return bool(caught) and arguments is not None and caught in [one.text for one in arguments.parts]


def _instead(code: Code, guard: Node, function: Node) -> tuple[str | None, str]:
    """The statement that goes on, "" for none and None where there is no such thing; and what follows from it."""
    grammar = code.tree.grammar
    ends = statement(code, guard) in statements(code, function.get("body"))[-1:]
    end = "" if grammar == "python" or not any(one.kind == ";" for one in guard.walk()) else ";"
    loop = code.around(guard, "loop")
    if loop is not None and loop.start > function.start:
        return f"continue{end}", "the loop goes on without it and nobody learns why"
    if grammar == "java":
        result = function.get("type")
        if result is None:
            return None, ""
        text = _NOTHING.get(result.text, "return null;")
        gets = text.removeprefix("return ").removesuffix(";")
        if result.text != "void":
            return text or None, f"the caller gets `{gets}` and cannot tell why"
    if grammar == "typescript":
        result = function.get("return_type")
        if result is None or "void" not in result.text:
            return None, ""
        return ("" if ends else f"return{end}"), "the caller takes it for done"
    values = [one for one in function.walk() if code.is_a(one, "return") and code.around(one, "function") is function]
    if any(one.parts for one in values):
        null = "None" if grammar == "python" else "null"
        return f"return {null}{end}", f"the caller gets `{null}` and cannot tell why"
    return ("" if ends else f"return{end}"), "the caller takes it for done"


def _split(code: Code, last: Node) -> tuple[Edit, ...]:
    """The error made in one statement and raised in the next, which changes nothing."""
    made = last.parts[0] if last.parts else None
    if made is None or not code.is_a(last, "raise") or code.tree.grammar == "java":
        return ()
    return apart(code, last, made, "failure") if code.is_a(made, "call") or made.kind == "new_expression" else ()


def _in_go(code: Code) -> Iterator[Plant]:
    """`return nil, err` becomes `return nil, nil`."""
    for one in ifs(code):
        lines = statements(code, one.then)
        function = code.around(one.node, "function")
        result = function.get("result") if function is not None else None
        if (
            not one.condition.text.endswith("err != nil")
            or not lines
            or not code.is_a(lines[-1], "return")
            or result is None
        ):
            continue
        values = lines[-1].parts[0].parts if code.is_a(lines[-1], "return") and lines[-1].parts else []
        kind = result.parts[-1].text if result.kind == "parameter_list" and result.parts else result.text
        if not values or kind.split()[-1] != "error" or not mentions(values[-1], "err"):
            continue
        if code.adds(one.node) and not leaves_unused(code, values[-1].start, values[-1].end):
            failed = _source_of(code, one.node)
            what = f"{quoted(failed)} fails" if failed else quoted(one.condition)
            edit = Edit(values[-1].start, values[-1].end, "nil")
            yield Plant((edit,), tell("error_swallowed", "dropped", what=what))


def _source_of(code: Code, node: Node) -> str:
    """The call whose error an `if` looks at: in its initializer, or in the statement before."""
    before = node.get("initializer")
    if before is None and node.parent is not None:
        place = node.parent.parts.index(node)
        before = node.parent.parts[place - 1] if place else None
    call = next((one for one in before.walk() if code.is_a(one, "call")), None) if before is not None else None
    return callee(call) if call is not None else ""


def _in_rust(code: Code) -> Iterator[Plant]:
    """`write()?;` becomes `let _ = write();`."""
    for node in code.tree.of_kind.get("expression_statement", ()):
        if not node.parts or node.parts[0].kind != "try_expression":
            continue
        tried, function = node.parts[0], code.around(node, "function")
        result = function.get("return_type") if function is not None else None
        call = tried.parts[0]
        if result is None or "Result" not in result.text or not code.adds(node):
            continue
        macro = call.get("macro")
        name = callee(call) if macro is None else f"{macro.text}!"
        if not is_arid(code.tree, call):
            edits = (Edit(node.start, node.start, "let _ = "), Edit(call.end, tried.end, ""))
            yield Plant(edits, tell("error_swallowed", "ignored", name=quoted(name)))
