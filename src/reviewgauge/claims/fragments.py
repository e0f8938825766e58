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
_SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts")
_CLIPPED = frozenset(("comment", "function"))  # what may begin above the fragment
UNSURE = "text"  # the name of a comment that may as well be a string
_CALLBACKS = {
    ".java": "() -> {", ".cs": "() => {", ".go": "func() {", ".php": "function() {", ".cpp": "[]() {", ".cc": "[]() {",
    ".rs": "|| {", ".kt": "{", **dict.fromkeys(_SCRIPTS, "() => {"),
}  # fmt: skip
_HEAD_ENDS = re.compile(r"\)\s*(?:->[^:]*)?:\s*(?:#.*)?$")
_MOST_BROKEN = 0.3  # share of a fragment that may not parse
_DEEPEST = 60  # brackets that are put around a fragment
_LONGEST_LIST = 60  # rows of parameters that go on from above
Frame = tuple[list[str], list[str]]  # lines before and after a fragment that may make it whole


def parse_rows(rows: Sequence[str], path: str) -> tuple[Fact, ...] | None:
    """The facts of a fragment, with its rows and bytes; None where no grammar reads it, or the parser gave up.

    Of several ways to complete the fragment, the one that leaves the least unparsed is taken.
    """
    best: tuple[Fact, ...] | None = None
    least = -1
    for before, after in _frames(rows, path.lower()):
        outline = outline_of("\n".join([*before, *rows, *after]).encode("utf-8", "replace"), path)
        if outline is None:
            return best
        if best is None or outline.broken < least:
            size = len("".join(f"{line}\n" for line in before).encode("utf-8", "replace"))
            moved = (_clipped(fact.moved(len(before), size)) for fact in outline.facts)
            best = tuple(fact for fact in moved if 0 <= fact.first <= fact.last < len(rows))
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


def _frames(rows: Sequence[str], path: str) -> Iterator[Frame]:
    """What may make a fragment whole, the likeliest first."""
    if path.endswith((".py", ".pyi", ".pyw")):
        yield from _python_frames(rows)
        return
    start, end = _open_comments(rows)
    tag = ["<?php"] if path.endswith((".php", ".phtml")) and not any("<?" in row for row in rows) else []
    chain = ["_"] if "".join(rows).lstrip().startswith(".") else []  # calls on what stands above
    for before, after in _brace_frames(rows, path[path.rfind(".") :]):
        yield [*tag, *before, *start, *chain], [*end, *after]


def _brace_frames(rows: Sequence[str], suffix: str) -> Iterator[Frame]:
    text = "\n".join(rows)
    before, after = _brackets(text)
    if suffix in _SCRIPTS and "`" in text:  # it may begin, or end, within a template
        yield [*before, "_ = `"], after
        yield [*before, "_ = `"], ["`", *after]
        yield before, ["`", *after]
    callback = _CALLBACKS.get(suffix, "{")
    pairs = zip(["", *before], before, strict=False)
    before = [callback if (outer, one) == ("_(", "{") else one for outer, one in pairs]  # `});` ends a callback
    yield before, after
    around = ["class _ {", "_() {" if suffix in _SCRIPTS else "void _() {"]
    for extra in range(len(around) + 1):
        inner = [name if one == "{" else one for name, one in zip(around[extra:], before, strict=False)]
        yield [*around[:extra], *inner, *before[len(inner) :]], [*after, *["}"] * extra]


def _open_comments(rows: Sequence[str]) -> Frame:
    """What opens the block comment that a fragment begins in, and closes the one that it ends in."""
    text = "\n".join(rows)
    end, begin = text.find("*/"), text.find("/*")
    told = [row.strip() for row in rows if row.strip()]
    starred = end < 0 and begin < 0 and len(told) > 1 and all(row[0] == "*" for row in told)
    inside = starred or (end >= 0 and (begin < 0 or end < begin))
    left_open = starred or text.rfind("/*") > text.rfind("*/")
    return ["/*"] if inside else [], ["*/"] if left_open else []


def _python_frames(rows: Sequence[str]) -> Iterator[Frame]:
    text = "\n".join(rows)
    last = next((row for row in reversed(rows) if row.strip()), "")
    body = [_indent(last) + " pass"] if last.rstrip().endswith(":") else []
    open_ = [mark for mark in ('"""', "'''") if text.count(mark) % 2]
    before, after = _brackets(text)
    ends = next((i for i in range(min(len(rows), _LONGEST_LIST)) if _brackets("\n".join(rows[: i + 1]))[0]), 0)
    if before and _HEAD_ENDS.search(rows[ends]):  # it begins in the parameters of a function
        below = _levels(rows[ends + 1 :]) or ["if _:"]
        yield [*below[:-1], _indent(below[-1]) + "def _("], open_ or body
    for mark in open_:
        told = text.partition(mark)[2].split("\n")[1:]
        indent = _indent(next((row for row in told if row.strip()), ""))
        yield [*_levels(told), indent + mark], body
        yield _levels(rows), [mark]
    if before:
        at = max((i for i, row in enumerate(rows) if row.strip()[:1] in tuple(_OPENERS)), default=0)
        yield [*_levels(rows[at:]), _indent(rows[at]) + "".join(before)], [*after, *body]
    yield _levels(rows), [*after, *body]
    yield [], [*after, *body]


def _levels(rows: Sequence[str]) -> list[str]:
    """A line that opens a block for each indentation that the fragment comes back to, from the outermost in."""
    told = [row for row in rows if row.strip() and not row.lstrip().startswith("#")]
    found: list[str] = []
    lowest = _indent(told[0]) if told else ""
    for row in told:
        if len(indent := _indent(row)) < len(lowest):
            lowest = indent
            found.append(indent + _opener(row))
    if lowest:
        found.append("if _:")
    if told and re.match(r"(?:elif|else|except|finally)\b", told[0].strip()):
        first = _indent(told[0])
        return [*found[::-1], first + _opener(told[0]), first + " pass"]
    return found[::-1]


def _opener(row: str) -> str:
    return "try:" if re.match(r"(?:except|finally)\b", row.strip()) else "if _:"


def _indent(row: str) -> str:
    return row[: len(row) - len(row.lstrip())].expandtabs(4)


def _brackets(text: str) -> Frame:
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
            missing.append("_(" if sign == ")" else _OPENERS[sign])
    return missing[:_DEEPEST][::-1], [_CLOSERS[sign] for sign in reversed(open_[:_DEEPEST])]
