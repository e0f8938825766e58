"""Break what a caller in another file relies on: the order of parameters, a default, what comes back.

Source: ours; "interface" defects of ODC (Chillarege et al., TSE 1992).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

from typing_extensions import override

from reviewgauge.core.records import RequiredContext, Severity
from reviewgauge.operators.code.names import Parameter, is_name, name_of, parameters
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee, nodes_of
from reviewgauge.operators.code.sentences import quoted, tell
from reviewgauge.repo.syntax.tree import Node

_TURNED = {"True": "False", "False": "True", "true": "false", "false": "true"}
_NOTHING = {"python": "None", "javascript": "null", "java": "null"}
_EMPTY = {
    "python": frozenset({"[]", "{}", "()", '""', "''", "set()"}),
    "javascript": frozenset({"[]", "{}", "''", '""'}),
    "java": frozenset({'""', "Collections.emptyList()", "Collections.emptyMap()", "List.of()", "new ArrayList<>()"}),
}
_NAMES = ("identifier", "property_identifier", "field_identifier", "type_identifier")
_USES = ("import_specifier", "export_specifier", "keyword_argument", "scoped_identifier")  # where a name is a field too
_SHORTEST = 4  # a name that says which function is meant


class _Caller(NamedTuple):
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


@dataclass(frozen=True)
class ContractBroken(Operator):
    """A function changes what it takes or gives, and a caller in another file does not know."""

    severity: ClassVar[Severity] = Severity.HIGH
    needs: ClassVar[RequiredContext] = RequiredContext.REPO

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for function in code.nodes("function"):
            name = function.get("name")
            if name is None or len(name.text) < _SHORTEST or name.text.startswith("__"):
                continue
            body = function.get("body")
            used = {one.text for one in body.walk() if is_name(one)} if body is not None else set()
            taken = [one for one in parameters(function) if code.adds(one.node)]
            taken = [one for one in taken if one.name.text in used]
            returns = list(_empty_returns(code, function))
            swaps = [pair for pair in pairwise(taken) if _alike(*pair)]
            turned = [one for one in taken if one.default is not None and one.default.text in _TURNED]
            if not (swaps or turned or returns) or _definitions(code, name.text) != 1:
                continue
            known = _callers(code, name.text)
            place = {one.name.text: at for at, one in enumerate(parameters(function))}
            for first, second in swaps:
                yield from _exchanged(name.text, first, second, place[first.name.text], known)
            for one in turned:
                yield from _default(name.text, one, place[one.name.text], known)
            for value in returns:
                yield from _nothing(code, name.text, value, known)


def _alike(first: Parameter, second: Parameter) -> bool:
    return first.type == second.type and first.default is None is second.default


def _exchanged(name: str, first: Parameter, second: Parameter, place: int, known: list[_Caller]) -> Iterator[Plant]:
    given = [one for one in known if len(one.positional) > place + 1]
    caller = next((one for one in given if one.positional[place].text != one.positional[place + 1].text), None)
    if caller is not None:
        a, b = first.name, second.name
        passed = ", ".join(one.text for one in caller.positional[place : place + 2])
        values = {"first": a.text, "second": b.text, "caller": caller.told, "passed": quoted(passed)}
        edits = (Edit(a.start, a.end, b.text), Edit(b.start, b.end, a.text))
        yield Plant(edits, tell("contract_broken", "order", name=name, **values))


def _default(name: str, one: Parameter, place: int, known: list[_Caller]) -> Iterator[Plant]:
    word = one.name.text
    left_out = (by for by in known if by.whole and len(by.positional) <= place and word not in by.named)
    caller = next(left_out, None)
    if caller is not None and one.default is not None:
        new = _TURNED[one.default.text]
        values = {"word": word, "new": new, "caller": caller.told, "call": quoted(caller.call)}
        edit = Edit(one.default.start, one.default.end, new)
        yield Plant((edit,), tell("contract_broken", "default", name=name, **values))


def _empty_returns(code: Code, function: Node) -> Iterator[Node]:
    empty = _EMPTY.get(code.tree.grammar, frozenset())
    for node in function.walk() if empty else ():
        value = node.parts[0] if code.is_a(node, "return") and node.parts else None
        if value is None or value.text not in empty or code.around(node, "function") is not function:
            continue
        if code.adds(value):
            yield value


def _nothing(code: Code, name: str, value: Node, known: list[_Caller]) -> Iterator[Plant]:
    caller = next((one for one in known if _used_at_once(one.call)), None)
    if caller is not None and caller.call.parent is not None:
        new = _NOTHING[code.tree.grammar]
        use = caller.call.parent.text.split("\n", maxsplit=1)[0].rstrip(" {:")
        body = tell("contract_broken", "nothing", name=name, new=new, caller=caller.told, use=quoted(use))
        yield Plant((Edit(value.start, value.end, new),), body)


def _used_at_once(call: Node) -> bool:
    """Whether what a call gives is looped over, or asked for a member or an item."""
    around = call.parent
    if around is None:
        return False
    looped = around.kind in ("for_statement", "for_in_statement", "for_in_clause", "enhanced_for_statement")
    return (looped and call.field in ("right", "value")) or (call.field in ("object", "value") and "." in around.text)


def _callers(code: Code, name: str) -> list[_Caller]:
    """The calls of a function in other files; none where another function of that name is defined there."""
    found: list[_Caller] = []
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


def _definitions(code: Code, name: str) -> int:
    """How many functions of this file have a name."""
    names = (one.get("name") for one in nodes_of(code.tree, "function"))
    return sum(1 for one in names if one is not None and one.text == name)


def _caller(code: Code, call: Node) -> _Caller:
    held = call.get("arguments")
    parts = [one for one in (held.parts if held is not None else []) if not code.is_a(one, "comment")]
    plain = [
        one for one in parts if one.kind != "keyword_argument" and "splat" not in one.kind and "spread" not in one.kind
    ]
    named = (one.get("name") for one in parts if one.kind == "keyword_argument")
    spread = any("splat" in one.kind or "spread" in one.kind for one in parts)
    words = frozenset(one.text for one in named if one is not None)
    return _Caller(code.tree.path, name_of(code.around(call, "function")), call, plain, words, not spread)


def _last(name: str) -> str:
    return name.replace("::", ".").rpartition(".")[2].removeprefix("new ")
