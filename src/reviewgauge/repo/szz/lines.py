"""Code as SZZ compares it: tokens without white space, comments and what formatters change besides.

Two pieces of code are the same when their tokens are, however they are broken into lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from reviewgauge.repo.syntax.functions import LineKinds
from reviewgauge.repo.syntax.languages import language

_TOKEN = re.compile(r"\w+|[^\w\s]")
_MARK = "\ufeff"  # the byte order mark that some editors put before the first line
_CLOSING = frozenset(")]}")
_QUOTED = re.compile(r"([A-Za-z]{0,2})'([^'\"\\]*)'")
_EITHER_QUOTE = ("Python", "JavaScript", "TypeScript")  # in which both quotes mean the same
_MOST_TOKENS = 4_000  # on one side of a hunk; beyond it only whole lines are compared
_MOST_LINES = 4_000  # on one side of a hunk; beyond it nothing is compared

Tokens = tuple[str, ...]


def tokens_of(lines: LineKinds, path: str, start: int, count: int) -> tuple[Tokens, ...]:
    """The tokens of `count` lines from `start`, quotes made alike where a language does not tell them apart."""
    found = tuple(lines.tokens(line) for line in range(start, start + count))
    if start == 1 and found[:1] and found[0][:1] == (_MARK,):
        found = (found[0][1:], *found[1:])
    if language(path) not in _EITHER_QUOTE:
        return found
    return tuple(tuple(_QUOTED.sub(r'\1"\2"', token) if "'" in token else token for token in line) for line in found)


def words(line: bytes) -> Tokens:
    """The words and signs of a line of any language, its comments among them."""
    return tuple(_TOKEN.findall(line.decode("utf-8", "replace")))


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
    """The tokens of several lines in one row: which line each belongs to, and the places between lines.

    A comma at the end of a line, before a bracket that closes on the next one, is left out: formatters add it.
    """

    def __init__(self, lines: Sequence[Tokens]) -> None:
        rows = [[*line] for line in lines]
        for row, after in pairwise(rows):
            if row and row[-1] == "," and after and after[0] in _CLOSING:
                row.pop()
        self.tokens = [token for row in rows for token in row]
        self.line = [n for n, row in enumerate(rows) for _ in row]
        self.ends = {0, *accumulate(len(row) for row in rows)}


def likeness(one: Tokens, other: Tokens) -> float:
    """How much of two lines is the same, 0 to 1."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
