"""Guards: an `if` that does nothing but turn away what it does not want."""

from __future__ import annotations

from typing import NamedTuple

from reviewgauge.operators.code.blocks import following, statement, without
from reviewgauge.operators.code.conditions import bare
from reviewgauge.operators.code.names import is_name, leaves_unused, parameters, says
from reviewgauge.operators.code.operator import Code, Edit
from reviewgauge.operators.code.sentences import inner, statements
from reviewgauge.repo.syntax.tree import Node


class Guard(NamedTuple):
    """A guard. `gone` is the edit without it; `words` are what it looks at, `use` the line that uses it next."""

    condition: Node
    gone: Edit
    words: list[str]
    use: str


def guard(code: Code, node: Node) -> Guard | None:
    """The guard that an `if` is; None where it is none, cannot go, or nothing uses what it looks at."""
    condition, whole = node.get("condition"), statement(code, node)
    if condition is None or whole is None or node.get("alternative") is not None or inner(whole) is not node:
        return None
    if not _turns_away(code, node):
        return None
    gone = without(code, whole)
    condition = bare(condition)
    words = list(dict.fromkeys(one.text for one in condition.walk() if is_name(one) and not _is_fixed(code, one)))
    after = [one for one in following(code, whole) if not (code.is_a(one, "if") and _turns_away(code, one))]
    use = next((one for word in words for one in after if any(is_name(n) and n.text == word for n in one.walk())), None)
    if gone is None or use is None:
        return None
    if code.tree.grammar != "rust" and leaves_unused(code, gone.start, gone.end):
        return None
    line = use.text.split("\n", maxsplit=1)[0].rstrip(" {:;")
    return Guard(condition, gone, words, line if len(line) >= _SAYS else "what follows")


def _turns_away(code: Code, node: Node) -> bool:
    """Whether an `if` only raises an error, or returns one."""
    lines = statements(code, node.get("consequence"))
    if len(lines) != 1:
        return False
    last = inner(lines[0])
    if code.tree.grammar in ("go", "rust"):
        return code.is_a(last, "return") and says("guard", "error", last.text)
    return code.is_a(last, "raise") and len(last.parts) == 1 and not last.parts[0].text.islower()


def in_front(code: Code, node: Node) -> list[str]:
    """The parameters of the function at whose start a statement stands; none where it stands elsewhere."""
    function, whole = code.around(node, "function"), statement(code, node)
    block = whole.parent if whole is not None else None
    body = function.get("body") if function is not None else None
    if function is None or whole is None or block is None or body is None or body not in (block, block.parent):
        return []
    before = [one for one in block.parts if one.end <= whole.start and not code.is_a(one, "comment")]
    return [one.name.text for one in parameters(function)] if len(before) <= _FRONT else []


def _is_fixed(code: Code, node: Node) -> bool:
    """Whether a name is that of a function that is called, of an import, of a constant, or of the object itself."""
    imported = (one for one in code.tree.root.parts if one.kind.startswith("import") or "use_decl" in one.kind)
    called = node.field in ("function", "constructor") or node.text in ("self", "this", "cls") or node.text.isupper()
    return called or any(one.text == node.text for line in imported for one in line.walk() if not one.children)


_SAYS = 8  # letters of a line; `try` says nothing
_FRONT = 4  # statements before it
