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
from reviewgauge.operators.code.blocks import are_added, statement
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, applied, callee
from reviewgauge.operators.code.sentences import quoted
from reviewgauge.operators.code.words import says, table
from reviewgauge.repo.syntax.tree import Node

_THOUSAND = frozenset({"1000", "1000.0", "1_000", "1e3", "1000L", "1000_f64"})
_PARTS = frozenset({"60", "3600", "86400", "1000", "100", "24"})
_ROUNDED = {"python": r"[*/]", "javascript": ".", "typescript": ".", "tsx": ".", "java": ".", "go": ".", "rust": "."}


@dataclass(frozen=True)
class WrongUnit(Operator):
    """A time is a thousand times too long or too short, or a number is rounded the wrong way."""

    severity: ClassVar[Severity] = Severity.HIGH

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in code.nodes("arithmetic"):
            yield from _factor(code, node)
            yield from _divided(code, node)
        for node in code.nodes("member"):
            yield from _unit(code, node, node.start, node.text)
        for node in code.nodes("call"):
            held = node.get("arguments")
            if held is None or not are_added(code, node.start, node.end):
                continue
            key = next((part.get("name") for part in held.parts[:1] if part.kind == "keyword_argument"), None)
            name = callee(node) + (f"({key.text}=" if key is not None else "")
            yield from _unit(code, node, node.start, name)
            yield from _rounded(code, node, held)
            yield from _timer(code, node, held)


def _factor(code: Code, node: Node) -> Iterator[Plant]:
    """`x * 1000` or `x / 1000` where it is about time."""
    whole = statement(code, node)
    if len(node.parts) != 2 or whole is None or not are_added(code, node.start, node.end):
        return
    left, right = node.parts
    sign = next((one.text for one in node.children if one.text in ("*", "/")), "")
    factors = [one for one in (left, right) if one.text in _THOUSAND]
    if not sign or len(factors) != 1 or (sign == "/" and left is factors[0]):
        return
    kept = right if left is factors[0] else left
    if not says("time", "word", _about(whole, node)) or not re.search(r"[A-Za-z]", kept.text) or "1000" in kept.text:
        return
    bare = kept.parts[0].text if kept.kind == "parenthesized_expression" and _stands_alone(code, node) else kept.text
    simple = sign == "*" and re.fullmatch(r"[\w.]+", kept.text)
    safe = (Edit(node.start, node.end, f"{right.text} * {left.text}"),) if simple else ()
    yield Plant((Edit(node.start, node.end, bare),), _told_of_factor(whole, node, bare), safe)


def _about(whole: Node, node: Node) -> str:
    """The line of a number, and the name that it gets."""
    text = whole.source[: node.end].decode("utf-8", "replace")
    return whole.text.split("\n", maxsplit=1)[0] + text[text.rfind("\n") :]


def _stands_alone(code: Code, node: Node) -> bool:
    return node.parent is not None and not code.is_a(node.parent, "arithmetic") and not code.is_a(node.parent, "member")


def _told_of_factor(whole: Node, node: Node, bare: str) -> str:
    target = whole.text[: max(0, len(whole.source[whole.start : node.start].decode("utf-8", "replace")))]
    name = re.search(r"([\w.]+)['\"]?(?:\s*:\s*\w+)?\s*[:=]+\s*[\w.(]*$", target)
    where = f" where `{name[1]}` gets it" if name else ""
    return (
        f"Wrong unit: {quoted(bare)} is taken as it is{where}, with no conversion between seconds and milliseconds, "
        "so the value is off by a factor of 1000."
    )


def _divided(code: Code, node: Node) -> Iterator[Plant]:
    """`//` of Python where only a whole number will do: an index, a range, hours and minutes."""
    sign = next((one for one in node.children if one.text == "//"), None)
    if sign is None or len(node.parts) != 2 or not are_added(code, sign.start, sign.end) or _is_cut(code, node):
        return
    edit = Edit(sign.start, sign.end, "/")
    if node.parts[1].text in _PARTS or _is_whole(code, node):
        yield Plant(
            (edit,),
            f"{quoted(_made(node, edit))} is a division that gives a float: it is not cut to a whole number, "
            "so what counts with it is off by a fraction or fails where an integer is needed.",
        )


def _is_cut(code: Code, node: Node) -> bool:
    """Whether what a node gives is made a whole number at once."""
    call = node.parent.parent if node.parent is not None else None
    return call is not None and code.is_a(call, "call") and callee(call) in ("int", "math.floor", "round")


def _is_whole(code: Code, node: Node) -> bool:
    """Whether a number, or the name that gets it, is an index or the bound of a range."""
    whole, function = statement(code, node), code.around(node, "function")
    left = whole.parts[0].get("left") if whole is not None and whole.parts else None
    same = [one for one in function.walk() if left is not None and one.text == left.text] if function else []
    uses = [one for one in same if one.start > node.end and one.kind == "identifier"]
    return any(_needs_whole(code, one) for one in (node, *uses))


def _needs_whole(code: Code, node: Node) -> bool:
    for one in node.above():
        if code.is_a(one, "block"):
            return False
        if one.kind in ("subscript", "slice") or (code.is_a(one, "call") and callee(one) in ("range", "chr", "bytes")):
            return True
    return False


def _unit(code: Code, node: Node, start: int, name: str) -> Iterator[Plant]:
    """A constant or a call that counts in a unit of time."""
    key = next((key for key in table("units") if name == key or name.endswith(f".{key}")), None)
    if key is None or not are_added(code, start, start + len(name)):
        return
    other, factor = table("units")[key]
    edit = Edit(start + len(name) - len(key), start + len(name), other)
    shown = node if code.is_a(node, "call") else _widest(node)
    if shown is node and node.parent is not None and code.is_a(node.parent, "arithmetic"):
        return  # a quotient or a remainder, which turns the other way
    way = "short" if factor > 1 else "long"
    body = (
        f"Wrong unit: {quoted(_made(shown, edit))} is {round(max(factor, 1 / factor))} times too {way} "
        "for what it is used for."
    )
    yield Plant((edit,), body, _same_time(code, node, shown, edit, factor))


def _product(node: Node) -> bool:
    return node.kind == "binary_expression" and any(child.text == "*" for child in node.children)


def _widest(node: Node) -> Node:
    """The product that a constant is in."""
    while node.parent is not None and _product(node.parent):
        node = node.parent
    return node


def _same_time(code: Code, node: Node, shown: Node, edit: Edit, factor: float) -> tuple[Edit, ...]:
    """The same time in the other unit, where a number is written beside it."""
    numbers = [one for one in shown.walk() if code.is_a(one, "number")]
    if len(numbers) != 1 or not numbers[0].text.isdigit() or not are_added(code, shown.start, shown.end):
        return ()
    count = int(numbers[0].text) * factor
    if count < 1 or abs(count - round(count)) > 1e-9:
        return ()
    return (edit, Edit(numbers[0].start, numbers[0].end, str(round(count))))


def _rounded(code: Code, node: Node, held: Node) -> Iterator[Plant]:
    name = callee(node)
    key = next((key for key in table("rounding") if name == key or (key[0] == "." and name.endswith(key))), None)
    inside = held.parts if name == key else [node]
    if key in ("int", "round") and code.tree.grammar != "python":
        return
    if key is None or len(held.parts) != (name == key) or (key[0] == ".") != (code.tree.grammar == "rust"):
        return
    if not re.search(_ROUNDED.get(code.tree.grammar, "."), inside[0].text) or '"' in node.text:
        return
    if (key == "int" and not re.search(r"[^/]/[^/]", inside[0].text)) or "000" in inside[0].text or _is_cut(code, node):
        return  # most often whole already, or nobody would mind
    other, does = table("rounding")[key]
    start = node.start + len(name) - len(key)
    edit = Edit(start, start + len(key), other)
    body = f"Wrong rounding: {quoted(_made(node, edit))} {does}, so the result is off by one where a fraction is left."
    yield Plant((edit,), body)


def _timer(code: Code, node: Node, held: Node) -> Iterator[Plant]:
    """The number of milliseconds of a timer of JavaScript."""
    if not says("time", "timer", callee(node)) or len(held.parts) < 2:
        return
    number = held.parts[1]
    if number.text.isdigit() and int(number.text) >= 1000 and int(number.text) % 1000 == 0:
        seconds = str(int(number.text) // 1000)
        yield Plant(
            (Edit(number.start, number.end, seconds),),
            f"Wrong unit: `{callee(node)}` counts in milliseconds, and `{seconds}` of them pass at once.",
            (Edit(number.start, number.end, f"{seconds} * 1000"),),
        )


def _made(node: Node, edit: Edit) -> str:
    """The code of a node with an edit in it made."""
    source = node.source[node.start : node.end]
    return applied(source, [Edit(edit.start - node.start, edit.end - node.start, edit.text)]).decode("utf-8", "replace")
