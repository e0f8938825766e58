"""What a function takes: its parameters with their types and defaults."""

from __future__ import annotations

from typing import NamedTuple

from reviewgauge.repo.syntax.tree import Node


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
