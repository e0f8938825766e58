"""Leave out a check for null: the guard, the `if` around the use, or the operand before it.

Source: ours; missing checks are the largest class of small real faults (Duraes and Madeira, "Emulation of software
faults", TSE 2006: "missing if construct", "missing and sub-expression").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import Severity
from reviewgauge.operators.code.blocks import following, unwrapped, without
from reviewgauge.operators.code.conditions import BOTH, EITHER, If, ifs, operands, operator_of
from reviewgauge.operators.code.names import leaves_unused, parameters
from reviewgauge.operators.code.nulls import NullTest, failing_use, may_be_null, null_test, null_word
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee
from reviewgauge.operators.code.sentences import inner, quoted, statements, tell
from reviewgauge.repo.syntax.tree import Node

_FAILS = {"python": "raises an `AttributeError`", "java": "throws a `NullPointerException`", "go": "panics"}

_LARGE = 15  # lines that move one level to the left


@dataclass(frozen=True)
class MissingNullCheck(Operator):
    """A value that may be null is used without a check."""

    severity: ClassVar[Severity] = Severity.HIGH
    languages: ClassVar[Sequence[str]] = ("python", "javascript", "typescript", "java", "go")

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for one in ifs(code):
            test = null_test(code, one.condition)
            if test and one.otherwise is None and not one.chained and one.node.get("initializer") is None:
                yield from _no_guard(code, one, test) if test.holds_on_null else _no_if(code, one, test)
        for node in code.nodes("both"):
            yield from _no_operand(code, node)


def _no_guard(code: Code, one: If, test: NullTest) -> Iterator[Plant]:
    """`if x is None: return` goes."""
    block = one.node.parent
    last = inner(statements(code, one.then)[-1]) if statements(code, one.then) else None
    if block is None or last is None or code.is_a(last, "raise"):
        return
    use = failing_use(code, test.subject, one.node.end, block.end)
    edit = without(code, one.node)
    if use and edit and _is_likely(code, test) and not leaves_unused(code, edit.start, edit.end):
        yield Plant((edit,), _told(code, test, use))


def _no_if(code: Code, one: If, test: NullTest) -> Iterator[Plant]:
    """`if x is not None:` goes, its body stays."""
    lines = statements(code, one.then)
    use = failing_use(code, test.subject, one.then.start, one.then.end)
    if use and any(code.is_a(held, "try") for held in use.above() if held.start >= one.then.start):
        return  # the failure is caught
    if not use or not _is_likely(code, test) or code.is_a(inner(lines[-1]), "jump"):
        return
    if code.tree.grammar != "python" and any("declaration" in line.kind for line in lines):
        return  # their names may be taken outside
    edit = unwrapped(code, one.node, one.then)
    if edit and edit.text.count("\n") < _LARGE:
        yield Plant((edit,), _told(code, test, use), _left_early(code, one, test))


def _no_operand(code: Code, node: Node) -> Iterator[Plant]:
    """`x is not None and x.y` becomes `x.y`."""
    sign = operator_of(node)
    if sign is None or sign.text not in BOTH | EITHER or not code.adds(node):
        return
    left, right = node.parts
    words = BOTH if sign.text in BOTH else EITHER
    first = operands(code, left, words)[-1]
    test = null_test(code, first)
    if test is None or test.holds_on_null == (words is BOTH) or right.kind == "parenthesized_expression":
        return
    use = failing_use(code, test.subject, right.start, right.end)
    if use and _is_likely(code, test) and not leaves_unused(code, first.start, right.start):
        held = node.parent
        alone = first is left and held is not None and held.kind == "parenthesized_expression"
        if alone and held and held.field != "condition" and code.adds(held):
            edit = Edit(held.start, held.end, right.text)  # it needs no parentheses any more
        else:
            edit = Edit(first.start, right.start, "")
        yield Plant((edit,), _told(code, test, use, operand=True))


def _is_likely(code: Code, test: NullTest) -> bool:
    """Whether the value may be null at all, and nothing before says that it is not.

    A test for truth may be about something else; and TypeScript takes no use of what its types call optional.
    """
    function = code.around(test.subject, "function")
    if function is None:
        return False
    why = may_be_null(code, test.subject)
    if code.tree.grammar == "typescript":
        return any(one.name.text == test.subject.text and one.type == "any" for one in parameters(function))
    if test.plain and not why and code.tree.grammar == "python":
        return False
    return not any(
        one.parent is not None and (one.parent.field == "condition" or null_test(code, one.parent))
        for one in function.walk()
        if one.end < test.subject.start and (one.kind, one.text) == (test.subject.kind, test.subject.text)
    )


def _told(code: Code, test: NullTest, use: Node, operand: bool = False) -> str:
    subject, missing = quoted(test.subject), null_word(code)
    fails = _FAILS.get(code.tree.grammar, "throws a `TypeError`")
    if code.tree.grammar == "python" and not code.is_a(use, "member"):
        fails = "raises a `TypeError`"
    why = may_be_null(code, test.subject)
    shown = callee(use) if code.is_a(use, "call") else use.text
    situation = "why" if why else "operand" if operand else "check"
    values = {"subject": subject, "missing": missing, "why": why, "shown": quoted(shown), "fails": fails}
    return tell("missing_null_check", situation, **values)


def _left_early(code: Code, one: If, test: NullTest) -> tuple[Edit, ...]:
    """The same check as a guard that returns, where the `if` ends its function."""
    function = code.around(one.node, "function")
    body = function.get("body") if function is not None else None
    block = one.node.parent
    if (
        test.plain
        or code.tree.grammar != "python"
        or body is None
        or block is not body
        or any(following(code, one.node))
    ):
        return ()
    head = f"if {test.subject.text} is None:\n{code.tree.indent(one.node)}    return\n"
    edit = unwrapped(code, one.node, one.then, head)
    return (edit,) if edit else ()
