"""Edits as an author would make them: a statement goes with its lines, a block gives way to what it holds.

They touch added lines only, and are None where that cannot be or would show.
"""

from __future__ import annotations

from collections.abc import Iterator

from reviewgauge.operators.code.operator import Code, Edit
from reviewgauge.repo.syntax.tree import Node

_COMMENT = ("#", "//")


def statement(code: Code, node: Node) -> Node | None:
    """The statement that holds a node: the one whose parent is a block."""
    return next((one for one in (node, *node.above()) if code.is_a(one.parent, "block")), None)


def following(code: Code, node: Node) -> Iterator[Node]:
    """The statements after one, in its block."""
    if node.parent is not None:
        yield from (one for one in node.parent.parts if one.start >= node.end and not code.is_a(one, "comment"))


def uses(node: Node, word: str) -> int:
    """How often a node names something."""
    return sum(1 for one in node.walk() if "identifier" in one.kind and one.text == word)


def without(code: Code, first: Node, last: Node | None = None, alone: bool = False) -> Edit | None:
    """No more statement, or statements to `last`: their lines, the comments right above, a blank line too many.

    None where they share a line or, unless `alone`, are all that their block holds.
    """
    last = last or first
    tree = code.tree
    source, start = tree.source, tree.line_start(first.start)
    end = source.find(b"\n", last.end) + 1 or len(source)
    rest = source[last.end : end].decode("utf-8", "replace").strip().removeprefix(";").strip()
    if source[start : first.start].strip() or (rest and not rest.startswith(_COMMENT)):
        return None
    block = [one for one in first.parent.parts if not code.is_a(one, "comment")] if first.parent else []
    if not alone and not any(_counts(code, one) for one in block if one.end <= first.start or one.start >= last.end):
        return None
    while (above := _line_before(source, start)).lstrip().startswith(_COMMENT):
        start = tree.line_start(start - 1)
    if above.rstrip().endswith("*/"):
        return None
    below = source[end : source.find(b"\n", end) + 1 or len(source)].decode("utf-8", "replace")
    if not below.strip() and (not above.strip() or above.rstrip().endswith(("{", ":", "("))):
        end += len(below.encode())
    elif below.lstrip().startswith("}") and not above.strip():
        start = tree.line_start(start - 1)
    return Edit(start, end, "") if code.adds(Edit(start, end, "")) else None


def unwrapped(code: Code, outer: Node, body: Node, head: str = "") -> Edit | None:
    """`head` (a statement) and the lines of a body, one level to the left, in place of the statement that holds it."""
    tree = code.tree
    lines = body_lines(code, body)
    base = tree.indent(outer)
    end = max(outer.end, body.end)
    if lines is None or not code.adds(Edit(outer.start, end, "")) or tree.source[end : end + 1] not in (b"\n", b""):
        return None
    if _clashes(code, outer, body):
        return None
    if len(base.encode()) != outer.start - tree.line_start(outer.start):
        return None  # something stands before it
    first = next(line for line in lines if line.strip())
    deep = first[: len(first) - len(first.lstrip())]
    if not deep.startswith(base) or any(line.strip() and not line.startswith(deep) for line in lines):
        return None
    moved = "\n".join(base + line.removeprefix(deep) if line.strip() else "" for line in lines).strip("\n")
    text = f"{base}{head}\n{moved}" if head else moved
    return Edit(outer.start, end, text.removeprefix(base))


def apart(code: Code, whole: Node, value: Node, name: str) -> tuple[Edit, ...]:
    """A value made in a statement of its own, before the one that uses it: it changes nothing."""
    function, script = code.around(value, "function"), code.tree.grammar != "python"
    if function is None or uses(function, name):
        return ()
    end = ";" if script and whole.text.endswith(";") else ""
    first = f"{'const ' if script else ''}{name} = {value.text}{end}\n{code.tree.indent(whole)}"
    return (Edit(whole.start, whole.start, first), Edit(value.start, value.end, name))


def body_lines(code: Code, body: Node) -> list[str] | None:
    """The lines of a body with its comments, without those of its braces.

    None where it shares a line with them, or a text runs over several lines, which moving would change.
    """
    tree, source = code.tree, body.source
    if any("\n" in one.text for one in body.walk() if code.is_a(one, "string")):
        return None
    if body.text.startswith("{"):
        start, end = body.start + 1, tree.line_start(body.end - 1)
        if source[end : body.end - 1].strip():
            return None
    else:
        signs = reversed(body.parent.children if body.parent else [])
        colon = next((one for one in signs if one.text == ":"), None)
        if colon is None:  # a statement without braces
            return None
        start, end = colon.end, body.end
    head, newline, inner = source[start:end].decode("utf-8", "replace").partition("\n")
    return inner.rstrip("\n").split("\n") if newline and not head.strip() and inner.strip() else None


def _clashes(code: Code, outer: Node, body: Node) -> bool:
    """Whether a name that a body in braces declares is used outside of it too: it would then be declared twice."""
    around = code.around(outer, "function") or code.tree.root
    declared = (one.get("name") for one in body.walk() if one.kind == "variable_declarator")
    return any(name is not None and uses(around, name.text) > uses(body, name.text) for name in declared)


def _counts(code: Code, one: Node) -> bool:
    """Whether a statement is more than a text that says what its function does."""
    return one.kind != "pass_statement" and not (len(one.parts) == 1 and code.is_a(one.parts[0], "string"))


def _line_before(source: bytes, start: int) -> str:
    return source[:start].rpartition(b"\n")[0].rpartition(b"\n")[2].decode("utf-8", "replace") if start else ""
