"""No regular expression of the package takes more than linear time, give or take a bounded factor, on hostile text.

Python's `re` backtracks. Three shapes make that quadratic or worse, and each is looked for in the parsed pattern:

- *leading*: a search tries a repeat without a bound anew at each place of one long run (`\\s+$` on blanks);
- *adjacent*: two such repeats can share one run in many ways (`\\s*x?\\s*$`);
- *nested*: a repeat of a repeat can (`(\\w+)*$`).

None is a risk where nothing that follows can fail (`\\w+`). The check errs on the side of warning. What helps: a bound
(`{0,100}`), a lookbehind that lets a search begin only at the first character of a run (`(?<!\\s)\\s+$`), a possessive
repeat (`\\s*+`), an end that always fits (`(?:-->|\\Z)`), a method of `str`, or a limit where the text is read (which
goes into `BOUNDED`).
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import re._constants as c  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reviewgauge
from reviewgauge.core.errors import MissingExtra
from reviewgauge.models.answers import prose

MANY = 5000  # a repeat of at most this many characters is bounded
ALPHABET = frozenset([*map(chr, range(128)), *"\x85\xa0éßяあ中１’–\u2028\u202e"])
METHODS = {"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)
BOUNDED = {  # module, or module.NAME: why its texts are short
    "forges.gitlab": "system notes, cut to 2,000 characters",
    "metrics.coverage.sentences._FENCED": "a block that nothing ends is one match, to the end of the text",
    "models.fake._EACH": "our own prompts",
    "operators.boundary_moved._LENGTH": "200 characters of code",
    "operators.code.operator._ARID_CALL": "200 characters of code",
    "operators.swapped_arguments._EITHER_WAY": "200 characters of a name",
    "operators.wrong_unit._ASSIGNED": "200 characters of code",
    "operators.wrong_variable._WORDS": "200 characters of a name",
    "repo.forge.accounts._STATUS": "600 characters of a comment",
    "repo.forge.accounts._TRIGGER": "120 characters of a comment",
    "repo.history.fix_messages._ASIDE": "a title, cut to 300 characters",
    "repo.history.fix_messages._NO_FIX": "a title, cut to 300 characters",
    "repo.history.landed_changes._LINE": "a subject, cut to 2,000 characters",
    "repo.history.landed_changes._MARKS": "a title, cut to 300 characters",
    "repo.syntax.languages._FUNCTIONAL_TEXT": "a path of at most 4,096 characters",
    "repo.syntax.languages._GENERATED": "a path of at most 4,096 characters",
    "repo.syntax.languages._VENDORED": "a path of at most 4,096 characters",
    "stages.drop_trivial._MANIFEST": "a path of at most 4,096 characters",
    "stages.keep_english._ENDS": "asked of a whole word, never searched",
}

MATCHED = {  # lists of wordings that are looked for at the beginning of a text alone
    "whole_refusal", "speaks_for_yes", "speaks_for_no", "deed_of_both", "too", "apart", "apart_within",
    "negated_after", "of_comments", "of_reviews", "of_code",
    "lead_in",
}  # fmt: skip

Chars = frozenset[str]
Items = Sequence[tuple[Any, Any]]
End = tuple[bool, bool, bool]
Live = list[tuple[Chars, ...]]  # the characters of a repeat, and of what must stand between it and here


def category(code: object, char: str) -> bool:
    name = str(code)
    if "NOT" in name:
        return not category(name.replace("NOT_", ""), char)
    return (char.isalnum() or char == "_") if "WORD" in name else char.isdigit() if "DIGIT" in name else char.isspace()


def charset(op: object, value: Any, flags: int) -> Chars | None:
    """The characters that one item may be; None where it is not one character."""
    if op is c.ANY:
        return ALPHABET if flags & re.DOTALL else ALPHABET - {"\n"}
    if op in (c.LITERAL, c.NOT_LITERAL):
        same = {chr(value), chr(value).lower(), chr(value).upper()} if flags & re.IGNORECASE else {chr(value)}
        return frozenset(same) if op is c.LITERAL else ALPHABET - same
    if op is not c.IN:
        return None
    chars: set[str] = set()
    for kind, inner in value:
        if kind is c.RANGE:
            within = range(inner[0], inner[1] + 1)
            chars |= {a for a in ALPHABET if ord(a) in within}
            if flags & re.IGNORECASE:
                chars |= {a for a in ALPHABET if ord(a.lower()[0]) in within or ord(a.upper()[0]) in within}
        elif kind is c.CATEGORY:
            chars |= {a for a in ALPHABET if category(inner, a)}
        elif kind is c.LITERAL:
            chars |= charset(kind, inner, flags) or set()
    return ALPHABET - chars if value[0][0] is c.NEGATE else frozenset(chars)


def parts(op: object, value: Any) -> list[Items]:
    """The patterns within an item."""
    if op in REPEATS:
        return [value[2]]
    if op is c.SUBPATTERN:
        return [value[3]]
    return [value] if op is c.ATOMIC_GROUP else list(value[1]) if op is c.BRANCH else []


def chars_of(items: Items, flags: int) -> Chars:
    """Every character that a pattern may take."""
    found: Chars = frozenset()
    for op, value in items:
        found |= charset(op, value, flags) or (ALPHABET if op is c.GROUPREF else frozenset())
        for part in parts(op, value):
            found |= chars_of(part, flags)
    return found


def may_be_empty(items: Items, at_end: bool = False) -> bool:
    """Whether a pattern fits at every place; `at_end`: at the end of the text, which is what comes at last."""
    for op, value in items:
        within = parts(op, value)
        if (op in REPEATS and value[0] == 0) or (at_end and op is c.AT and value is c.AT_END_STRING):
            continue
        if not within or not any(may_be_empty(part, at_end) for part in within):
            return False
    return True


def needed_by(items: Items, flags: int) -> list[Chars]:
    """The characters that each text of a pattern holds, in order."""
    needed: list[Chars] = []
    for op, value in items:
        one = charset(op, value, flags)
        if one is not None:
            needed.append(one)
        elif op is c.SUBPATTERN or (op in REPEATS and value[0] > 0):
            needed += needed_by(parts(op, value)[0], flags)
        elif op is c.BRANCH and all(ways := [needed_by(way, flags) for way in value[1]]):
            needed.append(frozenset[str]().union(*(way[0] for way in ways)))
    return needed


@dataclass
class Check:
    """Walks a pattern from left to right; `found` holds what is at risk."""

    search: bool
    found: set[str] = field(default_factory=set)

    def walk(
        self, items: Items, flags: int, live: Live, prefix: list[Chars] | None, end: End
    ) -> tuple[Live, list[Chars] | None]:
        """`live`: the repeats so far that could take or give more here. `prefix`: what stands since the start, where a
        search could begin at each place of a run; None where it could not. `end`: nothing after these items can fail,
        for backtracking, for the whole pattern, and for one that has taken all up to the end of the text."""
        items = list(items)
        for number, (op, value) in enumerate(items):
            rest = may_be_empty(items[number + 1 :])
            end_here = (end[0] and rest, end[1] and rest, end[2] and may_be_empty(items[number + 1 :], at_end=True))
            one = charset(op, value, flags)
            if one is not None:
                live = [(*each, one) for each in live if each[0] & one]
                prefix = None if prefix is None else [*prefix, one]
            elif op in REPEATS:
                live, prefix = self.repeat(op, value, flags, live, prefix, end_here)
            elif op is c.SUBPATTERN:
                live, prefix = self.walk(value[3], (flags | value[1]) & ~value[2], live, prefix, end_here)
            elif op is c.ATOMIC_GROUP:
                _, prefix = self.walk(value, flags, live, prefix, (True, *end_here[1:]))
            elif op is c.BRANCH:
                live, prefix = self.branch(value[1], flags, live, prefix, end_here)
            elif op is c.AT:
                prefix = self.place(value, flags, prefix)
            elif op in (c.ASSERT, c.ASSERT_NOT):
                prefix = self.look(op, value, flags, live, prefix)
        return live, prefix

    def repeat(
        self, op: object, value: Any, flags: int, live: Live, prefix: list[Chars] | None, end: End
    ) -> tuple[Live, list[Chars] | None]:
        low, high, body = value
        if chars_of(body, flags) == ALPHABET and end[2]:
            end = (True, True, True)
        if high == 1:
            inner, after = self.walk(body, flags, live, prefix, end)
            return ([*live, *inner], prefix) if low == 0 else (inner, after)
        chars = chars_of(body, flags)
        if high > MANY:
            needed = needed_by(body, flags)
            if not end[0] and any(
                all(part & chars for part in each) and all(each[0] & one for one in needed) for each in live
            ):
                self.found.add("adjacent")
            if not end[1] and self.search and prefix is not None and all(each & chars for each in prefix):
                self.found.add("leading")
        again = Check(search=False)
        again.walk([*body, *body], flags, [], None, end)
        if again.found and op is not c.POSSESSIVE_REPEAT:
            self.found.add("nested")
        inner, after = self.walk(body, flags, live, prefix, end)
        if op is c.POSSESSIVE_REPEAT:
            inner = []
        elif high > MANY:
            inner = [*inner, (chars, *needed_by(body, flags))]
        return ([*live, *inner], prefix) if low == 0 else (inner, after)

    def branch(
        self, ways: Sequence[Items], flags: int, live: Live, prefix: list[Chars] | None, end: End
    ) -> tuple[Live, list[Chars] | None]:
        ends: Live = []
        begun: list[list[Chars]] = []
        for way in ways:
            inner, after = self.walk(way, flags, live, prefix, end)
            ends += [each for each in inner if each not in ends]
            begun += [] if after is None else [after]
        if prefix is None or not begun:
            return ends, None
        if all(len(way) > len(prefix) for way in begun):  # each way takes a character: first and last
            for place in (len(prefix), -1):
                prefix = [*prefix, frozenset[str]().union(*(way[place] for way in begun))]
        return ends, prefix

    def place(self, where: object, flags: int, prefix: list[Chars] | None) -> list[Chars] | None:
        if where is c.AT_BEGINNING and flags & re.MULTILINE:
            return None if prefix is None else [*prefix, frozenset("\n")]
        if where in (c.AT_BEGINNING, c.AT_BEGINNING_STRING):
            return None
        if where is c.AT_BOUNDARY and prefix == []:  # what a run of word characters passes, and no mixed run
            return [Mixed()]
        return prefix

    def look(self, op: object, value: Any, flags: int, live: Live, prefix: list[Chars] | None) -> list[Chars] | None:
        way, body = value
        if way > 0:
            self.walk(body, flags, live, prefix, (True, True, True))
            return prefix
        behind = chars_of(body, flags) if not any(parts(*item) for item in body) else ALPHABET
        return None if prefix is None else [*prefix, ALPHABET - behind if op is c.ASSERT_NOT else behind]


class Mixed(frozenset[str]):
    """The edge of a word: met within a run of characters only where the run may hold word characters and others."""

    def __and__(self, other: Any) -> frozenset[str]:
        words = frozenset(each for each in other if each.isalnum() or each == "_")
        return other if words and words != other else frozenset()


def risks(pattern: str | bytes, flags: int = 0, use: str = "search") -> set[str]:
    parsed = parser.parse(pattern if isinstance(pattern, str) else pattern.decode("latin-1"), flags & ~re.UNICODE)
    check = Check(search=use not in ("match", "fullmatch"))
    free = use != "fullmatch"  # which asks for the end of the text behind the pattern
    check.walk(list(parsed), parsed.state.flags | flags, [], [], (free, free, True))
    return check.found


@pytest.mark.parametrize(("pattern", "expected"), [
    (r"\s+$", {"leading"}), (r"(?<!\s)\s+$", set()), (r"\A\s+$", set()), (r"\w+", set()), (r"\w+|[^\w\s]", set()),
    (r"x\s+$", set()), (r"\bx", set()), (r"\b\w+:", set()), (r"\b[\w.]+:", {"leading"}), (r"<!--.*?-->", {"leading"}),
    (r"(?s)<!--.*?(?:-->|\Z)", set()), (r"<[^<>]*>", set()), (r"<[^>]*>", {"leading"}), (r"(?m)^\s*x", {"leading"}),
    (r"(?m)^[ \t]*x", set()), (r"^\s*#?\s*x", {"adjacent"}), (r"^\s*+#?\s*x", set()), (r"^(?:\w+)*$", {"nested"}),
    (r"^(?:\w+\s)*$", set()), (r"^(?:\w+\s?)*$", {"nested"}), (r"^\s{0,9}x?\s*y", set()),
    (r"^(?:a|b\s*)\s*c", {"adjacent"}),
    (r"(?:fix|close)\s*x", set()), (r"\s*?x", {"leading"}), (r"(?>a*)a*b", {"leading"}),
    (r'"(?:[^"\\]|\\.)*"', {"leading"}),
])  # fmt: skip
def test_the_check_knows_what_is_at_risk(pattern: str, expected: set[str]) -> None:
    assert risks(pattern) == expected


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(reviewgauge.__path__, "reviewgauge."):
        if not found.name.endswith("__main__"):
            try:
                yield importlib.import_module(found.name)
            except ModuleNotFoundError as error:
                if error.name != "torch":  # an extra of over a gigabyte
                    raise
            except MissingExtra:  # inspect_ai's door
                assert found.name == "reviewgauge.inspect"


def compiled(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    """The patterns that a value of a module holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, (tuple, list, frozenset, set, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from compiled(each, depth + 1)
        for each in value if isinstance(value, dict) else ():
            yield from compiled(each, depth + 1)


def text_of(node: ast.expr, module: ModuleType) -> str | bytes | None:
    """An inline pattern; what is put into it when it runs is one word here."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, (str, bytes)) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "Q" for part in node.values)  # type: ignore[misc]
    value = vars(module).get(node.id) if isinstance(node, ast.Name) else None
    return value if isinstance(value, (str, bytes)) else None


@cache
def patterns() -> dict[tuple[str, str | bytes, int], tuple[set[str], set[str]]]:
    """(module, pattern, flags) to its names and the ways in which it is used: every one of a name, every inline one."""
    inline: dict[tuple[str, str | bytes, int], set[str]] = defaultdict(set)
    named: dict[tuple[str, str], set[str]] = defaultdict(set)  # a private name is its module's
    for module in modules():
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8"))):
            if not isinstance(node, ast.Attribute):
                continue
            if node.attr in METHODS and isinstance(node.value, (ast.Name, ast.Attribute)):
                name = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
                named[module.__name__ if name.startswith("_") else "", name].add(node.attr)
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=way), args=[first, *others]):
                    text = text_of(first, module)
                    said = [ast.unparse(each) for each in others[-1:] + [word.value for word in node.keywords]]
                    flags = sum(
                        int(flag) for name in ("DOTALL", "IGNORECASE", "MULTILINE", "VERBOSE")
                        if any(f"re.{name}" in each for each in said) for flag in [re.RegexFlag[name]]
                    )  # fmt: skip
                    if text is not None and way in METHODS:
                        inline[module.__name__, text, flags].add(way)
        for name, value in vars(module).items():
            for pattern in compiled(value):
                inline[module.__name__, pattern.pattern, pattern.flags].add(f"={name}")
    for part in (name for name, wordings in prose._wordings().items() if isinstance(wordings, list)):
        pattern = prose._any_of(part)
        inline[prose.__name__, pattern.pattern, pattern.flags].add("match" if part in MATCHED else "search")
    found: dict[tuple[str, str | bytes, int], tuple[set[str], set[str]]] = {}
    for key, uses in inline.items():
        names = {use[1:] for use in uses if use.startswith("=")}
        ways = uses & METHODS
        for name in names:
            ways |= named[key[0] if name.startswith("_") else "", name] or {"search", "fullmatch"}
        found[key] = {"", *names}, ways
    return found


@pytest.mark.drill
def test_every_pattern_takes_linear_time() -> None:
    assert len(patterns()) > 300
    at_risk = [
        f"{module}: {', '.join(sorted(found))} in {pattern!r}"
        for (module, pattern, flags), (names, uses) in patterns().items()
        if (found := set[str]().union(*(risks(pattern, flags, use) for use in uses)))
        and BOUNDED.keys().isdisjoint(f"{module}.{name}".removeprefix("reviewgauge.").rstrip(".") for name in names)
    ]
    assert at_risk == []
