"""Who calls a function in other files, and how."""

from __future__ import annotations

from typing import NamedTuple

from reviewgauge.operators.code.operator import Code, callee, nodes_of
from reviewgauge.operators.code.signatures import name_of
from reviewgauge.repo.syntax.tree import Node

_NAMES = ("identifier", "property_identifier", "field_identifier", "type_identifier")
_USES = ("import_specifier", "export_specifier", "keyword_argument", "scoped_identifier")  # where a name is a field too


class Caller(NamedTuple):
    """A call in another file. `positional` are the arguments before the first that is named or spread."""

    path: str
    function: str
    call: Node
    positional: list[Node]
    named: frozenset[str]
    whole: bool  # no argument is spread, so what is not there is left out

    @property
    def told(self) -> str:
        """Where it is, for a sentence."""
        return f"`{self.function}` in `{self.path}`" if self.function else f"`{self.path}`"


def callers(code: Code, name: str) -> list[Caller]:
    """The calls of a function in other files; none where another function of that name is defined there."""
    found: list[Caller] = []
    for tree in code.others(name):
        other = Code(tree, frozenset())
        for node in tree.root.walk():
            if node.kind not in _NAMES or node.text != name:
                continue
            above = node.parent
            if node.field == "name" and above is not None and not other.is_a(above, "call") and above.kind not in _USES:
                return []  # defined there too: who is meant is not sure
            call = next((one for one in node.above() if other.is_a(one, "call")), None)
            if call is not None and _last(callee(call)) == name:
                found.append(_caller(other, call))
    return sorted(found, key=lambda one: ("test" in one.path, one.path))


def definitions(code: Code, name: str) -> int:
    """How many functions of this file have a name."""
    names = (one.get("name") for one in nodes_of(code.tree, "function"))
    return sum(1 for one in names if one is not None and one.text == name)


def _caller(code: Code, call: Node) -> Caller:
    held = call.get("arguments")
    parts = [one for one in (held.parts if held is not None else []) if not code.is_a(one, "comment")]
    plain = [
        one for one in parts if one.kind != "keyword_argument" and "splat" not in one.kind and "spread" not in one.kind
    ]
    named = (one.get("name") for one in parts if one.kind == "keyword_argument")
    spread = any("splat" in one.kind or "spread" in one.kind for one in parts)
    words = frozenset(one.text for one in named if one is not None)
    return Caller(code.tree.path, name_of(code.around(call, "function")), call, plain, words, not spread)


def _last(name: str) -> str:
    return name.replace("::", ".").rpartition(".")[2].removeprefix("new ")
