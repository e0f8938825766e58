"""Finds quoted code in lines: trimmed lines, runs of blanks as one, blank lines and diff markers ignored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

SHORTEST_PART = 6  # characters; a shorter quote must be a whole line, or any `i = 0` would be found everywhere
_ELLIPSIS = re.compile(r"(?:#|//|/\*|--|;)?\s*(?:\.{3,}|…)\s*(?:\*/)?")
_LONGEST = 400  # lines of a quote that are looked at

Needle = tuple[str, ...]


def plain(line: str) -> str:
    """The line without blanks at its ends, every run of blanks inside as one."""
    return " ".join(line.split())


@lru_cache(maxsize=128)
def plain_lines(text: str) -> tuple[str, ...]:
    """`plain` of every line of a file."""
    return tuple(plain(line) for line in text.split("\n"))


def weight(quote: str) -> int:
    """How many letters and digits a quote has: what tells `}` from something worth looking for."""
    return sum(c.isalnum() for c in quote)


def needles(quote: str) -> list[Needle]:
    """The texts to look for: the quote as it is, then without diff markers. Empty when nothing is quoted."""
    raw = [line for line in quote.replace("\r", "").split("\n") if not line.startswith("@@ ")][:_LONGEST]
    marked = [line for line in raw if line.strip()]
    found = [_longest_run([plain(line) for line in raw])]
    if marked and all(line[0] in "+- " for line in marked) and any(line[0] in "+-" for line in marked):
        found.append(_longest_run([plain(line[1:]) for line in raw]))
    return [needle for needle in dict.fromkeys(found) if needle]


def _longest_run(lines: list[str]) -> Needle:
    """The lines between elisions (`...`) that hold most, without blank ones."""
    runs: list[list[str]] = [[]]
    for line in lines:
        if _ELLIPSIS.fullmatch(line):
            runs.append([])
        elif line:
            runs[-1].append(line)
    return tuple(max(runs, key=lambda run: sum(map(len, run))))


def occurrences(needle: Needle, lines: Sequence[str], whole: bool) -> Iterator[tuple[int, int]]:
    """The (first, last) indexes of `needle` in `lines` (both plain), blank lines skipped.

    With `whole` every line must be equal; without, the first may end with, and the last begin with, the quoted
    text, and a single one may be inside a line.
    """
    filled = [i for i, line in enumerate(lines) if line]
    length = len(needle)
    if not length or (not whole and len("".join(needle)) < SHORTEST_PART):
        return
    for k in range(len(filled) - length + 1):
        first, last = lines[filled[k]], lines[filled[k + length - 1]]
        if whole:
            fits = first == needle[0] and last == needle[-1]
        elif length == 1:
            fits = needle[0] in first
        else:
            fits = first.endswith(needle[0]) and last.startswith(needle[-1])
        if fits and all(lines[filled[k + i]] == needle[i] for i in range(1, length - 1)):
            yield filled[k], filled[k + length - 1]
