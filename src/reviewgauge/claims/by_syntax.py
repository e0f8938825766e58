"""Claims by the syntax of a hunk: what its definitions, conditions, calls and values were and are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from reviewgauge.claims.by_line import MOST_BY_LINE, RANK_COMMENTS, line_statements
from reviewgauge.claims.compare import DEFINITIONS, Altered, HunkFacts, SideFacts, rows_of
from reviewgauge.claims.definitions import definition_statements
from reviewgauge.claims.fragments import UNSURE
from reviewgauge.claims.sides import Pair
from reviewgauge.claims.wording import LONGEST_QUOTE, RANKS, Statement, from_to, is_test, listed, quoted, sentence
from reviewgauge.repo.syntax.facts import Fact

_KINDS = (
    "condition",
    "raise",
    "handler",
    "return",
    "loop",
    "assign",
    "declare",
    "attribute",
    "import",
    "entry",
    "call",
)
_IN_NEW_CODE = frozenset(("condition", "raise", "handler", "return"))  # what is told of a function that is added
_TOGETHER = {  # what is told in one sentence where many are added or removed
    "call": ("A call to", "Calls to"),
    "entry": ("The entry", "The entries"),
    "import": ("The import", "The imports"),
}
_APART = 2  # of these that are told one by one
_LATER = 15  # how much less telling what stands in added code is


def syntax_statements(pair: Pair, path: str, old_path: str) -> list[Statement] | None:
    """The sentences about a hunk; None where no grammar reads it, or the parser gave up."""
    facts = HunkFacts.of(pair, path, old_path)
    return None if facts is None else list(_Hunk(facts, path).statements())


@dataclass
class _Hunk:
    """A hunk while it is told: which code (bytes) and which rows of the old and the new side are told already."""

    facts: HunkFacts
    path: str
    told: tuple[list[tuple[int, int]], list[tuple[int, int]]] = field(default_factory=lambda: ([], []))
    rows: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))

    def statements(self) -> Iterator[Statement]:
        for statement in self._all():
            self.rows[0].update(statement.old)
            self.rows[1].update(statement.new)
            yield statement
        yield from islice(line_statements(self.facts.pair, *self.rows), MOST_BY_LINE)

    def _all(self) -> Iterator[Statement]:
        yield from self._definitions()
        for kind in _KINDS:
            groups: dict[tuple[bool, str], list[Altered]] = {}
            for altered in self._untold(kind):
                if kind in _TOGETHER and not altered.both and not is_test(altered.fact):
                    scope = "" if kind == "import" else self.facts.side(altered).scope(altered.fact)
                    groups.setdefault((altered.old is None, scope), []).append(altered)
                elif self.facts.inside(altered) is None or kind in _IN_NEW_CODE or is_test(altered.fact):
                    yield self._tell(altered)
            for (_, scope), group in groups.items():
                yield from self._together(group, kind, scope)
        yield from self._comments()

    def _definitions(self) -> Iterator[Statement]:
        facts = self.facts
        found = [altered for kind in DEFINITIONS for altered in facts.altered(kind)]
        for altered in found:
            if altered.fact.kind == "function" and not altered.both:
                (facts.gone if altered.new is None else facts.come).append(altered.fact)
                begin, end = altered.fact.body
                self.rows[altered.old is None].update(range(begin, end + 1))
        for altered in found:
            if facts.inside(altered) is None:
                yield from definition_statements(facts, altered, self.path)

    def _untold(self, kind: str) -> Iterator[Altered]:
        """The altered facts of a kind that no sentence shows yet, without what went with a removed function."""
        found = [one for one in self.facts.altered(kind) if one.new is not None or self.facts.inside(one) is None]
        if kind == "handler" and len({one.fact.name for one in found}) > 1:  # `catch` says more than `try`
            found = [one for one in found if not one.fact.name.startswith("try")]
        yield from (one for one in found if not self._is_told(one))

    def _is_told(self, altered: Altered) -> bool:
        pairs = zip((altered.old, altered.new), self.told, strict=True)
        return all(fact is None or any(a <= fact.start and fact.end <= b for a, b in told) for fact, told in pairs)

    def _tell(self, altered: Altered) -> Statement:
        """The sentence about one fact; what lies in code that it shows whole needs no sentence of its own."""
        side, fact = self.facts.side(altered), altered.fact
        scope = side.scope(fact)
        rank, text = sentence(altered.old, altered.new, f" in `{scope}`" if scope else "")
        rows = [rows_of(altered.old), rows_of(altered.new)]
        if is_test(fact):
            rows = [some[:1] for some in rows]
        else:
            for one, told in zip((altered.old, altered.new), self.told, strict=True):
                if one is not None and len(one.text) <= LONGEST_QUOTE and one.last - one.first <= 3:
                    told.append((one.start, one.end))
        return Statement(rank + _LATER * (self.facts.inside(altered) is not None), side.line(fact), text, *rows)

    def _together(self, group: Sequence[Altered], kind: str, scope: str) -> Iterator[Statement]:
        """Added or removed imports, entries or calls: few one by one, many in one sentence."""
        side = self.facts.side(group[0])
        inside = self.facts.inside(group[0]) is not None
        if inside and kind != "call":
            return
        outer = [one for i, one in enumerate(group) if not any(_holds(other.fact, one.fact) for other in group[:i])]
        if len(outer) <= _APART and not inside:
            yield from (self._tell(one) for one in outer if not self._is_told(one))
            return
        names = list(dict.fromkeys(quoted(one.fact.name or one.fact.text) for one in group))
        added = group[0].old is None
        verb = f"{'are' if len(names) > 1 else 'is'} {'added' if added else 'removed'}"
        text = f"{_TOGETHER[kind][len(names) > 1]} {listed(names)} {verb}{f' in `{scope}`' if scope else ''}."
        rows = tuple(row for one in group for row in rows_of(one.fact))
        line = side.line(group[0].fact)
        yield Statement(RANKS[kind][0] + _LATER * inside, line, text, () if added else rows, rows if added else ())

    def _comments(self) -> Iterator[Statement]:
        """What becomes of comments, once for each run of changed lines."""
        sides = (self.facts.old, self.facts.new)
        comments = [_comment_rows(side) for side in sides]
        for block in self.facts.pair.blocks:
            rows = [
                tuple(row for row in changed if row in found and row not in done)
                for changed, found, done in zip(block, comments, self.rows, strict=True)
            ]
            old, new = (" ".join(found[row][0] for row in some) for found, some in zip(comments, rows, strict=True))
            if not any(sign.isalnum() for sign in old + new) or old.split() == new.split():
                continue
            what = {found[row][1] for found, some in zip(comments, rows, strict=True) for row in some}
            noun = "text" if "text" in what else "comment"
            line = sides[bool(new)].side.lines[rows[bool(new)][0]]
            if old and new:
                text = f"The {noun} changes from {from_to(old, new)}."
            else:
                text = f"A {noun} is {'added' if new else 'removed'}: {quoted(new or old)}."
            yield Statement(RANK_COMMENTS, line, text, *rows)


def _holds(outer: Fact, inner: Fact) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _comment_rows(side: SideFacts) -> dict[int, tuple[str, str]]:
    """The changed rows that hold comments: what of each is one, and "text" where it may as well be a string."""
    found: dict[int, tuple[str, str]] = {}
    for fact in side.facts:
        for row in rows_of(fact) if fact.kind == "comment" else ():
            if row in side.side.changed:
                text = fact.text if fact.first == fact.last else side.side.rows[row].strip().removeprefix("* ")
                before = found[row][0] + " " if row in found else ""
                found[row] = before + text, "text" if fact.name == UNSURE else "comment"
    return found
