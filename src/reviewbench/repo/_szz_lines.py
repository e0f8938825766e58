"""Lines of a file as SZZ compares them: blank, comment or code, and their tokens without white space and comments.

Two pieces of code are the same when their tokens are, however they are broken into lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate

_TOKEN = re.compile(r"\w+|[^\w\s]")
_MOST_TOKENS = 4_000  # on one side of a hunk; beyond it only whole lines are compared
_MOST_LINES = 4_000  # on one side of a hunk; beyond it nothing is compared

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class FileLines:
    """The lines of one version of a file; index 0 is line 1. `known`: its comments are told from its code."""

    kinds: tuple[str, ...]
    tokens: tuple[Tokens, ...]
    known: bool

    def kind(self, line: int) -> str:
        """ "blank", "comment" or "code"."""
        return self.kinds[line - 1] if 0 < line <= len(self.kinds) else "blank"

    def between(self, start: int, count: int) -> tuple[Tokens, ...]:
        """The tokens of `count` lines from `start`; none for lines that are not there."""
        found = self.tokens[max(start - 1, 0) : max(start - 1, 0) + count]
        return found + ((),) * (count - len(found))


def file_lines(content: bytes, path: str) -> FileLines:
    """The lines of a file, by its syntax where its language is known."""
    return plain_lines(content)


def plain_lines(content: bytes) -> FileLines:
    """What can be said without knowing the language: which lines are blank, and words and signs as tokens."""
    rows = content.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    tokens = tuple(tuple(_TOKEN.findall(row)) for row in rows)
    return FileLines(tuple("code" if row else "blank" for row in tokens), tokens, known=False)


def same_code(old: Sequence[Tokens], new: Sequence[Tokens]) -> dict[int, tuple[int, ...]]:
    """For lines of `new` that say what lines of `old` say, in the same order: the indexes of those lines of `old`.

    Runs of whole lines are compared, so `f(a,` and `b)` are the same code as `f(a, b)`, and `return x` is not found in
    `return x + 1`. Lines without tokens are never in the answer.
    """
    if len(old) > _MOST_LINES or len(new) > _MOST_LINES:
        return {}
    olds, news = _Flat(old), _Flat(new)
    if max(len(olds.tokens), len(news.tokens)) > _MOST_TOKENS:
        return _same_lines(old, new)
    found: dict[int, tuple[int, ...]] = {}
    for a, b, size in SequenceMatcher(None, olds.tokens, news.tokens, autojunk=False).get_matching_blocks():
        ends = [at for at in range(size + 1) if a + at in olds.ends and b + at in news.ends]
        if len(ends) > 1:
            for at in range(ends[0], ends[-1]):
                line = news.line[b + at]
                found[line] = (*found.get(line, ()), olds.line[a + at])
    return {line: tuple(dict.fromkeys(lines)) for line, lines in found.items()}


def _same_lines(old: Sequence[Tokens], new: Sequence[Tokens]) -> dict[int, tuple[int, ...]]:
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return {b + n: (a + n,) for a, b, size in blocks for n in range(size) if new[b + n]}


class _Flat:
    """The tokens of several lines in one row: which line each belongs to, and the places between lines."""

    def __init__(self, lines: Sequence[Tokens]) -> None:
        self.tokens = [token for line in lines for token in line]
        self.line = [n for n, line in enumerate(lines) for _ in line]
        self.ends = {0, *accumulate(len(line) for line in lines)}


def likeness(one: Tokens, other: Tokens) -> float:
    """How much of two lines is the same, 0 to 1."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
