"""Trust a path that comes from elsewhere: no check that it stays inside, no cleaning before it is joined.

Source: ours; CWE-22, path traversal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import RequiredContext, Severity
from reviewgauge.operators.code.blocks import statement
from reviewgauge.operators.code.guards import guard
from reviewgauge.operators.code.names import is_name, leaves_unused, says
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee
from reviewgauge.operators.code.sentences import quoted, tell, where
from reviewgauge.repo.syntax.tree import Node


@dataclass(frozen=True)
class PathUnchecked(Operator):
    """A path can lead out of the folder in which it must stay."""

    category: ClassVar[str] = "security"
    severity: ClassVar[Severity] = Severity.HIGH
    needs: ClassVar[RequiredContext] = RequiredContext.FILE

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in code.nodes("if"):
            condition = node.get("condition")
            if condition is None or not says("path", "checked", condition.text):
                continue
            found = guard(code, node)
            if found and found.words:
                yield Plant((found.gone,), _told(code, node, found.words[0], found.use))
        for node in code.nodes("call"):
            yield from _raw(code, node)


def _raw(code: Code, node: Node) -> Iterator[Plant]:
    """A name that is joined as it came."""
    held = node.get("arguments")
    whole = statement(code, node)
    if held is None or whole is None or len(held.parts) != 1 or not says("path", "cleaned", callee(node)):
        return
    use = _joined(code, node, whole)
    if not use or not code.adds(node) or leaves_unused(code, node.start, held.start):
        return
    text = held.parts[0].text
    if text.isupper() or text == (_target(whole) or whole).text:
        return  # a constant; or a name set to itself
    name = next((one.text for one in held.walk() if is_name(one)), text)
    yield Plant((Edit(node.start, node.end, text),), _told(code, node, name, use.replace(node.text, text)))


def _joined(code: Code, node: Node, whole: Node) -> str:
    """The call that joins or opens what a call gives, in its own statement or by its name in the same function."""
    for one in node.above():
        if code.is_a(one, "call") and says("path", "joined", callee(one)):
            return one.text
        if one is whole:
            break
    left = _target(whole)
    function = code.around(node, "function")
    for one in function.walk() if function is not None and left is not None else ():
        if one.start > whole.end and code.is_a(one, "call") and says("path", "joined", callee(one)):
            held = one.get("arguments")
            if held is not None and left is not None and any(part.text == left.text for part in held.parts):
                return one.text
    return ""


def _target(whole: Node) -> Node | None:
    """What a statement assigns to."""
    return whole.get("left") or next((one.get("left") or one.get("name") for one in whole.parts), None)


def _told(code: Code, node: Node, name: str, use: str) -> str:
    return tell("path_unchecked", "traversal", name=name, use=quoted(use), where=where(code, node))
