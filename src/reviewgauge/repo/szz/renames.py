"""Identifiers that a commit renamed, seen in its tokens alone: no type is resolved, no scope is known.

After RefactoringMiner's idea that a refactoring brings no defect (Neto, da Costa, Kulesza, SANER 2018, "RA-SZZ"); it
reads Java only, this reads words and signs of any language, and so sees less.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence

from reviewgauge.repo.szz.lines import Tokens, same_code

Hunk = tuple[Sequence[Tokens], Sequence[Tokens]]
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_FUNCTIONS = frozenset(["def", "function", "func", "fn", "fun", "sub"])
_WORDS = (
    "class let var const val struct enum interface type trait module namespace package import as for auto int float"
    " double long short char bool boolean byte string void unsigned signed size_t static final"
)
_MORE_WORDS = (
    "abstract and begin break case catch continue default defer delete do else elsif end ensure export extends"
    " false finally foreach friend go goto if implements in inline instanceof internal is loop match mod mut mutable"
    " new nil none not null of operator or override private protected public pub raise ref return select self set"
    " get super switch synchronized template then this throw throws true try typedef typeof undefined unless until"
    " use using virtual volatile when where while with yield"
)
_DECLARERS = _FUNCTIONS.union(_WORDS.split())
_KEYWORDS = _DECLARERS.union(keyword.kwlist, _MORE_WORDS.split())


def renamed_code(old: Sequence[Tokens], new: Sequence[Tokens], renames: dict[str, str]) -> dict[int, tuple[int, ...]]:
    """As `same_code`, where the identifiers of `old` are first renamed by `renames`; lines without one are left out."""
    translated = [tuple(renames.get(token, token) for token in line) for line in old]
    names = set(renames.values())
    return {line: found for line, found in same_code(translated, new).items() if names & set(new[line])}


def find_renames(hunks: Sequence[Hunk]) -> dict[str, str]:
    """Identifiers that a commit renamed, from all its (old, new) hunks.

    `a` became `b` when lines of equal place in a hunk differ in nothing but this, at two lines or more, one of which
    defines `a`; nothing else took the place of `a`, nor `b` the place of anything else; no added line still says `a`,
    no deleted line said `b` already. So `min` that became `max` wherever it is called is not a rename.
    """
    count: dict[tuple[str, str], int] = {}
    defined: set[str] = set()
    before = {token for old, _ in hunks for line in old for token in line}
    after = {token for _, new in hunks for line in new for token in line}
    for one, other in _paired(hunks):
        for a, b in _differences(one, other):
            count[a, b] = count.get((a, b), 0) + 1
            defined |= {a} if _defines(one, a) else set()
    sources = [a for a, _ in count]
    targets = [b for _, b in count]
    return {
        a: b
        for (a, b), times in count.items()
        if times > 1
        and sources.count(a) == targets.count(b) == 1
        and a in defined
        and a not in after
        and b not in before
    }


def _paired(hunks: Iterable[Hunk]) -> Iterable[tuple[Tokens, Tokens]]:
    for old, new in hunks:
        if len(old) == len(new):
            yield from zip(old, new, strict=True)


def _differences(old: Tokens, new: Tokens) -> set[tuple[str, str]]:
    """The identifiers that differ between two lines; none when anything else does."""
    if len(old) != len(new):
        return set()
    pairs = {(a, b) for a, b in zip(old, new, strict=True) if a != b}
    return pairs if all(_is_name(token) for pair in pairs for token in pair) else set()


def _is_name(token: str) -> bool:
    return token not in _KEYWORDS and _IDENTIFIER.fullmatch(token) is not None


def _defines(line: Tokens, name: str) -> bool:
    """Whether the line looks like one that gives `name` its meaning: a definition, a parameter, an assignment."""
    for at, token in enumerate(line):
        if token != name:
            continue
        last = line[at - 1] if at else ""
        following = line[at + 1 : at + 3]
        if last in _DECLARERS or (line[0] in _FUNCTIONS and "(" in line[:at]):
            return True
        if "(" in line[:at]:
            continue
        assigned = following[:1] in ((":=",), ("=",)) and following != ("=", "=")
        if assigned or following == (":", "=") or (_is_name(last) and following[:1] in ((";",), (",",))):
            return True
    return False
