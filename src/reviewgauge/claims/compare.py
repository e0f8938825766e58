"""Which facts of a hunk a change adds, removes or alters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product

from reviewgauge.claims.by_line import similarity
from reviewgauge.claims.parsed import parse_rows
from reviewgauge.claims.sides import LONGEST_LINE, HunkSide, Pair
from reviewgauge.repo.syntax.facts import Fact

_ABOVE = 3  # rows above a function in which its annotations stand
_MOST_COMPARED = 1500  # pairs of facts of one kind in a hunk
_ALIKE = {"condition": 0.4, "loop": 0.4, "return": 0.3, "raise": 0.3, "import": 0.0, "attribute": 0.5, "handler": 0.0}
_BY_NAME = frozenset(("call", "assign", "entry"))
_LONE = frozenset(("condition", "loop", "raise", "return", "import"))
_RENAMED = 0.6  # how alike the rest is where a target or callee has another name
_HEADING = re.compile(
    r"\b(?:def|function\*?|func|fn|class|interface|struct|module|impl|trait|enum)\s+(?:\([^()]*\)\s*)?"
    r"([A-Za-z_$][\w$.:]*)"
)
_FROM = re.compile(r"\bfrom\s+([.\w]+)\s+import\b|\bfrom\s+([\"'][^\"']+[\"'])")
_HEADED_CALL = re.compile(r"([A-Za-z_$][\w$]*(?:::~?\w+)*)\s*\(")
_WORDS = frozenset("if for while switch return else do catch export public private static const var let type".split())  # noqa: SIM905


@dataclass(frozen=True)
class SideFacts:
    """The facts on one side of a hunk."""

    side: HunkSide
    facts: tuple[Fact, ...]

    def touched(self, fact: Fact) -> bool:
        """Whether a fact stands on a changed row."""
        return any(row in self.side.changed for row in range(fact.first, fact.last + 1))

    def begins(self, fact: Fact) -> bool:
        """Whether a fact's first row is a changed one."""
        return fact.first in self.side.changed

    def line(self, fact: Fact) -> int:
        """The line of the new version: of the first changed row of a fact."""
        rows = (row for row in range(fact.first, fact.last + 1) if row in self.side.changed)
        return self.side.line(next(rows, fact.first))

    def scope(self, fact: Fact) -> str:
        """The name of what is around a fact; empty where the hunk does not tell."""
        name = plain_scope(fact.scope)
        return name or (self.heading if fact.first <= self._heading_ends else "")

    @cached_property
    def heading(self) -> str:
        """The name in the hunk's heading, which says what its first line stands in."""
        text = self.side.hunk.heading.strip()[:LONGEST_LINE]
        if (found := _HEADING.search(text)) is not None:
            return found[1].rstrip(".:")
        called = _HEADED_CALL.search(text)
        return called[1] if called is not None and called[1] not in _WORDS else ""

    @property
    def heading_is_open(self) -> bool:
        """Whether the heading is that of a function whose parameters go on in the hunk."""
        text = self.side.hunk.heading
        return re.search(r"\b(?:def|function|func|fn)\b", text) is not None and text.count("(") > text.count(")")

    @cached_property
    def _heading_ends(self) -> int:
        """The last row before one that is not indented, where the heading's definition has ended."""
        for row, text in enumerate(self.side.rows):
            if text.strip() and not text[0].isspace() and text[0] not in "#/*":
                return row - 1
        return len(self.side.rows)


def plain_scope(scope: str) -> str:
    """A scope without the names that frame a fragment."""
    return re.sub(r"^(?:_(?:\.|::|$))+", "", scope)


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


@dataclass(frozen=True)
class HunkFacts:
    """Both sides of a hunk, parsed."""

    pair: Pair
    old: SideFacts
    new: SideFacts
    gone: list[Fact] = field(default_factory=list)  # functions that are removed
    come: list[Fact] = field(default_factory=list)  # functions that are added
    renamed: dict[str, str] = field(default_factory=dict)  # name before -> name after

    def inside(self, altered: Altered) -> Fact | None:
        """The added or removed function that a fact stands in."""
        return _around(self.gone if altered.new is None else self.come, altered.fact)

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

    @cached_property
    def _blocks(self) -> tuple[dict[int, int], dict[int, int]]:
        old = {row: number for number, (rows, _) in enumerate(self.pair.blocks) for row in rows}
        new = {row: number for number, (_, rows) in enumerate(self.pair.blocks) for row in rows}
        return old, new

    def block(self, which: int, fact: Fact) -> int | None:
        """The run of changed lines that a fact of side `which` (0: old, 1: new) touches first."""
        blocks = self._blocks[which]
        return next((blocks[row] for row in range(fact.first, fact.last + 1) if row in blocks), None)

    def altered(self, kind: str) -> Iterator[Altered]:
        """The facts of a kind that differ, in the order of the new side, those that are removed last."""
        olds, news = self._different(kind)
        scored: list[tuple[float, int, int]] = []
        for (i, old), (j, new) in islice(product(enumerate(olds), enumerate(news)), _MOST_COMPARED):
            if self.old.touched(old) or self.new.touched(new):
                score = self._alike(kind, old, new)
                if score > 0:
                    scored.append((score, i, j))
        partner: dict[int, int] = {}
        used: set[int] = set()
        for _, i, j in sorted(scored, key=lambda one: (-one[0], one[2], one[1])):
            if i not in used and j not in partner:
                partner[j] = i
                used.add(i)
        if kind in _LONE:
            self._pair_the_lone(olds, news, partner, used)
        for j, new in enumerate(news):
            if j in partner:
                yield Altered(olds[partner[j]], new)
            elif self.new.begins(new):
                yield Altered(None, new)
        yield from (Altered(old, None) for i, old in enumerate(olds) if i not in used and self.old.begins(old))

    def _pair_the_lone(
        self, olds: Sequence[Fact], news: Sequence[Fact], partner: dict[int, int], used: set[int]
    ) -> None:
        """Take the only one that is left of a kind in a run of changed lines, before and after, for one."""
        for number in range(len(self.pair.blocks)):
            left = [i for i, old in enumerate(olds) if i not in used and self.block(0, old) == number]
            right = [j for j, new in enumerate(news) if j not in partner and self.block(1, new) == number]
            if len(left) != 1 or len(right) != 1:
                continue
            old, new = olds[left[0]], news[right[0]]
            apart = _around(self.gone, old) is not None or _around(self.come, new) is not None
            if old.name == new.name and not apart and self._one_scope(old, new):
                partner[right[0]] = left[0]
                used.add(left[0])

    def _different(self, kind: str) -> tuple[list[Fact], list[Fact]]:
        olds = [fact for fact in self.old.facts if fact.kind == kind]
        news = [fact for fact in self.new.facts if fact.kind == kind]
        return _without(olds, news, self.old), _without(news, olds, self.new)

    def _under_another_name(self, kind: str, old: Fact, new: Fact) -> float:
        """How likely another callee has the same arguments, another target or key the same value."""
        if kind == "call" and (not old.arguments or old.arguments != new.arguments):
            return 0.0
        ratio = similarity(old.text, new.text)
        return ratio / 2 if kind == "call" or ratio >= _RENAMED else 0.0

    def _one_scope(self, old: Fact, new: Fact) -> bool:
        before, after = (plain_scope(fact.scope).replace("::", ".").rpartition(".")[2] for fact in (old, new))
        return not before or not after or after in (before, self.renamed.get(before))

    def _alike(self, kind: str, old: Fact, new: Fact) -> float:
        """How likely two facts are one before and after; 0 for those that are not."""
        if _around(self.gone, old) is not None or _around(self.come, new) is not None or not self._one_scope(old, new):
            return 0.0
        here, there = self.block(0, old), self.block(1, new)
        if here is not None and there is not None and here != there:
            return 0.0
        near = here is not None and here == there
        if kind in _BY_NAME and old.name != new.name:
            return self._under_another_name(kind, old, new) if near else 0.0
        if old.name != new.name or (kind == "import" and _module(old) != _module(new)):
            return 0.0
        ratio = similarity(old.text, new.text)
        if kind in _BY_NAME:
            return 1.0 + ratio + near
        needed = _ALIKE.get(kind, 0.5)
        if near and kind in ("return", "raise"):
            needed = 0.0
        elif kind == "condition" and not near:
            needed = _RENAMED
        return ratio + near + 0.01 if ratio >= needed else 0.0


def _around(functions: Iterable[Fact], fact: Fact) -> Fact | None:
    return next((one for one in functions if one is not fact and _within(one, fact)), None)


def _within(function: Fact, fact: Fact) -> bool:
    begin, end = function.body
    if fact.kind == "attribute":  # it stands above the function, or in its head
        return begin - _ABOVE <= fact.first <= function.last
    return begin <= fact.first <= end and function.start < fact.start


def _module(fact: Fact) -> str:
    """What an import takes names from; the names alone are a change of it."""
    found = _FROM.search(fact.text)
    return found[1] or found[2] if found is not None else fact.text


def _key(fact: Fact) -> tuple[str, str]:
    return fact.name, fact.text


def _without(mine: Sequence[Fact], theirs: Iterable[Fact], side: SideFacts) -> list[Fact]:
    """The facts of one side that the other has not, counted; unchanged rows are met first."""
    left = Counter(map(_key, theirs))
    kept: list[Fact] = []
    for fact in sorted(mine, key=side.touched):
        if left[_key(fact)] > 0:
            left[_key(fact)] -= 1
        else:
            kept.append(fact)
    return sorted(kept, key=lambda fact: (fact.start, -fact.end))
