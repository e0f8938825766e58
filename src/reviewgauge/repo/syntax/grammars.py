"""The node types of functions, classes and comments: one table per language, in `grammars.toml`.

Imports nothing but the standard library, since the parsing process does.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Grammar:
    """The node types of one language.

    `functions` and `classes` are scopes, `spaces` (namespaces, modules of Rust) only give names, `closures` are
    functions where a wrapper names them. `bodied` are scopes only with a body (a struct's definition, not its use).
    `wrappers` say what belongs to the definition that they hold: `TYPE:FIELD|FIELD` by field, `TYPE>TYPE|TYPE` by the
    type of an only child. `attributes` and `comments` right above belong to what follows. `literals` are kept to
    the letter when code is compared; `holes` are the code in them. `types` are annotations. `doc_query` finds strings
    that count as comments unless they hold code. `joint` separates the parts of a name.
    """

    name: str
    wheel: str
    functions: Sequence[str]
    classes: Sequence[str]
    comments: Sequence[str]
    literals: Sequence[str]
    entry: str = "language"
    spaces: Sequence[str] = ()
    closures: Sequence[str] = ()
    bodied: Sequence[str] = ()
    wrappers: Sequence[str] = ()
    attributes: Sequence[str] = ()
    holes: Sequence[str] = ()
    types: Sequence[str] = ()
    joint: str = "."
    doc_query: str = ""

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """Node type -> function, class, space or closure."""
        named = {"space": self.spaces, "closure": self.closures, "class": self.classes, "function": self.functions}
        return {kind: role for role, kinds in named.items() for kind in kinds}

    @cached_property
    def holds(self) -> Mapping[str, tuple[bool, list[str]]]:
        """Wrapper's node type -> (whether by field, the fields or the child types)."""
        parts = [(word.partition(":" if ":" in word else ">"), ":" in word) for word in self.wrappers]
        return {kind: (by_field, inner.split("|")) for (kind, _, inner), by_field in parts}

    @cached_property
    def leading(self) -> frozenset[str]:
        """Node types that may be right above a definition and belong to it."""
        return frozenset((*self.comments, *self.attributes))

    @property
    def scope_query(self) -> str:
        """The tree-sitter query for everything that may be a scope."""
        return _query(self.roles, "scope")

    @property
    def text_query(self) -> str:
        """The query for comments and for literals."""
        asked = {"comment": self.comments, "literal": self.literals, "hole": self.holes, "type": self.types}
        return "\n".join(_query(kinds, name) for name, kinds in asked.items() if kinds) + self.doc_query


def _query(kinds: Sequence[str] | Mapping[str, str], name: str) -> str:
    return f"[{' '.join(f'({kind})' for kind in kinds)}] @{name}"


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
GRAMMARS: Mapping[str, Grammar] = {key: Grammar(**table) for key, table in _TABLES.items()}
_BY_LANGUAGE = {grammar.name: key for key, grammar in GRAMMARS.items() if key != "tsx"}


def grammar_of(language: str, path: str, looks_like_cpp: bool) -> str:
    """The key of the grammar for a file of `language`; empty where there is none. A `.h` may be C++ by its looks."""
    key = _BY_LANGUAGE.get(language, "")
    if key == "typescript" and path.lower().endswith(".tsx"):
        return "tsx"
    return "cpp" if key == "c" and looks_like_cpp else key
