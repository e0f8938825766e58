"""Whether a line still meant the same when it was fixed: later changes may break what was right.

SZZ blames the change that wrote a line. The defect may have come in beside it, where a name that the line reads was
given another value, or around it, where its condition was put into another block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_CONDITION = re.compile(r"\s*+(?:\}\s*+)?(?:if|elif|while|else if)\b")
_FUNCTION = re.compile(r"\s*+(?:async\s++)?(?:def|fn|func|function)\b")
_NAME = re.compile(r"[A-Za-z_]\w+")
_LONGEST = 500  # characters of a line that are looked at
_STATEMENT = 20  # lines
_NO_NAMES = frozenset(("None", "True", "False", "self", "return", "yield", "raise", "lambda"))


def broken_later(head: str, line: int, fixed: str, fix_line: int, words: Sequence[str]) -> str:
    """Why a line may have been right at first; empty where it meant the same when it was fixed.

    `head` is the file as the change left it, `fixed` as the fix found it; `words` are those of the line that the fix is
    about.
    """
    before, after = head.split("\n"), fixed.split("\n")
    if line > len(before) or fix_line > len(after):
        return ""
    one, other = before[line - 1], after[fix_line - 1]
    if _CONDITION.match(one) and _CONDITION.match(other) and _indent(one) != _indent(other):
        return "its condition was put into another block later"
    names = {word for word in words if _NAME.fullmatch(word)} - _NO_NAMES
    if any(_origin(before, line, name) != _origin(after, fix_line, name) for name in names):
        return "what it reads was given another value later"
    return ""


def _origin(lines: Sequence[str], at: int, name: str) -> str:
    """What last gave `name` its value above a line: that line, or that it is a parameter of the function."""
    binds = _binding(name)
    for n, text, is_head in _above(lines, at):
        if not is_head and binds.search(text[:_LONGEST]):
            return _statement(lines[n : at - 1])
        if is_head and re.search(rf"[(,*]\s*{name}\b", text):
            return "a parameter"
    return ""


def _statement(lines: Sequence[str]) -> str:
    """The words of the statement that begins with the first of some lines, however it is broken into lines."""
    text = ""
    for line in lines[:_STATEMENT]:
        text += line[:_LONGEST]
        if sum(map(text.count, "([{")) <= sum(map(text.count, ")]}")) or line.rstrip().endswith(":"):
            break
    return " ".join(re.findall(r"\w+", text))


def _binding(name: str) -> re.Pattern[str]:
    """Where `name` is given a value: by an assignment, a loop or `as`."""
    others = r"(?:[\w.\[\]]{1,60}\s*,\s*){0,8}"
    after = r"(?:\s*,[\w\s,.]{0,200})?\)?\s*(?::[^=]{1,80})?(?::=|[-+*/|&]?=(?!=))"
    return re.compile(
        rf"^\s*(?:(?:let|const|var|mut)\s+)*\(?{others}{name}\b{after}|\bfor\s+\(?{others}{name}\b|\bas\s+{name}\b"
    )


def _above(lines: Sequence[str], at: int) -> Iterator[tuple[int, str, bool]]:
    """The lines above `at`, the nearest first, and the heads of the functions around it, each as one text."""
    end, depth = at - 1, _indent(lines[at - 1])
    for n in range(at - 2, -1, -1):
        text = lines[n]
        if _FUNCTION.match(text) and _indent(text) < depth:
            first = _end_of_head(lines, n, at)
            yield from ((k, lines[k], False) for k in range(end - 1, first - 1, -1))
            yield n, " ".join(lines[n:first]), True
            end, depth = n, _indent(text)
            if not depth:
                return


def _end_of_head(lines: Sequence[str], first: int, last: int) -> int:
    ends = (n + 1 for n in range(first, last - 1) if lines[n].rstrip().endswith((":", "{")))
    return next(ends, first + 1)


def _indent(text: str) -> int:
    wide = text.expandtabs()
    return len(wide) - len(wide.lstrip())
