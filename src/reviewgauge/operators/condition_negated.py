"""Turn the condition of an `if`: `if x:` for `if not x:`.

Source: ours; "negate conditionals" of mutation testing (Offutt et al., TOSEM 1996; PIT), written as an author would.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import Severity
from reviewgauge.operators.code.conditions import BOTH, EITHER, If, bare, ifs, mirrored, operands, operator_of, opposite
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee, is_arid
from reviewgauge.operators.code.sentences import does, edited, inner, quoted, statements, tell
from reviewgauge.repo.syntax.tree import Node

_SWITCHES = ("TYPE_CHECKING", "__name__", "version_info", "process.env", "cfg!")
_REFUSES = re.compile(r"\b(?:None|null|nil|undefined|false|False|Err|err|-1)\b|\breturn;?$")
_PLAIN_USES = frozenset({"assignment", "assignment_expression", "assignment_statement", "expression_list"})
_NARROWS = re.compile(r"(?:isinstance|hasattr|callable|\bis[A-Z]\w*)$")  # tests of a type
_NULL_LIKE = frozenset({"None", "null", "undefined", "nil"})


@dataclass(frozen=True)
class ConditionNegated(Operator):
    """A branch is taken when it should not be, and left out when it is needed."""

    severity: ClassVar[Severity] = Severity.HIGH

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for one in ifs(code):
            if one.chained or not _matters(code, one) or any(word in one.condition.text for word in _SWITCHES):
                continue
            signs = BOTH if len(operands(code, one.condition, BOTH)) > 1 else EITHER
            for part in reversed(operands(code, one.condition, signs)):
                wrong = opposite(code, part)
                if wrong and "\n" not in wrong and not _is_plain_nonsense(code, one, part):
                    edit = Edit(part.start, part.end, wrong)
                    yield Plant((edit,), _told(code, one, edit), _safe(code, one, part, wrong))
                    break


def _matters(code: Code, one: If) -> bool:
    """Whether the branch does more than to log."""
    return any(
        not is_arid(code.tree, line.parts[0] if line.kind == "expression_statement" and line.parts else line)
        or code.is_a(line, "raise")
        for line in statements(code, one.then)
    )


def _is_plain_nonsense(code: Code, one: If, part: Node) -> bool:
    """Whether nobody would write the other way round, or no compiler take it: it uses what is missing.

    TypeScript narrows what is tested, so what is tested may not be used again.
    """
    subject = _subject(code, part)
    if subject is None:
        return False
    if code.tree.grammar == "go" and subject.text.lower().endswith("err"):
        return True
    scope = code.around(one.node, "function") or code.tree.root
    typed = code.tree.grammar == "typescript"
    ends = scope.end if typed else one.then.end
    return any(
        node.text == subject.text and (typed or (node.parent is not None and node.parent.kind not in _PLAIN_USES))
        for node in scope.walk()
        if part.end <= node.start and node.end <= ends and node.kind == subject.kind
        if code.around(node, "raise") is None
    )


def _subject(code: Code, part: Node) -> Node | None:
    """What is tested for being there; None for another test."""
    if code.is_a(part, "not"):
        part = bare(part.parts[0])
    if code.is_a(part, "comparison") and operator_of(part):
        left, right = part.parts
        if left.text.startswith("typeof "):
            return left.parts[0]
        return left if right.text in _NULL_LIKE or code.is_a(right, "null") else None
    if code.is_a(part, "call"):
        arguments = part.get("arguments")
        narrows = _NARROWS.search(callee(part))
        return arguments.parts[0] if narrows and arguments and arguments.parts else None
    return part


def _told(code: Code, one: If, edit: Edit) -> str:
    last = inner(statements(code, one.then)[-1])
    if one.otherwise is not None:
        situation = "else"
    elif not code.is_a(last, "jump"):
        situation = "check"
    else:
        gives = code.is_a(last, "return") and last.parts and not _REFUSES.search(last.text)
        situation = "return" if gives else "guard"
    wrong = quoted(edited(one.condition, edit))
    return tell("condition_negated", situation, wrong=wrong, deed=does(code, one.then))


def _safe(code: Code, one: If, part: Node, wrong: str) -> tuple[Edit, ...]:
    """The branches exchanged with the condition; else a comparison for equality mirrored."""
    other = one.otherwise
    if other is not None and other.kind == "else_clause":
        other = other.get("body") or next((child for child in other.parts if child.kind != "comment"), None)
    blocks = ("block", "statement_block")
    if part is one.condition and other is not None and one.then.kind in blocks and other.kind in blocks:
        if code.adds(one.node):
            return (
                Edit(part.start, part.end, wrong),
                Edit(one.then.start, one.then.end, other.text),
                Edit(other.start, other.end, one.then.text),
            )
        return ()
    sign = operator_of(part) if code.is_a(part, "comparison") else None
    if sign is not None and sign.text in ("==", "===", "!=", "!==") and all(code.is_a(p, "value") for p in part.parts):
        return (mirrored(part, sign),)
    return ()
