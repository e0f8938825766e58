"""Names: where they are used, what a function is called and takes, and what the words in them say."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from reviewgauge.operators.code.operator import Code
from reviewgauge.repo.syntax.tree import Node

_WORDS: Mapping[str, Mapping[str, Any]] = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))


def mentions(node: Node, word: str) -> list[Node]:
    """Where a node names something as such: not a field or method of that name."""
    return [one for one in node.walk() if is_name(one) and one.text == word]


def is_name(node: Node) -> bool:
    """Whether a node stands for a value or type by its own name: not a field, a method, or the name of an argument."""
    if node.kind not in _NAMES or node.field in ("attribute", "field"):
        return False
    return (
        node.field != "name" or node.parent is None or node.parent.kind not in ("keyword_argument", "method_invocation")
    )


_NAMES = ("identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern", "type_identifier")


def leaves_unused(code: Code, start: int, end: int, but: str = "") -> bool:
    """Whether something, `but` one name, is declared or imported for these bytes only: compilers would complain."""
    root = code.tree.root
    inside = [one for one in root.walk() if start <= one.start and one.end <= end and is_name(one)]
    function = code.around(inside[0], "function") if inside else None
    for word in {one.text for one in inside} - {but}:
        everywhere = [one for one in mentions(root, word) if not start <= one.start < end]
        if code.tree.grammar == "go" and _is_package(code, word):
            if not everywhere:
                return True
            continue
        if function is None:
            continue
        near = [one for one in everywhere if function.start <= one.start < function.end]
        if len(near or everywhere) != 1 or word in {one.name.text for one in parameters(function)}:
            continue
        if _declares(near[0]) if near else _imports(everywhere[0]):
            return True
    return False


def _declares(node: Node) -> bool:
    held = node.parent
    listed = held is not None and held.kind in ("expression_list", "pattern_list") and held.field == "left"
    return listed or node.field in ("left", "name", "pattern", "alias") or node.kind.endswith("_pattern")


def _imports(node: Node) -> bool:
    return any("import" in one.kind or one.kind == "use_declaration" for one in node.above())


def _is_package(code: Code, word: str) -> bool:
    return re.search(rf'"(?:[^"]*/)?{re.escape(word)}"', code.tree.source.decode()) is not None


class Parameter(NamedTuple):
    """A parameter. `node` is all of it, `name` the node of its name; `type` is empty where none is written."""

    name: Node
    type: str
    default: Node | None
    node: Node


def parameters(function: Node) -> list[Parameter]:
    """What a function takes by name, in order; not itself (`self`, `cls`), not the rest (`*args`, `...rest`)."""
    held = function.get("parameters") or function.get("parameter")
    if held is None:
        return []
    if not held.parts:
        return [Parameter(held, "", None, held)] if held.kind == "identifier" else []
    found = [one for node in held.parts for one in _of(node)]
    return [one for one in found if one.name.text not in ("self", "cls")]


def name_of(function: Node | None) -> str:
    """What a function is called: its own name, or that of what it is assigned to; empty where it has none."""
    holders = () if function is None else (function, function.parent)
    named = (one.get(field) for one in holders if one is not None for field in ("name", "key", "left"))
    return next((one.text for one in named if one is not None), "")


def _of(node: Node) -> list[Parameter]:
    kind, default = node.get("type"), node.get("value") or node.get("right")
    if node.kind == "identifier":
        return [Parameter(node, "", None, node)]
    names = [one for one in node.children if one.field in ("name", "pattern", "left")]
    if node.kind == "typed_parameter":
        names = node.parts[:1]
    text = kind.text.removeprefix(":").strip() if kind is not None else ""
    alone = len(names) == 1
    return [Parameter(name, text, default, node if alone else name) for name in names if name.kind == "identifier"]


@cache
def _pattern(topic: str, name: str) -> re.Pattern[str]:
    return re.compile(_WORDS[topic][name], re.DOTALL)


def says(topic: str, name: str, text: str) -> bool:
    """Whether a text is one of these words."""
    return _pattern(topic, name).fullmatch(text) is not None


def table(topic: str) -> Mapping[str, Any]:
    """A topic that is a table: a word, and what belongs to it."""
    return _WORDS[topic]
