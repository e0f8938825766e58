"""The lines of a file: blank, comment or code, and their tokens without white space and comments."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

from reviewgauge.repo.syntax.languages import COMMENT_PREFIX

_TOKEN = re.compile(r"\w+|[^\w\s]")
_NOT_NEWLINE = re.compile(rb"[^\n]")
_OPEN, _CLOSED = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")
_NO_CALL = frozenset(  # a bracket after one of these words opens no call
    ["and", "assert", "case", "del", "elif", "else", "for", "if", "in", "is", "lambda", "not", "or", "return", "yield"]
)


@dataclass(frozen=True)
class LineKinds:
    """The lines of one version of a file. `kinds[0]` is line 1's: "blank", "comment" or "code".

    `known`: a grammar found the comments; else `reason` says why not. `code` is the source with comments blanked
    out, `literals` are the byte ranges in it that are kept to the letter, `types` those of type annotations.
    """

    kinds: tuple[str, ...]
    known: bool
    reason: str
    code: bytes
    literals: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]
    types: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(
        cls,
        source: bytes,
        comments: Iterable[Sequence[int]],
        literals: Iterable[Sequence[int]],
        types: Iterable[Sequence[int]] = (),
        *,
        known: bool,
        reason: str = "",
    ) -> Self:
        """The lines of a source whose comments and literals are at these byte ranges, each list in order."""
        kept = _merged((a, b) for a, b in literals)
        code, blanked = _without(source, _outside(_merged((a, b) for a, b in comments), kept))
        starts = line_starts(source)
        ends = (*starts[1:], len(source))
        kinds = tuple(
            "code" if code[a:b].strip() else "comment" if source[a:b].strip() else "blank"
            for a, b in zip(starts, ends, strict=True)
        )
        strings = tuple(r for r in kept if r not in blanked)
        return cls(kinds, known, reason, code, strings, starts, tuple(_merged((a, b) for a, b in types)))

    def kind(self, line: int) -> str:
        """The kind of line number `line`; "blank" for one that does not exist."""
        return self.kinds[line - 1] if 0 < line <= len(self.kinds) else "blank"

    def tokens(self, line: int) -> tuple[str, ...]:
        """The words and single signs of a line; strings are kept as they are, comments and white space are left out."""
        if not 0 < line <= len(self.starts):
            return ()
        found = self._tokens(*self._range(line))
        if found and found[-1] == "\\":  # the statement goes on in the next line
            found.pop()
        return tuple(found)

    def _range(self, line: int) -> tuple[int, int]:
        return self.starts[line - 1], self.starts[line] if line < len(self.starts) else len(self.code)

    def _tokens(self, begin: int, end: int) -> list[str]:
        found: list[str] = []
        at = begin
        for a, b in _between(self.literals, begin, end):
            found += _words(self.code[at:a])
            literal = self.code[max(a, begin) : min(b, end)].decode("utf-8", "replace").strip("\r\n")
            found += [literal] if literal.strip() else []
            at = b
        return [*found, *_words(self.code[at:end])] if at < end else found

    def splits(self, line: int) -> bool:
        """Whether a string goes on from `line` into the next one."""
        if not 0 < line < len(self.starts):
            return False
        at = self.starts[line]
        return any(a < at < b for a, b in _between(self.literals, at, at + 1))

    def untyped(self, line: int) -> tuple[str, ...]:
        """The tokens of a line without type annotations and `cast(T, ...)`; `elif` is `if`."""
        if not 0 < line <= len(self.starts):
            return ()
        at, end = self._range(line)
        found: list[str] = []
        for a, b in _between(self.types, at, end):
            found += self._tokens(at, max(a, at))
            at = max(b, at)
        found += self._tokens(at, max(end, at))
        return tuple("if" if token == "elif" else token for token in _without_casts(found))

    def text(self, start: int, end: int) -> str:
        """The code of lines `start` to `end`, the same however it is broken into lines.

        White space, comments and a comma that trails before a closing bracket do not count; quotes, added brackets
        and semicolons do. Indentation does not count either, in Python too: a line that moved into an `if` is the
        same line.
        """
        return " ".join(_no_trailing_commas([token for line in range(start, end + 1) for token in self.tokens(line)]))


def line_starts(source: bytes) -> tuple[int, ...]:
    """The byte at which each line begins; a line break at the very end begins no line, an empty file has one line."""
    starts = list(accumulate(map((1).__add__, map(len, source.split(b"\n"))), initial=0))  # no loop of our own
    starts.pop()  # behind the last line
    if len(starts) > 1 and source.endswith(b"\n"):
        starts.pop()
    return tuple(starts)


def line_count(source: bytes) -> int:
    """How many lines `line_starts` finds, without looking for each."""
    return max(source.count(b"\n") + (not source.endswith(b"\n")), 1)


def comments_by_prefix(source: bytes, language: str) -> list[tuple[int, int]]:
    """The lines that begin with the mark of a comment; none for a language without one."""
    mark = COMMENT_PREFIX.get(language)
    if mark is None:
        return []
    pattern = re.compile(rb"^[ \t]*(" + re.escape(mark.encode()) + rb"[^\n]*)", re.MULTILINE)
    return [match.span(1) for match in pattern.finditer(source)]


def _without_casts(tokens: list[str]) -> list[str]:
    """The tokens with `x` for each `cast(T, x)`."""
    found: list[str] = []
    at = 0
    closing: list[bool] = []  # of each open bracket: whether it is that of a cast
    while at < len(tokens):
        token = tokens[at]
        if token == "cast" and tokens[at + 1 : at + 2] == ["("] and (comma := _first_comma(tokens, at + 2)):
            while found[-2:-1] and found[-1] == ".":  # typing.cast
                del found[-2:]
            closing.append(True)
            at = comma + 1
            continue
        if token in _OPEN:
            closing.append(False)
        if not (token in _CLOSED and closing and closing.pop()):
            found.append(token)
        at += 1
    return found


def _first_comma(tokens: list[str], at: int) -> int:
    """The index of the first comma that no bracket holds; 0 where there is none."""
    depth = 0
    for index in range(at, len(tokens)):
        depth += (tokens[index] in _OPEN) - (tokens[index] in _CLOSED)
        if depth < 0:
            return 0
        if not depth and tokens[index] == ",":
            return index
    return 0


def _between(ranges: Sequence[tuple[int, int]], begin: int, end: int) -> Sequence[tuple[int, int]]:
    """Those of the ranges, which are in order and apart, that share a byte with `begin` up to `end`."""
    return ranges[bisect_right(ranges, begin, key=lambda r: r[1]) : bisect_left(ranges, end, key=lambda r: r[0])]


def _words(code: bytes) -> list[str]:
    return _TOKEN.findall(code.decode("utf-8", "replace"))


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, without those that lie in another one."""
    found: list[tuple[int, int]] = []
    for a, b in ranges:
        if found and a < found[-1][1]:
            found[-1] = (found[-1][0], max(b, found[-1][1]))
        else:
            found.append((a, b))
    return found


def _outside(comments: list[tuple[int, int]], literals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The comments that are not part of a literal (as in a template string); a docstring is a comment."""
    return [(a, b) for a, b in comments if all(start == a for start, _ in _between(literals, a, a + 1))]


def _without(source: bytes, comments: list[tuple[int, int]]) -> tuple[bytes, set[tuple[int, int]]]:
    """(the source with comments blanked out, the comments)."""
    parts: list[bytes] = []
    at = 0
    for a, b in comments:
        parts += [source[at:a], _NOT_NEWLINE.sub(b" ", source[a:b])]
        at = b
    return b"".join((*parts, source[at:])), set(comments)


def _no_trailing_commas(tokens: list[str]) -> list[str]:
    """The tokens without commas before a closing bracket, except where one makes a tuple: `(x,)`, `a[1,]`."""
    found: list[str] = []
    around: list[tuple[bool, int]] = []  # (a comma may trail here in any case, commas so far)
    for n, token in enumerate(tokens):
        before = found[-1] if found else ""
        if token in _OPEN:
            call = (before[-1:].isalnum() or before[-1:] in ("_", ")", "]", ">")) and before not in _NO_CALL
            around.append((token == "{" or (token == "(") == call, 0))
        elif token in _CLOSED and around:
            around.pop()
        elif token == ",":
            free, commas = around[-1] if around else (False, 0)
            closing = n + 1 < len(tokens) and tokens[n + 1] in _CLOSED
            if closing and before != "," and (free or commas):
                continue
            if around:
                around[-1] = (free, commas + 1)
        found.append(token)
    return found
