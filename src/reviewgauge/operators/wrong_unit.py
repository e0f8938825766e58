"""Count in the wrong unit or round the wrong way: seconds for milliseconds, `ceil` for `floor`.

Source: ours; "wrong numeric conversion" of the defects of units (Ore et al., ISSTA 2018).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import Severity
from reviewgauge.operators.code.blocks import statement
from reviewgauge.operators.code.names import says, table
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee
from reviewgauge.operators.code.sentences import edited, quoted, tell
from reviewgauge.repo.syntax.tree import Node

_THOUSAND = frozenset({"1000", "1000.0", "1_000", "1e3", "1000L"})
_PARTS = frozenset({"60", "3600", "86400", "1000", "100", "24"})  # of an hour, a day, a code of status
_ASSIGNED = re.compile(r"([\w.]+)['\"]?(?:\s*:\s*\w+)?\s*[:=]+\s*[\w.(]*$")


@dataclass(frozen=True)
class WrongUnit(Operator):
    """A time is a thousand times too long or too short, or a number is rounded the wrong way."""

    severity: ClassVar[Severity] = Severity.HIGH

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in code.nodes("arithmetic"):
            sign = next((one for one in node.children if not one.named), None)
            if sign is not None and len(node.parts) == 2 and code.adds(node):
                yield from _divided(code, node, sign) if sign.text == "//" else _factor(code, node, sign.text)
        for node in code.nodes("member"):
            yield from _unit(code, node, node.text)
        for node in code.nodes("call"):
            held, name = node.get("arguments"), callee(node)
            if held is not None and held.parts and code.adds(node):
                key = held.parts[0].get("name") if held.parts[0].kind == "keyword_argument" else None
                yield from _unit(code, node, name if key is None else f"{name}({key.text}=")
                yield from _timer(name, held)
            if held is not None and code.adds(node):
                yield from _rounded(code, node, held)


def _factor(code: Code, node: Node, sign: str) -> Iterator[Plant]:
    """`x * 1000` or `x / 1000` where it is about time."""
    left, right = node.parts
    whole, kept = statement(code, node), right if left.text in _THOUSAND else left
    factors = [one for one in (left, right) if one.text in _THOUSAND]
    if whole is None or len(factors) != 1 or (factors[0] is not right and sign != "*") or sign not in ("*", "/"):
        return
    line = whole.source[code.tree.line_start(node.start) : node.end].decode("utf-8", "replace")
    if not re.search("[A-Za-z]", kept.text) or not says("time", "word", line):
        return
    bare = kept.text
    if kept.kind == "parenthesized_expression" and not (code.is_a(node.parent, "arithmetic") or "||" in bare):
        bare = bare[1:-1]
    before = whole.source[whole.start : node.start].decode("utf-8", "replace")
    name = _ASSIGNED.search(before[-200:])
    yield Plant(
        (Edit(node.start, node.end, bare),),
        tell("wrong_unit", "factor", shown=quoted(bare), target=f" where `{name[1]}` gets it" if name else ""),
        (Edit(node.start, node.end, f"{right.text} * {left.text}"),)
        if re.fullmatch(r"[\w.]+\*", kept.text + sign)
        else (),
    )


def _divided(code: Code, node: Node, sign: Node) -> Iterator[Plant]:
    """`//` of Python where only a whole number will do: an index, a range, hours and minutes."""
    above = [one for one in node.above() if one.end - one.start < 200]
    calls = [callee(one) for one in above if code.is_a(one, "call")]
    needs = node.parts[1].text in _PARTS or "range" in calls or any(one.kind in ("subscript", "slice") for one in above)
    if needs and not _is_cut(code, node):
        edit = Edit(sign.start, sign.end, "/")
        yield Plant((edit,), tell("wrong_unit", "divided", shown=quoted(edited(node, edit))))


def _is_cut(code: Code, node: Node) -> bool:
    """Whether what a node gives is made a whole number at once."""
    call = node.parent.parent if node.parent is not None else None
    return call is not None and code.is_a(call, "call") and callee(call) in ("int", "math.floor", "round")


def _unit(code: Code, node: Node, name: str) -> Iterator[Plant]:
    """A constant or a call that counts in a unit of time."""
    key = next((key for key in table("units") if name == key or name.endswith(f".{key}")), None)
    shown = node
    while not code.is_a(node, "call") and shown.parent is not None and _signs(shown.parent) == {"*"}:
        shown = shown.parent
    divided = shown.parent is not None and _signs(shown.parent) & {"/", "%"}
    if key is None or divided or "MAX_VALUE" in (node.parent or node).text or not code.adds(shown):
        return  # a quotient turns the other way
    other, factor = table("units")[key]
    end = node.start + len(name.encode())
    if code.tree.source[node.start : end].decode("utf-8", "replace") != name:
        return  # written over several lines
    edit = Edit(end - len(key), end, other)
    numbers = [one for one in shown.walk() if code.is_a(one, "number")]
    count = float(numbers[0].text) * factor if len(numbers) == 1 and numbers[0].text.isdigit() else 0
    same = (edit, Edit(numbers[0].start, numbers[0].end, str(round(count)))) if count >= 1 else ()
    times, size = round(max(factor, 1 / factor)), "short" if factor > 1 else "long"
    body = tell("wrong_unit", "unit", shown=quoted(edited(shown, edit)), times=times, size=size)
    yield Plant((edit,), body, same if abs(count - round(count)) < 1e-9 else ())


def _signs(node: Node) -> set[str]:
    return {one.text for one in node.children if not one.named} if len(node.parts) == 2 else set()


def _timer(name: str, held: Node) -> Iterator[Plant]:
    """The number of milliseconds of a timer of JavaScript."""
    number = held.parts[-1]
    if says("time", "timer", name) and re.fullmatch(r"\d+000", number.text):
        seconds = number.text[:-3]
        body = tell("wrong_unit", "timer", name=name, seconds=seconds)
        safe = (Edit(number.start, number.end, f"{seconds} * 1000"),) if seconds != "1" else ()
        yield Plant((Edit(number.start, number.end, seconds),), body, safe)


def _rounded(code: Code, node: Node, held: Node) -> Iterator[Plant]:
    name, python, rust = callee(node), code.tree.grammar == "python", code.tree.grammar == "rust"
    key = f".{name.rpartition('.')[2]}" if rust else name
    if key not in table("rounding") or len(held.parts) != (not rust) or (key in ("int", "round") and not python):
        return
    inside = node.text if rust else held.text
    if python and (not re.search("[^/]/[^/]" if key == "int" else "[*/]", inside) or '"' in inside or "000" in inside):
        return  # most often whole already, or nobody would mind
    other, does = table("rounding")[key]
    end = node.start + len(name.encode())
    edit = Edit(end - len(key), end, other)
    if not _is_cut(code, node):
        body = tell("wrong_unit", "rounded", shown=quoted(edited(node, edit)), does=does)
        yield Plant((edit,), body)
