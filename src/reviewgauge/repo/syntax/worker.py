"""The process that parses. It holds nothing and may die: a grammar can need any amount of memory for hostile code.

Asked on its standard input, one line of JSON and then the source; it answers with one line of JSON. Imports nothing of
the package but its neighbours here, which need the standard library only.
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

from reviewgauge.repo.syntax.grammars import GRAMMARS
from reviewgauge.repo.syntax.scopes import find_scopes, last_row

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


def serve(asked: BinaryIO, said: BinaryIO) -> None:
    """Answer what is asked."""
    while line := asked.readline():
        request = json.loads(line)
        source = asked.read(request["size"])
        said.write(
            json.dumps(answer(request["grammar"], request["want"], source), separators=(",", ":")).encode() + b"\n"
        )
        said.flush()


def answer(key: str, want: str, source: bytes) -> dict[str, Any]:
    """What `want` (scopes or text) says of a source."""
    from tree_sitter import QueryCursor

    parser, queries = _tools(key)
    tree = parser.parse(source)
    root = tree.root_node
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
    return {"comment": sorted(comments + plain), "literal": literals, "hole": holes}


def _ranges(nodes: Iterable[Any]) -> list[list[int]]:
    return sorted([node.start_byte, node.end_byte] for node in nodes)


@cache
def _tools(key: str) -> tuple[Any, dict[str, Any]]:
    from tree_sitter import Language, Parser, Query

    grammar = GRAMMARS[key]
    language = Language(getattr(importlib.import_module(grammar.wheel), grammar.entry)())
    queries = {"scopes": grammar.scope_query, "text": grammar.text_query, "errors": "(ERROR) @error"}
    return Parser(language), {name: Query(language, text) for name, text in queries.items()}
