"""What an operator is: it proposes defects for a file, and says each as a reviewer would."""

from __future__ import annotations

import re
import tomllib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, NamedTuple

from reviewgauge.core.records import RequiredContext, Severity
from reviewgauge.core.specs import Plugin
from reviewgauge.repo.syntax.tree import Node, SyntaxTree

_TABLE: Mapping[str, Any] = tomllib.loads(files(__package__).joinpath("nodes.toml").read_text("utf-8"))
LANGUAGES = tuple(name for name in _TABLE if name != "arid")  # keys of grammars
_ARID_CALL = re.compile(_TABLE["arid"]["calls"], re.IGNORECASE)
_ARID_FUNCTION = re.compile(_TABLE["arid"]["functions"])


class Edit(NamedTuple):
    """`text` in place of the bytes from `start` to before `end`."""

    start: int
    end: int
    text: str


class Plant(NamedTuple):
    """A defect that an operator can put in.

    `body` is what a reviewer would write about it, in the names of this code: what is wrong and what follows, and not
    what was there before. `safe` is an edit of the same kind at the same place that does no harm; empty where there is
    none.
    """

    edits: tuple[Edit, ...]
    body: str
    safe: tuple[Edit, ...] = ()


@dataclass(frozen=True, eq=False)
class Code:
    """A file to plant in. `added` are the lines that the change adds; `others` are the other files that hold a word."""

    tree: SyntaxTree
    added: frozenset[int]
    others: Callable[[str], Sequence[SyntaxTree]] = lambda word: ()

    def nodes(self, role: str) -> Iterator[Node]:
        """The nodes of a role (`nodes.toml`) that begin on an added line, where code matters."""
        for node in nodes_of(self.tree, role):
            if self.tree.line(node.start) in self.added and not is_arid(self.tree, node):
                yield node

    def adds(self, what: Node | Edit) -> bool:
        """Whether every line of a node or edit is added."""
        lines = range(self.tree.line(what.start), self.tree.line(max(what.start, what.end - 1)) + 1)
        return self.added.issuperset(lines)

    def is_a(self, node: Node | None, role: str) -> bool:
        """Whether a node has a role."""
        return node is not None and node.kind in kinds_of(self.tree.grammar, role)

    def around(self, node: Node, role: str) -> Node | None:
        """The innermost node of a role that holds this one."""
        kinds = kinds_of(self.tree.grammar, role)
        return next((one for one in node.above() if one.kind in kinds), None)


class Operator(Plugin):
    """Puts one kind of defect into code: a mutation operator that knows syntax.

    `needs` is how far a reviewer must look to see it, `languages` are keys of `nodes.toml`.
    """

    kind: ClassVar[str] = "operators"
    category: ClassVar[str] = "defect"
    severity: ClassVar[Severity] = Severity.MEDIUM
    needs: ClassVar[RequiredContext] = RequiredContext.DIFF
    languages: ClassVar[Sequence[str]] = LANGUAGES

    @abstractmethod
    def plants(self, code: Code) -> Iterable[Plant]:
        """Every defect of this kind that the added lines of a file can take, in the order of the code.

        An edit touches added lines only. What would not change behaviour, not compile, or stand out is not proposed.
        """


@cache
def kinds_of(grammar: str, role: str) -> frozenset[str]:
    """The node types of a role in a language; none where it has no such thing."""
    return frozenset(_TABLE.get(grammar, {}).get(role, ()))


def nodes_of(tree: SyntaxTree, role: str) -> list[Node]:
    """All nodes of a role in a file, in the order of the code."""
    found = (node for kind in kinds_of(tree.grammar, role) for node in tree.of_kind.get(kind, ()))
    return sorted(found, key=lambda node: node.at)


def is_arid(tree: SyntaxTree, node: Node) -> bool:
    """Whether nobody would mind a defect here: logging, messages, assertions, how a value prints itself, imports.

    Source: Petrović and Ivanković, "State of mutation testing at Google" (ICSE-SEIP 2018), on arid nodes.
    """
    for one in (node, *node.above()):
        if one.kind in kinds_of(tree.grammar, "arid"):
            return True
        if one.kind in kinds_of(tree.grammar, "call") and _ARID_CALL.search(callee(one)[-200:]):
            return True
        if one.kind in kinds_of(tree.grammar, "function"):
            name = one.get("name")
            if name is not None and _ARID_FUNCTION.fullmatch(name.text):
                return True
            if tree.grammar != "rust":  # its tests stand in a module of the file
                return False
    return False


def callee(call: Node) -> str:
    """The text before the arguments of a call: `logger.info`."""
    arguments = call.get("arguments")
    end = call.end if arguments is None else arguments.start
    return call.source[call.start : end].decode("utf-8", "replace").strip()


def applied(source: bytes, edits: Iterable[Edit]) -> bytes:
    """The source with the edits made; they do not overlap."""
    for edit in sorted(edits, reverse=True):
        source = source[: edit.start] + edit.text.encode() + source[edit.end :]
    return source
