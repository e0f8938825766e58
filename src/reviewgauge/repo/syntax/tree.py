"""The whole syntax tree of a file, as values of this process: for who changes code and not only reads it.

Parsing happens in the process of `functions`, which hostile code may kill.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reviewgauge.core.errors import UserError
from reviewgauge.repo.syntax.functions import PARSERS, grammar_for
from reviewgauge.repo.syntax.lines import line_starts

_GAVE_UP = "the parser gave up on it"
_BROKEN = "it does not parse"
_SAME = {"tsx": "typescript"}  # the same types of nodes


@dataclass(slots=True, eq=False)
class Node:
    """A node: its type in the grammar, the name of its field in its parent, its bytes. Not `named`: a sign or word.

    `all` are the nodes of the file in the order of the code, this one at `at`, with what is below it right behind.
    """

    kind: str
    field: str
    start: int
    end: int
    named: bool
    source: bytes = dataclasses.field(repr=False)
    all: list[Node] = dataclasses.field(repr=False)
    at: int
    size: int = 1
    parent: Node | None = dataclasses.field(default=None, repr=False)
    children: list[Node] = dataclasses.field(default_factory=list, repr=False)
    _text: str | None = None

    @property
    def text(self) -> str:
        """Its code."""
        if self._text is None:
            self._text = self.source[self.start : self.end].decode("utf-8", "replace")
        return self._text

    @property
    def parts(self) -> list[Node]:
        """Its named children."""
        return [child for child in self.children if child.named]

    def get(self, name: str) -> Node | None:
        """The first child in a field."""
        return next((child for child in self.children if child.field == name), None)

    def walk(self) -> Sequence[Node]:
        """It and everything below, in the order of the code."""
        return self.all[self.at : self.at + self.size]

    def above(self) -> Iterator[Node]:
        """Its parent, the parent of that, and so on."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


@dataclass(frozen=True, eq=False)
class SyntaxTree:
    """A file that parses. `grammar` is the key of its grammar in `grammars.toml`; of TSX that of TypeScript."""

    path: str
    grammar: str
    source: bytes

    @cached_property
    def root(self) -> Node:
        """The node of the whole file; made when somebody looks. Raises UserError where the parser gives up on it."""
        answer = PARSERS.ask(grammar_for(self.source, self.path)[0], "tree", self.source)
        if answer is None:
            raise UserError(f"{self.path}: {_GAVE_UP}")
        return _root(answer, self.source)

    @cached_property
    def of_kind(self) -> Mapping[str, Sequence[Node]]:
        """The nodes of each type, in the order of the code."""
        found: defaultdict[str, list[Node]] = defaultdict(list)
        for node in self.root.all:
            found[node.kind].append(node)
        return found

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return line_starts(self.source)

    def line(self, byte: int) -> int:
        """The line that a byte is on, counted from 1."""
        return bisect_right(self._starts, byte)

    def line_start(self, byte: int) -> int:
        """The first byte of the line that a byte is on."""
        return self._starts[self.line(byte) - 1]

    def indent(self, node: Node) -> str:
        """The white space before the line that a node begins on."""
        line = self.source[self.line_start(node.start) : node.start].decode("utf-8", "replace")
        return line[: len(line) - len(line.lstrip())]


def parse(source: bytes, path: str) -> SyntaxTree | str:
    """The tree of a file, or why there is none: no grammar, too large, binary, not UTF-8, or it does not parse."""
    grammar, reason = grammar_for(source, path)
    if reason:
        return reason
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return "it is not UTF-8"
    answer = PARSERS.ask(grammar, "sound", source)
    if answer is None:
        return _GAVE_UP
    return _BROKEN if answer["broken"] else SyntaxTree(path, _SAME.get(grammar, grammar), source)


def _root(answer: Mapping[str, Any], source: bytes) -> Node:
    """The nodes, which come in the order of the code, each with the number of its parent (the root's own is -1)."""
    words: Sequence[str] = answer["words"]
    nodes: list[Node] = []
    for at, (kind, name, start, end, named, parent) in enumerate(answer["nodes"]):
        above = nodes[parent] if parent >= 0 else None
        nodes.append(Node(words[kind], words[name], start, end, bool(named), source, nodes, at, parent=above))
        if above is not None:
            above.children.append(nodes[-1])
    for node in reversed(nodes):
        if node.parent is not None:
            node.parent.size += node.size
    return nodes[0]
