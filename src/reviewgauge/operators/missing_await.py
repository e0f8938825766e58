"""Leave out an `await`: the code goes on with a promise or coroutine instead of its result.

Source: ours; the most frequent fault of asynchronous JavaScript in Davis et al., "Node.fz" (EuroSys 2017), and what
`no-floating-promises` (typescript-eslint) and "coroutine was never awaited" (CPython) report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import RequiredContext, Severity
from reviewgauge.operators.code.blocks import apart, statement
from reviewgauge.operators.code.conditions import bare
from reviewgauge.operators.code.names import mentions
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee, is_arid
from reviewgauge.operators.code.sentences import quoted, tell
from reviewgauge.repo.syntax.tree import Node


@dataclass(frozen=True)
class MissingAwait(Operator):
    """Nobody waits for an asynchronous call."""

    severity: ClassVar[Severity] = Severity.HIGH
    needs: ClassVar[RequiredContext] = RequiredContext.FILE
    languages: ClassVar[Sequence[str]] = ("python", "javascript", "typescript")

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in code.nodes("await"):
            called = node.parts[-1] if node.parts else None
            if called is None or not code.is_a(called, "call") or is_arid(code.tree, called):
                continue
            body = _told(code, node, called)
            held = node.parent
            outer = held if held is not None and _is_object(held) else node
            if body and code.adds(outer):
                edits = (Edit(outer.start, called.start, ""), Edit(called.end, outer.end, ""))
                yield Plant(tuple(one for one in edits if one.start < one.end), body, _split(code, node, called))


def _is_object(node: Node) -> bool:
    """Whether it is parentheses around a value of which something is taken: `(await f()).text`."""
    return node.kind == "parenthesized_expression" and node.field in ("object", "value")


def _told(code: Code, node: Node, called: Node) -> str:
    situation, target = _situation(code, node)
    what = "coroutine" if code.tree.grammar == "python" else "promise"
    values = {"name": quoted(callee(called)), "what": what, "target": quoted(target)}
    return tell("missing_await", situation, **values) if situation else ""


def _situation(code: Code, node: Node) -> tuple[str, Node]:
    """What becomes of the value without it, and what is set to it.

    Empty where nothing does, where it stands out, or where types forbid it.
    """
    held, grammar = node.parent, code.tree.grammar
    if held is None:
        return "", node
    if held.kind == "expression_statement":
        return "never" if grammar == "python" else "passes" if _in_try(code, node) else "unhandled", node
    if held.kind == "return_statement" and grammar != "python":  # else the caller waits as well
        return "returned_in_try" if _in_try(code, node) else "", node
    if grammar == "typescript":
        return "", node
    if held.kind == "return_statement":
        return "returned", node
    if bare(held).field == "condition" or held.field == "condition" or code.is_a(held, "not"):
        return "tested", node
    target = held.get("left") or held.get("name")
    if target is not None and held.kind in ("assignment", "variable_declarator", "assignment_expression"):
        if "pattern" in target.kind:
            return "taken_apart", target
        return "used" if _is_used_below(code, node, target) else "", target
    return "object" if _is_object(held) else "", node


def _in_try(code: Code, node: Node) -> bool:
    """Whether a `try` of the same function holds a node in its body."""
    guard, function = code.around(node, "try"), code.around(node, "function")
    body = guard.get("body") if guard is not None else None
    near = function is None or guard is None or function.start < guard.start
    return body is not None and body.start < node.start < body.end and near


def _is_used_below(code: Code, node: Node, target: Node) -> bool:
    """Whether what was assigned is used for more than to be returned or waited for."""
    function = code.around(node, "function")
    later = mentions(function, target.text) if function is not None and target.kind == "identifier" else []
    plain = ("return_statement", "await", "await_expression")
    return any(one.start > node.end and one.parent and one.parent.kind not in plain for one in later)


def _split(code: Code, node: Node, called: Node) -> tuple[Edit, ...]:
    """The call and the wait for it in two statements, which changes nothing."""
    held = statement(code, node)
    if held is None or node.parent is None or (node.parent is not held and node.parent.parent is not held):
        return ()
    kinds = ("expression_statement", "assignment", "variable_declarator", "assignment_expression")
    begins = code.tree.line_start(held.start) + len(code.tree.indent(held).encode()) == held.start
    return apart(code, held, called, "pending") if node.parent.kind in kinds and begins else ()
