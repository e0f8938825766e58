"""Make a default once for all calls: `items=[]` for `items=None` and a new list in the body.

Source: ours; "mutable default argument" (flake8-bugbear B006, pylint W0102) and RUF012 for class attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.operators.code.blocks import uses, without
from reviewgauge.operators.code.conditions import If, ifs
from reviewgauge.operators.code.names import Parameter, mentions, parameters
from reviewgauge.operators.code.nulls import null_test
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant
from reviewgauge.operators.code.sentences import inner, quoted, statements, tell
from reviewgauge.repo.syntax.tree import Node

_EMPTY = {"[]": "list", "{}": "dict", "set()": "set", "list()": "list", "dict()": "dict"}
_FACTORY = re.compile(r"\(default_factory=(list|dict|set)\b[\s)]*$")
_NEW = {"list": "[]", "dict": "{}", "set": "set()"}
_CHANGES = ("append", "extend", "insert", "update", "setdefault", "pop", "remove", "clear", "add", "discard", "sort")


@dataclass(frozen=True)
class MutableDefault(Operator):
    """All calls, or all instances, share one list, dictionary or set."""

    languages: ClassVar[Sequence[str]] = ("python",)

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        if code.tree.grammar != "python":
            return
        for one in ifs(code):
            yield from _in_signature(code, one)
        for node in code.nodes("both"):
            yield from _in_place(code, node)
        for node in code.nodes("assignment"):
            yield from _in_class(code, node)


def _in_signature(code: Code, one: If) -> Iterator[Plant]:
    """`items=None` with `if items is None: items = []`."""
    test, lines = null_test(code, one.condition), statements(code, one.then)
    function = code.around(one.node, "function")
    if test is None or not test.holds_on_null or one.otherwise is not None or len(lines) != 1 or function is None:
        return
    made = inner(lines[0])
    target, value = made.get("left"), made.get("right")
    if made.kind != "assignment" or target is None or value is None or target.text != test.subject.text:
        return
    taken = _none_by_default(function, target.text)
    if value.text not in _EMPTY or taken is None:
        return
    edit = without(code, one.node)
    if edit is None or not code.adds(taken.node):
        return
    shared = _changed(function, target.text)
    if not shared:
        return  # one list for all that nobody changes does no harm
    default = quoted(f"{target.text}={value.text}")
    body = tell("mutable_default", "signature", default=default, shared=quoted(shared))
    yield Plant((*_declared(taken, value.text), edit), body)


def _none_by_default(function: Node, name: str) -> Parameter | None:
    """The parameter of a name, if its default is `None`."""
    taken = next((each for each in parameters(function) if each.name.text == name), None)
    return taken if taken is not None and taken.default is not None and taken.default.text == "None" else None


def _declared(taken: Parameter, value: str) -> tuple[Edit, ...]:
    """The default, and its type without `None`."""
    written = taken.node.get("type")
    edits = [Edit(taken.default.start, taken.default.end, value)] if taken.default is not None else []
    if written is not None and written.text.endswith(" | None"):
        edits.insert(0, Edit(written.start, written.end, written.text.removesuffix(" | None")))
    return tuple(edits)


def _changed(function: Node, name: str) -> str:
    """How a function changes a value or hands it on: `items.append`, `self.items = items`; empty where it does not."""
    for one in mentions(function, name):
        held = one.parent
        if held is None:
            continue
        if held.kind == "attribute" and (last := held.get("attribute")) is not None and last.text in _CHANGES:
            return held.text
        if held.kind == "subscript" and held.field == "left":
            return f"{held.text} = ..."
        left = held.get("left")
        if held.kind == "assignment" and one.field == "right" and left is not None and left.text.startswith("self."):
            return held.text
    return ""


def _in_place(code: Code, node: Node) -> Iterator[Plant]:
    """`items=None` with `self.items = items or []`."""
    function, held = code.around(node, "function"), node.parent
    if function is None or held is None or held.kind != "assignment" or len(node.parts) != 2:
        return
    name, value = node.parts
    taken, target = _none_by_default(function, name.text), held.get("left")
    if value.text not in _EMPTY or node.children[1].text != "or" or taken is None:
        return
    if target is None or not target.text.startswith("self."):
        return
    if code.adds(node) and code.adds(taken.node):
        default = quoted(f"{name.text}={value.text}")
        body = tell("mutable_default", "place", default=default, kind=_EMPTY[value.text], target=quoted(target))
        yield Plant((*_declared(taken, value.text), Edit(node.start, node.end, name.text)), body)


def _in_class(code: Code, node: Node) -> Iterator[Plant]:
    """`items: list = field(default_factory=list)` becomes a class attribute."""
    value, target, written = node.get("right"), node.get("left"), node.get("type")
    if value is None or target is None or written is None or value.kind != "call" or code.around(node, "function"):
        return
    called, arguments = value.parts[0].text, value.parts[-1].text
    made = _FACTORY.match(arguments)
    if called.rpartition(".")[2] != "field" or made is None or not code.adds(node):
        return
    if uses(code.tree.root, called.partition(".")[0]) < 3:
        return  # its import would be unused
    marked = f": ClassVar[{written.text}]" if uses(code.tree.root, "ClassVar") else ""
    owner = next((one.get("name") for one in node.above() if one.kind == "class_definition"), None)
    named = quoted(owner.text if owner else "the class")
    body = tell("mutable_default", "class", target=quoted(target), kind=made[1], owner=named)
    yield Plant((Edit(target.end, value.end, f"{marked} = {_NEW[made[1]]}"),), body)
