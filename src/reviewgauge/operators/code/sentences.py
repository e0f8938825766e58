"""Words for a reviewer's sentence about code."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from reviewgauge.operators.code.names import name_of
from reviewgauge.operators.code.operator import Code, Edit, callee, is_arid
from reviewgauge.repo.syntax.tree import Node

_TEXT = files(__package__).joinpath("sentences.toml").read_text("utf-8")
_SENTENCES: Mapping[str, Mapping[str, str]] = tomllib.loads(_TEXT)
_LONG = 70


def tell(operator: str, situation: str, **code: object) -> str:
    """The sentence of `sentences.toml` for a situation."""
    return _SENTENCES[operator][situation].format(**code)


def where(code: Code, node: Node) -> str:
    """In which function a node stands, for a sentence; empty where that has no name."""
    function = name_of(code.around(node, "function"))
    return f" in `{function}`" if function else ""


def quoted(code: Node | str) -> str:
    """Code between backticks on one line, cut where it is long."""
    text = " ".join((code if isinstance(code, str) else code.text).split()).replace("`", "'")
    return f"`{text}`" if len(text) <= _LONG else f"`{text[: _LONG - 4].rstrip()} ...`"


def edited(node: Node, edit: Edit) -> str:
    """The code of a node with an edit in it made."""
    source = node.source
    return (source[node.start : edit.start] + edit.text.encode() + source[edit.end : node.end]).decode(
        "utf-8", "replace"
    )


def statements(code: Code, body: Node | None) -> list[Node]:
    """The statements of a branch, with or without braces, in order; comments are none."""
    if body is None:
        return []
    while body.kind in ("else_clause", "block", "statement_block", "statement_list"):
        parts = [part for part in body.parts if not code.is_a(part, "comment")]
        if len(parts) != 1:
            return parts
        body = parts[0]
    return [body]


def inner(statement: Node) -> Node:
    """The expression that a statement is made of; else the statement."""
    return statement.parts[0] if statement.kind == "expression_statement" and statement.parts else statement


def does(code: Code, body: Node | None) -> str:
    """What a branch does, after "it": "returns `None`", "calls `close`"."""
    lines = statements(code, body)
    if not lines:
        return "does nothing"
    last = inner(lines[-1])
    value = last.parts[0] if last.parts else None
    if code.is_a(last, "raise"):
        what = "" if value is None else f" {quoted(_made(code, value))}"
        return f"{'raises' if code.tree.grammar == 'python' else 'throws'}{what}"
    if code.is_a(last, "return"):
        return "returns" if value is None else f"returns {quoted(value)}"
    if code.is_a(last, "jump"):
        return "goes on with the next round" if last.text.startswith("continue") else "leaves the loop"
    first = next((one for one in map(inner, lines) if not is_arid(code.tree, one)), last)
    if code.is_a(first, "assignment"):
        return f"sets {quoted(first.parts[0])}"
    if code.is_a(first, "call"):
        return f"calls {quoted(callee(first))}"
    return "runs this branch"


def _made(code: Code, value: Node) -> str:
    """The class of an exception that is made: `ValueError` of `ValueError("no")`."""
    return (
        callee(value).removeprefix("new ") if code.is_a(value, "call") or value.kind == "new_expression" else value.text
    )
