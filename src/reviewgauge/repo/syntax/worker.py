"""The process that parses, and finds the scopes of a file. It may die: hostile code can need any amount of memory.

A request on its standard input is one line of JSON, then the source; an answer is one line of JSON. Imports nothing of
the package but the grammars, which need the standard library only. A scope goes out as [kind, name, first byte, first
row, last row, first byte with the comments above, its row]; rows count from 0, `kind` is function, method or class.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache
from typing import Any, BinaryIO

from reviewgauge.repo.syntax.grammars import GRAMMARS, Grammar

MEMORY = 1 << 30  # bytes of address space; an ordinary file of 1 MB takes a tenth of it
_MOST_ERRORS = 1000


def main() -> None:
    """Answer until the input ends."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # no such limit on this system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    importlib.import_module("tree_sitter")
    sys.stdout.buffer.write(b"ready\n")
    sys.stdout.buffer.flush()
    serve(sys.stdin.buffer, sys.stdout.buffer)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    while line := requests.readline():
        request = json.loads(line)
        source = requests.read(request["size"])
        answers.write(
            json.dumps(answer(request["grammar"], request["want"], source), separators=(",", ":")).encode() + b"\n"
        )
        answers.flush()


def answer(key: str, want: str, source: bytes) -> dict[str, Any]:
    """The scopes, the text or the tree of a source, or whether it is sound, as `want` says."""
    from tree_sitter import QueryCursor

    parser, queries = _tools(key)
    tree = parser.parse(source)
    root = tree.root_node
    if want == "sound":
        return {"broken": root.has_error}
    if want == "tree":
        return list_nodes(tree)
    found = QueryCursor(queries[want]).captures(root)
    if want == "scopes":
        broken = QueryCursor(queries["errors"]).captures(root).get("error", ()) if root.has_error else ()
        errors = [[node.start_point.row, last_row(node)] for node in broken[:_MOST_ERRORS]]
        if root.type == "ERROR":
            errors.append([0, last_row(root)])
        return {"scopes": find_scopes(found.get("scope", []), GRAMMARS[key]), "errors": errors}
    comments, literals, holes, docs = (_ranges(found.get(what, ())) for what in ("comment", "literal", "hole", "doc"))
    at = [hole[0] for hole in holes]
    plain = [doc for doc in docs if bisect_left(at, doc[0]) == bisect_left(at, doc[1])]
    return {"comment": sorted(comments + plain), "literal": literals, "types": _annotations(found.get("type", ()))}


def list_nodes(tree: Any) -> dict[str, Any]:
    """Every node in the order of the code: [type, field, first byte, end, whether named, number of its parent].

    Types and fields are numbers of `words`.
    """
    words: dict[str, int] = {}
    nodes: list[list[int]] = []
    cursor, parents = tree.walk(), [-1]
    while True:
        node, name = cursor.node, cursor.field_name or ""
        numbers = [words.setdefault(word, len(words)) for word in (node.type, name)]
        nodes.append([*numbers, node.start_byte, node.end_byte, int(node.is_named), parents[-1]])
        if cursor.goto_first_child():
            parents.append(len(nodes) - 1)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return {"words": list(words), "nodes": nodes}
            parents.pop()


def _annotations(nodes: Iterable[Any]) -> list[list[int]]:
    """The byte ranges of annotations with the sign before each: `: int`, `-> str`."""
    found = []
    for node in nodes:
        sign = node.prev_sibling
        start = sign.start_byte if sign is not None and sign.type in (":", "->") else node.start_byte
        found.append([start, node.end_byte])
    return sorted(found)


def _ranges(nodes: Iterable[Any]) -> list[list[int]]:
    return sorted([node.start_byte, node.end_byte] for node in nodes)


@cache
def _tools(key: str) -> tuple[Any, dict[str, Any]]:
    from tree_sitter import Language, Parser, Query

    grammar = GRAMMARS[key]
    language = Language(getattr(importlib.import_module(grammar.wheel), grammar.entry)())
    queries = {"scopes": grammar.scope_query, "text": grammar.text_query, "errors": "(ERROR) @error"}
    return Parser(language), {name: Query(language, text) for name, text in queries.items()}


Node = Any
Scope = list[str | int]
_LONGEST_NAME = 200
_DECLARATORS = 50  # steps from a C function to its name
_METHODS = ("method_declaration", "constructor_declaration", "method_definition")
_NAMELESS = {"operator_declaration": "operator", "indexer_declaration": "this", "static_initializer": "static"}


def find_scopes(found: list[Node], grammar: Grammar) -> list[Scope]:
    """The scopes among the nodes that the grammar's query found, in the order of the file."""
    scopes: list[Scope] = []
    around: list[tuple[int, str, str]] = []  # (last byte, role, full name) of the scopes that are open
    for node in sorted(found, key=lambda node: (node.start_byte, -node.end_byte)):
        role = grammar.roles.get(node.type)
        if role is None or not node.is_named or not _is_defined(node, grammar):
            continue
        outer, namer = _whole(node, grammar, role)
        if role == "closure" and namer is None and node.child_by_field_name("name") is None:
            continue
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        name = _name(node, namer, grammar)
        full = grammar.joint.join(part for part in (around[-1][2] if around else "", name) if part)
        if role == "space":
            around.append((node.end_byte, around[-1][1] if around else "", full))
            continue
        kind = role if role == "class" else _function_kind(node, around)
        around.append((node.end_byte, kind, full))
        scopes.append([kind, full, *_reach(outer, grammar)])
    return scopes


def _is_defined(node: Node, grammar: Grammar) -> bool:
    """Whether a node of a type that needs a body has one."""
    if node.type not in grammar.bodied:
        return True
    if node.child_by_field_name("body") is not None or node.child_by_field_name("value") is not None:
        return True
    if (kind := node.child_by_field_name("type")) is not None and kind.type in ("struct_type", "interface_type"):
        return True
    accessors = node.child_by_field_name("accessors")
    return accessors is not None and any(child.child_by_field_name("body") for child in accessors.named_children)


def _whole(node: Node, grammar: Grammar, role: str) -> tuple[Node, Node | None]:
    """(the node with the wrappers that belong to it, the innermost wrapper that can name it)."""
    outer, namer = node, None
    parent = node.parent
    while parent is not None and (rule := grammar.holds.get(parent.type)) is not None:
        by_field, inner = rule
        if by_field:
            held = any(parent.child_by_field_name(name) == outer for name in inner)
        else:
            held = [child for child in parent.named_children if child.type in inner] == [outer]
        if not held:
            break
        if namer is None and (parent.type == "export_statement" or _name_of(parent) is not None):
            namer = parent
        outer, parent = parent, parent.parent
    return outer, namer


def _name_of(node: Node) -> Node | None:
    for name in ("name", "left", "key", "property", "pattern", "declarator"):
        if (found := node.child_by_field_name(name)) is not None:
            return found
    return None


def _name(node: Node, namer: Node | None, grammar: Grammar) -> str:
    if node.type == "impl_item":
        return _text(node.child_by_field_name("type")).partition("<")[0]
    own = node.child_by_field_name("name") or _declared(node)
    if own is not None:
        name = _text(own)
        receiver = node.child_by_field_name("receiver")
        return f"{_receiver(receiver)}.{name}" if receiver is not None else name
    if namer is not None:
        named = _name_of(namer)
        return "default" if named is None else _text(_innermost(named))
    return _NAMELESS.get(node.type, "")


def _declared(node: Node) -> Node | None:
    """The name of a C function, at the end of its declarators."""
    at = node.child_by_field_name("declarator") if node.type == "function_definition" else None
    return None if at is None else _innermost(at)


def _innermost(node: Node) -> Node:
    for _ in range(_DECLARATORS):
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("parenthesized_declarator", "reference_declarator"):
            inner = node.named_child(0)
        if inner is None:
            break
        node = inner
    return node


def _receiver(node: Node) -> str:
    """The type of a Go method's receiver: `*Stack[T]` is `Stack`."""
    declared = node.named_child(0)
    kind = declared.child_by_field_name("type") if declared is not None else None
    return _text(kind).lstrip("*(").partition("[")[0].rstrip(")")


def _function_kind(node: Node, around: list[tuple[int, str, str]]) -> str:
    if (
        node.type in _METHODS
        or node.child_by_field_name("receiver") is not None
        or (around and around[-1][1] == "class")
    ):
        return "method"
    declared = _declared(node)
    return "method" if declared is not None and declared.type == "qualified_identifier" else "function"


def _text(node: Node | None) -> str:
    if node is None or node.text is None:
        return ""
    return " ".join(node.text[: 4 * _LONGEST_NAME].decode("utf-8", "replace").replace("\x00", " ").split())[
        :_LONGEST_NAME
    ]


def _reach(node: Node, grammar: Grammar) -> list[int]:
    """From where to where a definition goes: attributes above belong to it, and comments right above if need be."""
    start, commented = node, node
    last = commented
    while (above := last.prev_sibling) is not None and above.type in grammar.leading:
        attribute = above.type in grammar.attributes
        if not attribute and (last_row(above) + 1 < last.start_point.row or _ends_a_line(above)):
            break
        last = commented = above
        if attribute:
            start = above
    return [
        start.start_byte,
        start.start_point.row,
        last_row(node),
        min(commented.start_byte, start.start_byte),
        min(commented.start_point.row, start.start_point.row),
    ]


def _ends_a_line(comment: Node) -> bool:
    before = comment.prev_sibling
    return (
        before is not None and before.end_point.row == comment.start_point.row and before.end_byte > before.start_byte
    )


def last_row(node: Node) -> int:
    """The last row of a node; one that ends with a line break does not reach into the next row."""
    end = node.end_point
    return int(end.row - 1 if end.column == 0 and end.row > node.start_point.row else end.row)
