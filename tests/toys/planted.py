from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from textwrap import dedent

from reviewgauge.operators.code.operator import Code, Edit, Operator, applied
from reviewgauge.repo.syntax.tree import SyntaxTree, parse

PATHS = {
    "python": "a.py", "javascript": "a.js", "typescript": "a.ts", "tsx": "a.tsx", "java": "A.java", "go": "a.go",
    "rust": "a.rs",
}  # fmt: skip


@dataclass(frozen=True)
class Planted:
    after: str
    body: str
    safe: str


def tree_of(path: str, text: str) -> SyntaxTree:
    tree = parse(text.encode() + b"\n", path)
    assert isinstance(tree, SyntaxTree), f"{path}: {tree}"
    return tree


def code_of(
    language: str, text: str, added: Iterable[int] | None = None, others: Mapping[str, str] | None = None
) -> Code:
    """The code of a file in which every line is added, or those given."""
    tree = tree_of(PATHS[language], clean(text, language))
    lines = range(1, tree.source.count(b"\n") + 1) if added is None else added
    trees = [tree_of(path, clean(text, language)) for path, text in (others or {}).items()]
    return Code(tree, frozenset(lines), lambda word: [one for one in trees if word.encode() in one.source])


def planted(operator: Operator, code: Code) -> list[Planted]:
    """What an operator makes of a file; everything that it makes parses."""
    return [
        Planted(_made(code, plant.edits), plant.body, _made(code, plant.safe) if plant.safe else "")
        for plant in operator.plants(code)
    ]


def _made(code: Code, edits: Iterable[Edit]) -> str:
    source = applied(code.tree.source, edits)
    assert source != code.tree.source
    assert isinstance(parse(source, code.tree.path), SyntaxTree), source.decode()
    return source.decode().strip("\n")


def changes(operator: Operator, language: str, text: str, safe: bool = False) -> list[str]:
    """What the lines become that each plant (or its safe twin) changes, on one line; "" where they go."""
    code = code_of(language, text)
    made = [one.safe if safe else one.after for one in planted(operator, code)]
    return [_changed(code.tree.source.decode().strip("\n"), after) for after in made if after]


def bodies(operator: Operator, language: str, text: str) -> list[str]:
    """What is said of each plant."""
    return [one.body for one in planted(operator, code_of(language, text))]


def _changed(before: str, after: str) -> str:
    old, new = before.split("\n"), after.split("\n")
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return " ".join(line.strip() for line in new)


def clean(text: str, language: str = "") -> str:
    """Text of a table of tests: without its indentation; Go's four spaces are tabs, and its package is named."""
    text = dedent(text).strip("\n")
    if language != "go":
        return text
    text = re.sub(r"(?m)^(?: {4})+", lambda found: "\t" * (len(found[0]) // 4), text)
    return text if text.startswith("package") else f"package p\n\n{text}"
