"""Leave open what was opened: no `with`, no `finally` that closes, no `defer`.

Source: ours; "resource leak" of Defects4J's and BugsInPy's repair patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.operators.code.blocks import unwrapped, uses, without
from reviewgauge.operators.code.names import says
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee
from reviewgauge.operators.code.sentences import tell, where
from reviewgauge.repo.syntax.tree import Node


@dataclass(frozen=True)
class ResourceNotClosed(Operator):
    """A file, connection or the like stays open."""

    languages: ClassVar[Sequence[str]] = ("python", "javascript", "typescript", "java", "go")

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in code.nodes("with"):
            yield from _python(code, node) if code.tree.grammar == "python" else _java(code, node)
        for node in code.nodes("finally"):
            yield from _finally(code, node)
        for node in code.nodes("defer"):
            yield from _deferred(code, node)


def _python(code: Code, node: Node) -> Iterator[Plant]:
    items = [one for one in node.walk() if one.kind == "with_item" and one.parent and one.parent.parent is node]
    value, body = items[0].get("value"), node.get("body")
    if len(items) != 1 or value is None or body is None or len(value.parts) != 2:
        return
    call, alias = value.parts
    name, opened = alias.text, callee(call)
    if not code.is_a(call, "call") or not says("resource", "opened", opened) or not name.isidentifier():
        return
    head = f"{name} = {call.text}"
    edit = unwrapped(code, node, body, head)
    if edit and f"{name}.close()" not in body.text:
        indent = code.tree.indent(node)
        step = code.tree.indent(body).removeprefix(indent)
        colon = next(one for one in reversed(node.children) if one.text == ":")
        safe = (
            Edit(node.start, colon.end, f"{head}\n{indent}try:"),
            Edit(body.end, body.end, f"\n{indent}finally:\n{indent}{step}{name}.close()"),
        )
        is_async = node.text.startswith("async")
        yield Plant((edit,), _told(code, node, name, opened), () if is_async else safe)


def _java(code: Code, node: Node) -> Iterator[Plant]:
    held, body = node.get("resources"), node.get("body")
    found = [one for one in held.parts if one.kind == "resource"] if held is not None else []
    if body is None or len(found) != 1 or (value := found[0].get("value")) is None:
        return
    if says("resource", "memory", value.text):
        return
    name, clauses = found[0].get("name"), node.parts[2:]
    if name is None or (clauses and not says("resource", "throws", value.text)):
        return
    if clauses:  # it is opened inside, so that what is caught stays caught
        start = code.tree.source.find(b"\n", body.start)
        inner = next(iter(body.parts), body)
        edits = [
            Edit(node.start, body.start, "try "),
            Edit(start, start, f"\n{code.tree.indent(inner)}{found[0].text};"),
        ]
        if inner is body or not code.adds(Edit(node.start, inner.start, "")):
            return
    else:
        edit = unwrapped(code, node, body, f"{found[0].text};")
        edits = [edit] if edit else []
    if edits:
        yield Plant(tuple(edits), _told(code, node, name.text, value.text.split("(")[0]))


def _finally(code: Code, node: Node) -> Iterator[Plant]:
    outer = node.parent
    body = outer.get("body") if outer is not None else None
    held = [one for part in node.parts for one in part.parts if not code.is_a(one, "comment")]
    closing = [one for one in held if _closes(code, one)]
    if outer is None or body is None or not closing:
        return
    before = [one for one in outer.parts if one.end <= node.start]
    if len(held) > 1:
        edit = without(code, closing[0])
    elif len(before) > 1 and code.adds(Edit(before[-1].end, node.end, "")):
        edit = Edit(before[-1].end, node.end, "")
    else:
        edit = unwrapped(code, outer, body) if len(before) == 1 else None
    around = code.around(node, "function") or code.tree.root
    if edit and around.text.count(closing[0].text) == 1:
        yield Plant((edit,), _told(code, node, _closes(code, closing[0])))


def _deferred(code: Code, node: Node) -> Iterator[Plant]:
    name, function = _closes(code, node), code.around(node, "function")
    if not name or function is None:
        return
    root = name.split(".")[0]
    edit = without(code, node)
    if edit and uses(function, root) - uses(node, root) > 1:  # else Go says that it is not used
        safe = Edit(node.start, node.end, f"defer func() {{ _ = {name}.Close() }}()")
        has_error = node.text == f"defer {name}.Close()" and code.adds(node)
        yield Plant((edit,), _told(code, node, name), (safe,) if has_error else ())


def _closes(code: Code, node: Node) -> str:
    """What a statement closes and does nothing else; empty where it does something else."""
    calls = [one for one in node.walk() if code.is_a(one, "call") and "func" not in callee(one)]
    if code.is_a(node, "try") or len(calls) != 1 or not calls[0].text.endswith("()"):
        return ""
    name, _, word = callee(calls[0]).replace("?.", ".").rpartition(".")
    own = name in ("self", "super", "this")
    return name if says("resource", "closed", word) and name.replace(".", "").isidentifier() and not own else ""


def _told(code: Code, node: Node, name: str, opened: str = "") -> str:
    situation = "opened" if opened else "leak"
    return tell("resource_not_closed", situation, name=name, opened=opened, where=where(code, node))
