"""Which facts of a hunk a change adds, removes or alters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product

from reviewgauge.claims.by_line import similarity
from reviewgauge.claims.fragments import parse_rows
from reviewgauge.claims.sides import HunkSide, Pair
from reviewgauge.repo.syntax.facts import Fact

DEFINITIONS = ("class", "function")
_ABOVE = 3  # rows above a function in which its annotations stand
_MOST_COMPARED = 1500  # pairs of facts of one kind in a hunk
_LONGEST_BODY = 40  # rows of a definition that are compared
_BY_NAME = frozenset(("call", "assign", "entry"))
_ALIKE = 0.6  # from which on a fact elsewhere, or with another name, is another form of one
_IMPORTS_ALIKE = 0.8
_DEFINITIONS_ALIKE = 0.5  # from which on a definition is another one under a new name
_HEADING = re.compile(
    r"\b(?:def|function\*?|func|fn|class|interface|struct|module|impl|trait|enum)\s+(?:\([^()]*\)\s*)?"
    r"([A-Za-z_$][\w$.:]*)"
)
_HEADED_CALL = re.compile(r"([A-Za-z_$][\w$]*(?:::~?\w+)*)\s*\(")
_WORDS = frozenset("if for while switch return else do catch export public private static const var let type".split())  # noqa: SIM905
_FRAMES = re.compile(r"^(?:_(?:\.|::|$))+")  # in a scope: names that frame a fragment


@dataclass(frozen=True)
class SideFacts:
    """The facts on one side of a hunk."""

    side: HunkSide
    facts: tuple[Fact, ...]

    def touched(self, fact: Fact) -> bool:
        """Whether a fact stands on a changed row."""
        return any(row in self.side.changed for row in rows_of(fact))

    def line(self, fact: Fact) -> int:
        """The line of the new version: of the first changed row of a fact."""
        return self.side.lines[next((row for row in rows_of(fact) if row in self.side.changed), fact.first)]

    def scope(self, fact: Fact) -> str:
        """The name of what is around a fact; empty where the hunk does not tell."""
        return _FRAMES.sub("", fact.scope) or (self.heading if fact.first <= self._heading_ends else "")

    @cached_property
    def heading(self) -> str:
        """The name in the hunk's heading, which says what its first line stands in."""
        if (found := _HEADING.search(self.side.heading)) is not None:
            return found[1].rstrip(".:")
        called = _HEADED_CALL.search(self.side.heading)
        return called[1] if called is not None and called[1] not in _WORDS else ""

    @property
    def heading_is_open(self) -> bool:
        """Whether the heading is that of a function whose parameters go on in the hunk."""
        text = self.side.heading
        return re.search(r"\b(?:def|function|func|fn)\b", text) is not None and text.count("(") > text.count(")")

    @cached_property
    def _heading_ends(self) -> int:
        """The last row before one that is not indented, where the heading's definition has ended."""
        rows = enumerate(self.side.rows)
        return next((row for row, text in rows if text.strip() and text[0] not in " \t\f#/*"), len(self.side.rows)) - 1


def rows_of(fact: Fact | None) -> tuple[int, ...]:
    """The rows of a fact."""
    return () if fact is None else tuple(range(fact.first, fact.last + 1))


@dataclass(frozen=True)
class Altered:
    """A fact that is added (no `old`), removed (no `new`) or changed."""

    old: Fact | None
    new: Fact | None

    @property
    def fact(self) -> Fact:
        """The new fact, or the old one."""
        found = self.new or self.old
        assert found is not None
        return found

    @property
    def both(self) -> bool:
        """Whether it is there before and after."""
        return self.old is not None and self.new is not None


@dataclass(frozen=True)
class HunkFacts:
    """Both sides of a hunk, parsed. `gone` and `come` are the functions that are removed and added."""

    pair: Pair
    old: SideFacts
    new: SideFacts
    gone: list[Fact] = field(default_factory=list)
    come: list[Fact] = field(default_factory=list)

    @classmethod
    def of(cls, pair: Pair, path: str, old_path: str) -> HunkFacts | None:
        """The facts of a hunk; None where no grammar reads it."""
        sides: list[SideFacts] = []
        for side, name in ((pair.old, old_path), (pair.new, path)):
            facts = parse_rows(side.rows, name) if side.rows else ()
            if facts is None:
                return None
            sides.append(SideFacts(side, facts))
        return cls(pair, sides[0], sides[1])

    def side(self, altered: Altered) -> SideFacts:
        """The side that a fact is told on."""
        return self.old if altered.new is None else self.new

    def inside(self, altered: Altered) -> Fact | None:
        """The added or removed function that a fact stands in."""
        return _around(self.gone if altered.new is None else self.come, altered.fact)

    def altered(self, kind: str) -> Iterator[Altered]:
        """The facts of a kind that differ, in the order of the new side, those that are removed last."""
        olds, news = ([fact for fact in side.facts if fact.kind == kind] for side in (self.old, self.new))
        olds, news = _without(olds, news, self.old), _without(news, olds, self.new)
        alike = self._one_definition if kind in DEFINITIONS else self._one_fact
        scored: list[tuple[float, int, int]] = []
        for (i, old), (j, new) in islice(product(enumerate(olds), enumerate(news)), _MOST_COMPARED):
            if (self.old.touched(old) or self.new.touched(new)) and (score := alike(old, new)) > 0:
                scored.append((-score, j, i))
        partner: dict[int, int] = {}
        for _, j, i in sorted(scored):
            if j not in partner and i not in partner.values():
                partner[j] = i
        for j, new in enumerate(news):
            if j in partner:
                yield Altered(olds[partner[j]], new)
            elif new.first in self.new.side.changed:
                yield Altered(None, new)
        lost = (old for i, old in enumerate(olds) if i not in partner.values())
        yield from (Altered(old, None) for old in lost if old.first in self.old.side.changed)

    def _block(self, which: int, fact: Fact) -> int | None:
        """The run of changed lines that a fact of side `which` (0: old, 1: new) touches first."""
        return next((found for row in rows_of(fact) if (found := self.pair.block_of[which].get(row)) is not None), None)

    def _one_definition(self, old: Fact, new: Fact) -> float:
        """How likely two definitions are one before and after: by name, else by what they hold; 0 if they are not."""
        if old.name == new.name:
            return 2.0 + (old.scope == new.scope)
        if _FRAMES.sub("", old.scope) != _FRAMES.sub("", new.scope) or self._block(0, old) != self._block(1, new):
            return 0.0
        texts = []
        for side, fact in ((self.old, old), (self.new, new)):
            rows = side.side.rows[fact.first : fact.body[1] + 1][:_LONGEST_BODY]
            texts.append("\n".join(rows).replace(fact.name, "_"))
        ratio = min(similarity(*texts), similarity(old.text, new.text) * 1.5)
        return ratio if ratio >= _DEFINITIONS_ALIKE else 0.0

    def _one_fact(self, old: Fact, new: Fact) -> float:
        """How likely two facts are one before and after; 0 if they are not.

        Within one run of changed lines, facts of one name are; elsewhere, or under another name, if their texts are
        alike.
        """
        here, there = self._block(0, old), self._block(1, new)
        near = here is not None and here == there
        if not near and here is not None and there is not None:
            return 0.0
        if _around(self.gone, old) or _around(self.come, new):
            return 0.0
        ratio = similarity(old.text, new.text)
        if old.kind == "import" and ratio < _IMPORTS_ALIKE and _module(old) != _module(new):
            return 0.0
        if old.name == new.name:
            return 1.0 + ratio + near if near or old.kind in _BY_NAME or ratio >= _ALIKE else 0.0
        return ratio if near and old.kind in _BY_NAME and ratio >= _ALIKE else 0.0


def _around(functions: Iterable[Fact], fact: Fact) -> Fact | None:
    return next((one for one in functions if one is not fact and _within(one, fact)), None)


def _within(function: Fact, fact: Fact) -> bool:
    begin, end = function.body
    if fact.kind == "attribute":  # it stands above the function, or in its head
        return begin - _ABOVE <= fact.first <= function.last
    return begin <= fact.first <= end and function.start < fact.start


def _module(fact: Fact) -> str:
    """What an import takes names from; the names alone are a change of it."""
    return fact.text.partition(" import ")[0].rpartition(" from ")[2]


def _without(mine: Sequence[Fact], theirs: Iterable[Fact], side: SideFacts) -> list[Fact]:
    """The facts of one side that the other has not, counted; unchanged rows are met first."""
    left = Counter((fact.name, fact.text) for fact in theirs)
    kept: list[Fact] = []
    for fact in sorted(mine, key=side.touched):
        if left[fact.name, fact.text] > 0:
            left[fact.name, fact.text] -= 1
        else:
            kept.append(fact)
    return sorted(kept, key=lambda fact: (fact.start, -fact.end))
