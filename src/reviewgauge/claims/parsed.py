"""Parses what a hunk shows of a file: a fragment that may begin inside a function, a call or a class."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reviewgauge.repo.syntax.facts import Fact, outline_of

_STRINGS = re.compile(  # what nothing ends goes on to the end of the line, or of the text
    r"\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?|//[^\n]*+|#[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL
)
_OPENERS = {")": "(", "]": "[", "}": "{"}
_CLOSERS = {opener: closer for closer, opener in _OPENERS.items()}
_CONTINUED = re.compile(r"(?:except|finally)\b")
_SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts")
_TYPED = (".java", ".cs", ".kt")
_TYPED_METHOD = re.compile(
    r"\s++(?:(?:public|private|protected|internal|static|final|abstract|async|override|virtual|synchronized|default)\s++)++"
    r"(?:<[^;{}()]*>\s*)?(?:[\w.<>,?\[\]\s]+\s)?([\w$]+)\s*\([^;]*(?:\{\s*|,\s*)?$"
)
_SCRIPT_METHOD = re.compile(
    r"\s+(?:(?:public|private|protected|static|async|get|set|readonly|override|abstract)\s+)*\*?([\w$#]+)\s*"
    r"\([^;]*\)\s*(?::[^{};]+)?\{\s*$"
)
_NO_METHODS = frozenset(("if", "for", "while", "switch", "catch", "function", "with"))
_CLIPPED = frozenset(("comment", "function"))  # what may begin above the fragment
_HEAD_ENDS = re.compile(r"\)\s*(?:->[^:]*)?:\s*(?:#.*)?$")
_PARAMETER = re.compile(r"\s*(?:\*{0,2}\w+\s*(?::[^=]+)?(?:=.*)?,\s*(?:#.*)?|#.*|\*,\s*|/,\s*|)$")
_BODY_BEGINS = re.compile(r"\)[\w\s,.<>\[\]:|?*&]*\{\s*$")
_FUNCTION = {".go": "func _(", ".java": "void _(", ".cs": "void _(", ".c": "void _(", ".h": "void _(", ".rs": "fn _("}
UNSURE = "text"  # the name of a comment that may as well be a string
_CALLBACK = {
    ".java": "() -> {", ".cs": "() => {", ".go": "func() {", ".php": "function() {", ".cpp": "[]() {", ".cc": "[]() {",
    ".rs": "|| {", ".kt": "{",
}  # fmt: skip
_MOST_BROKEN = 0.3  # share of a fragment that may not parse
_LONGEST_LIST = 60  # rows of parameters that go on from above
_DEEPEST = 60  # brackets that are put around a fragment


def parse_rows(rows: Sequence[str], path: str) -> tuple[Fact, ...] | None:
    """The facts of a fragment, with its rows and bytes; None where no grammar reads it, or the parser gave up.

    Of several ways to complete the fragment, the one that leaves the least unparsed is taken.
    """
    best: tuple[Fact, ...] | None = None
    least = -1
    for before, after in _frames(rows, path):
        source = "\n".join([*before, *rows, *after])
        outline = outline_of(source.encode("utf-8", "replace"), path)
        if outline is None:
            return best
        if best is None or outline.broken < least:
            size = len("".join(f"{line}\n" for line in before).encode("utf-8", "replace"))
            moved = (fact.moved(len(before), size) for fact in outline.facts)
            best = tuple(fact for fact in map(_clipped, moved) if 0 <= fact.first <= fact.last < len(rows))
            least = outline.broken
        if not least:
            break
    return best if least <= _MOST_BROKEN * max(len("\n".join(rows)), 1) else None


def _clipped(fact: Fact) -> Fact:
    """A fact as it stands in the fragment.

    One that begins above it (parameters, or a text that may be a comment) is told from the first row on. What looks
    like the assignment of a tuple, `name = 1,`, is an argument by name: a line of a call whose head is not shown.
    """
    if fact.kind == "assign" and fact.text.endswith(",") and fact.name.isidentifier():
        return replace(fact, kind="entry", text=fact.text[:-1])
    if fact.first >= 0 or fact.kind not in _CLIPPED:
        return fact
    return replace(fact, first=0, name=fact.name or ("" if fact.text.startswith("/*") else UNSURE))


def _frames(rows: Sequence[str], path: str) -> Iterator[tuple[list[str], list[str]]]:
    """(lines before, lines after) that may make a fragment whole, the likeliest first."""
    lower = path.lower()
    if lower.endswith((".py", ".pyi", ".pyw")):
        yield from _python_frames(rows)
        return
    start, end = _open_comments(rows)
    tag = ["<?php"] if lower.endswith((".php", ".phtml")) and not any("<?" in row for row in rows) else []
    for before, after in _brace_frames(rows, lower):
        yield [*tag, *before, *start], [*end, *after]


def _brace_frames(rows: Sequence[str], path: str) -> Iterator[tuple[list[str], list[str]]]:
    text = "\n".join(rows)
    script = path.endswith(_SCRIPTS)
    method = _SCRIPT_METHOD if script else _TYPED_METHOD if path.endswith(_TYPED) else None
    if method is not None and (at := _method_at(rows, method)) is not None:
        head = "_() {" if script else "void _() {"
        opened = head if (closed := len(_brackets("\n".join(rows[:at]))[0])) else ""
        frame = "class _ {" + opened + "{" * (closed - 1)
        missing, ends = _brackets("\n".join([frame, *rows]))
        yield ["class _ {" * len(missing) + frame], ends
    before, after = _brackets(text)
    if script and "`" in text:  # it may begin, or end, within a template
        yield [*before, "_ = `"], after
        yield [*before, "_ = `"], ["`", *after]
        yield before, ["`", *after]
    suffix = path[path.rfind(".") :]
    if (called := _with_callbacks(before, _CALLBACK.get(suffix, "() => {" if script else ""))) != before:
        yield called, after
    if before and before[-1] == "_(" and _in_parameters(rows):
        opener = _FUNCTION.get(suffix, "function _(" if script or suffix == ".php" else "void _(")
        yield [*before[:-1], opener], after
    yield before, after
    yield ["class _ {", *before], [*after, "}"]
    yield ["class _ { _() {", *before], [*after, "} }"]


def _with_callbacks(openers: list[str], callback: str) -> list[str]:
    """The openers with a function in each call that opens a block: a fragment's `});` most often ends such a one."""
    pairs = zip(["", *openers], openers, strict=False)
    return [callback if callback and (before, one) == ("_(", "{") else one for before, one in pairs]


def _in_parameters(rows: Sequence[str]) -> bool:
    """Whether a fragment begins among the parameters of a function: lines that end with commas, then `) {`."""
    for row in rows:
        if _BODY_BEGINS.search(row):
            return True
        if row.strip() and not row.rstrip().endswith(","):
            return False
    return False


def _open_comments(rows: Sequence[str]) -> tuple[list[str], list[str]]:
    """What opens the block comment that a fragment begins in, and closes the one that it ends in."""
    text = "\n".join(rows)
    end, begin = text.find("*/"), text.find("/*")
    inside = end >= 0 and (begin < 0 or end < begin)
    left_open = text.rfind("/*") > text.rfind("*/") or (end < 0 and begin < 0 and _all_starred(rows))
    inside = inside or (end < 0 and begin < 0 and _all_starred(rows))
    return ["/*"] if inside else [], ["*/"] if left_open else []


def _all_starred(rows: Sequence[str]) -> bool:
    told = [row.strip() for row in rows if row.strip()]
    return len(told) > 1 and all(row[0] == "*" for row in told)


def _method_at(rows: Sequence[str], method: re.Pattern[str]) -> int | None:
    """The first row that looks like the head of a method: only a class can hold it."""
    for row, text in enumerate(rows):
        found = method.match(text)
        if found and found[1] not in _NO_METHODS:
            return row
    return None


def _python_frames(rows: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    text = "\n".join(rows)
    if (close := _closing_row(rows)) and _HEAD_ENDS.search(rows[close]) and all(map(_PARAMETER.match, rows[:close])):
        body = rows[close + 1 :]
        lines = _levels(body) or ["if _:"]
        after = [mark for mark in ('"""', "'''") if text.count(mark) % 2]
        inside = _indent(next((row for row in body if row.strip()), "")) or " "
        yield [*lines[:-1], _indent(lines[-1]) + "def _("], after or [f"{inside}pass"]
    for mark in ('"""', "'''"):
        if text.count(mark) % 2:
            tail = text.partition(mark)[2]
            after = tail.split("\n", 1)[1].split("\n") if "\n" in tail else []
            indent = _indent(next((row for row in after if row.strip()), ""))
            yield [*_levels(after), indent + mark], []
            yield _levels(rows), [mark]
    before, closing = _brackets(text)
    if before:
        last = max((i for i, row in enumerate(rows) if row.strip()[:1] in tuple(_OPENERS)), default=0)
        rest = rows[last:]
        indent = _indent(rest[0]) if rest else ""
        yield [*_levels(rest), indent + "".join(before)], closing
    yield _levels(rows), closing
    yield [], closing


def _closing_row(rows: Sequence[str]) -> int:
    """The row that closes the bracket in which a fragment begins; 0 for none."""
    looked = range(min(len(rows), _LONGEST_LIST))
    return next((i for i in looked if _brackets("\n".join(rows[: i + 1]))[0]), 0)


def _levels(rows: Sequence[str]) -> list[str]:
    """A line that opens a block for each indentation that the fragment comes back to, from the outermost in."""
    told = [row for row in rows if row.strip() and not row.lstrip().startswith("#")]
    if not told:
        return []
    first = _indent(told[0])
    word = told[0].strip()
    found: list[tuple[str, str]] = []
    lowest = first
    for row in told:
        indent = _indent(row)
        if len(indent) < len(lowest):
            lowest = indent
            found.append((indent, "try:" if _CONTINUED.match(row.strip()) else "if _:"))
    if first and (not found or found[-1][0]):
        found.append(("", "if _:"))
    lines = [indent + opener for indent, opener in reversed(found)]
    if re.match(r"(?:elif|else|except|finally)\b", word):
        opener = "try:" if _CONTINUED.match(word) else "if _:"
        lines += [first + opener, first + " pass"]
    return lines


def _indent(row: str) -> str:
    return row[: len(row) - len(row.lstrip())].expandtabs(4)


def _brackets(text: str) -> tuple[list[str], list[str]]:
    """(openers for the brackets that a fragment only closes, closers for those that it only opens)."""
    open_: list[str] = []
    missing: list[str] = []
    for sign in re.findall(r"[()\[\]{}]", _STRINGS.sub(" ", text)):
        if sign in _CLOSERS:
            open_.append(sign)
        elif open_ and open_[-1] == _OPENERS[sign]:
            open_.pop()
        elif _OPENERS[sign] in open_:  # what lies between is unbalanced
            while open_.pop() != _OPENERS[sign]:
                pass
        else:
            missing.append({"(": "_("}.get(_OPENERS[sign], _OPENERS[sign]))
    return missing[:_DEEPEST][::-1], [_CLOSERS[sign] for sign in reversed(open_[:_DEEPEST])]
