"""Claims by the syntax of a hunk: what its definitions, conditions, calls and values were and are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from reviewgauge.claims.by_line import MOST_BY_LINE, RANK_COMMENTS, line_statements, similarity
from reviewgauge.claims.compare import Altered, HunkFacts, SideFacts
from reviewgauge.claims.parsed import UNSURE
from reviewgauge.claims.sides import Pair
from reviewgauge.claims.signatures import definition_statements, definitions_altered
from reviewgauge.claims.statements import Statement, from_to, listed, quoted
from reviewgauge.claims.wording import Wording, is_test_call, rows_of, shown_whole
from reviewgauge.repo.syntax.facts import Fact

_KINDS = (
    "condition",
    "raise",
    "handler",
    "return",
    "loop",
    "assign",
    "declare",
    "entry",
    "attribute",
    "import",
    "call",
)
_IN_NEW_CODE = frozenset(("condition", "raise", "handler", "return"))  # what is told of a function that is added
_REWRITTEN = 0.3  # below this likeness a comment in the place of another is a new one
_APART = 2  # imports or entries that are told one by one
LATER = 15  # how much less telling what stands in added code is


def syntax_statements(pair: Pair, path: str, old_path: str) -> list[Statement] | None:
    """The sentences about a hunk; None where no grammar reads it, or the parser gave up."""
    facts = HunkFacts.of(pair, path, old_path)
    return None if facts is None else list(_Hunk(facts, path).statements())


def _holds(outer: Altered, inner: Altered) -> bool:
    return outer.fact.start <= inner.fact.start and inner.fact.end <= outer.fact.end and shown_whole(outer.fact)


@dataclass
class _Hunk:
    """A hunk while it is told: which code and which rows are told already."""

    facts: HunkFacts
    path: str
    old_told: list[tuple[int, int]] = field(default_factory=list)
    new_told: list[tuple[int, int]] = field(default_factory=list)
    old_rows: set[int] = field(default_factory=set)
    new_rows: set[int] = field(default_factory=set)

    def statements(self) -> Iterator[Statement]:
        for statement in self._all():
            self.old_rows.update(statement.old)
            self.new_rows.update(statement.new)
            yield statement
        yield from islice(line_statements(self.facts.pair, self.old_rows, self.new_rows), MOST_BY_LINE)

    def _all(self) -> Iterator[Statement]:
        yield from self._definitions()
        wording = Wording(self.facts)
        together: dict[str, list[Altered]] = {"call": [], "entry": [], "import": []}
        for kind in _KINDS:
            for altered in self._untold(kind):
                inside = self.facts.inside(altered)
                if is_test_call(altered):
                    statement = next(wording.say(altered))
                    yield replace(statement, old=statement.old[:1], new=statement.new[:1])
                elif kind in together and (altered.old is None or altered.new is None):
                    together[kind].append(altered)
                elif inside is None or kind in _IN_NEW_CODE:
                    yield from self._told(altered, wording, LATER * (inside is not None))
        yield from self._lists(together["import"], "import", wording)
        yield from self._lists(together["entry"], "entry", wording)
        yield from self._calls([altered for altered in together["call"] if not self._is_told(altered)], wording)
        yield from self._literals()
        yield from self._comments()

    def _untold(self, kind: str) -> Iterator[Altered]:
        """The altered facts of a kind that no sentence shows yet, without what went with a removed function."""
        found = [one for one in self.facts.altered(kind) if one.new is not None or self.facts.inside(one) is None]
        if kind == "handler" and len({one.fact.name for one in found}) > 1:  # `catch` says more than `try`
            found = [one for one in found if not one.fact.name.startswith("try")]
        yield from (one for one in found if not self._is_told(one))

    def _lists(self, found: Sequence[Altered], kind: str, wording: Wording) -> Iterator[Statement]:
        """Added and removed imports or entries, each by itself, or many in one sentence."""
        for added in (True, False):
            some = [one for one in found if (one.old is None) is added and self.facts.inside(one) is None]
            if len(some) <= _APART:
                for altered in some:
                    yield from self._told(altered, wording)
                continue
            names = [quoted(one.fact.name or one.fact.text) for one in some]
            rows = tuple(row for one in some for row in rows_of(one.fact))
            what = "imports" if kind == "import" else "entries"
            text = f"{len(some)} {what} are {'added' if added else 'removed'}: {listed(names)}."
            rank = 60 if kind == "import" else 47
            yield Statement(
                rank, wording.side(some[0]).line(some[0].fact), text, *(((), rows) if added else (rows, ()))
            )

    def _definitions(self) -> Iterator[Statement]:
        facts = self.facts
        found = definitions_altered(facts)
        for altered in found:
            if altered.fact.kind == "function" and (altered.old is None or altered.new is None):
                (facts.gone if altered.new is None else facts.come).append(altered.fact)
                rows = range(altered.fact.body[0], altered.fact.body[1] + 1)
                (self.old_rows if altered.new is None else self.new_rows).update(rows)
            elif altered.old is not None and altered.new is not None:
                facts.renamed[altered.old.name] = altered.new.name
        for altered in found:
            if facts.inside(altered) is None:
                yield from definition_statements(facts, altered, self.path)

    def _is_told(self, altered: Altered) -> bool:
        pairs = ((altered.old, self.old_told), (altered.new, self.new_told))
        return all(fact is None or any(a <= fact.start and fact.end <= b for a, b in told) for fact, told in pairs)

    def _told(self, altered: Altered, wording: Wording, later: int = 0) -> Iterator[Statement]:
        for statement in wording.say(altered):
            yield Statement(statement.rank + later, statement.line, statement.text, statement.old, statement.new)
            for fact, told in ((altered.old, self.old_told), (altered.new, self.new_told)):
                if fact is not None and shown_whole(fact):
                    told.append((fact.start, fact.end))

    def _calls(self, calls: Sequence[Altered], wording: Wording) -> Iterator[Statement]:
        """Added and removed calls: a few each by itself, many in one sentence for those of one function."""
        for added in (False, True):
            side = self.facts.new if added else self.facts.old
            by_scope: dict[tuple[str, str], list[Altered]] = {}
            for altered in calls:
                if (altered.old is None) is added:
                    inside = self.facts.inside(altered)
                    by_scope.setdefault((side.scope(altered.fact), inside.name if inside else ""), []).append(altered)
            for (scope, inside_name), some in by_scope.items():
                outer = [one for i, one in enumerate(some) if not any(_holds(other, one) for other in some[:i])]
                if len(outer) <= _APART and not inside_name:
                    for altered in outer:
                        yield from self._told(altered, wording)
                else:
                    yield self._call_statement(side, [one.fact for one in some], scope, inside_name, added)

    def _call_statement(self, side: SideFacts, facts: list[Fact], scope: str, inside: str, added: bool) -> Statement:
        names = list(dict.fromkeys(fact.name for fact in facts))
        what = f"{'Calls' if len(names) > 1 else 'A call'} to {listed([quoted(name) for name in names])}"
        verb = f"{'are' if len(names) > 1 else 'is'} {'added' if added else 'removed'}"
        place = f" in `{scope}`" if scope else ""
        text = f"{what} {verb}{place}."
        if inside:
            text = f"The new function `{inside}` calls {listed([quoted(name) for name in names])}."
        rows = tuple(row for fact in facts for row in rows_of(fact))
        rank = 40 + LATER * bool(inside)
        return Statement(rank, side.line(facts[0]), text, *(((), rows) if added else (rows, ())))

    def _literals(self) -> Iterator[Statement]:
        """Literals that are all that changes in their line."""
        for altered in self.facts.altered("literal"):
            old, new = altered.old, altered.new
            if old is None or new is None or self._is_told(altered) or old.first != old.last or new.first != new.last:
                continue
            before, after = self.facts.old.side.rows[old.first], self.facts.new.side.rows[new.first]
            if before.replace(old.text, "\0", 1) == after.replace(new.text, "\0", 1):
                where = before.strip().replace(old.text, "\N{HORIZONTAL ELLIPSIS}", 1)
                place = f" in {quoted(where)}" if len(where) > 1 else ""
                text = f"{'The text' if new.name == 'string' else 'The number'} changes from {quoted(old.text)}"
                line = self.facts.new.line(new)
                yield Statement(31, line, f"{text} to {quoted(new.text)}{place}.", rows_of(old), rows_of(new))

    def _comments(self) -> Iterator[Statement]:
        """What becomes of comments, once for each run of changed lines."""
        olds, news = (self._comment_rows(side) for side in (self.facts.old, self.facts.new))
        for removed, added in self.facts.pair.blocks:
            self._pass_over_code(removed, added, olds, news)
            before = [row for row in removed if row in olds and row not in self.old_rows]
            after = [row for row in added if row in news and row not in self.new_rows]
            old = " ".join(olds[row] for row in before).strip()
            new = " ".join(news[row] for row in after).strip()
            if not any(sign.isalnum() for sign in old + new) or old.split() == new.split():
                continue
            line = self.facts.new.side.line(after[0]) if after else self.facts.old.side.line(before[0])
            what = "text" if self._unsure(before, after) else "comment"
            if old and new and similarity(old, new) < _REWRITTEN:
                gone = f"A {what} is removed: {quoted(old)}."
                yield Statement(RANK_COMMENTS, self.facts.old.side.line(before[0]), gone, tuple(before), ())
                old, before = "", []
            if old and new:
                text = f"The {what} changes from {from_to(old, new)}."
            else:
                text = f"A {what} is {'added' if new else 'removed'}: {quoted(new or old)}."
            yield Statement(RANK_COMMENTS, line, text, tuple(before), tuple(after))

    def _unsure(self, before: Sequence[int], after: Sequence[int]) -> bool:
        """Whether these rows are of a text that begins above the hunk, which need not be a comment."""
        return any(
            fact.kind == "comment" and fact.name == UNSURE and any(fact.first <= row <= fact.last for row in rows)
            for side, rows in ((self.facts.old, before), (self.facts.new, after))
            for fact in side.facts
        )

    def _pass_over_code(
        self, removed: Sequence[int], added: Sequence[int], olds: dict[int, str], news: dict[int, str]
    ) -> None:
        """Lines that differ in a comment behind the code alone: the comment is told, the code is not."""
        before = {self.facts.old.side.rows[row].replace(olds.get(row, "\0"), "").strip(): row for row in removed}
        for row in added:
            code = self.facts.new.side.rows[row].replace(news.get(row, "\0"), "").strip()
            if code in before and (row in news or before[code] in olds):
                self.old_rows.update({before[code]} - olds.keys())
                self.new_rows.update({row} - news.keys())

    def _comment_rows(self, side: SideFacts) -> dict[int, str]:
        """The changed rows that hold comments, with what of them is one."""
        found: dict[int, str] = {}
        for fact in side.facts:
            if fact.kind == "comment":
                for row in rows_of(fact):
                    if row in side.side.changed:
                        text = fact.text if fact.first == fact.last else side.side.rows[row].strip()
                        found[row] = f"{found[row]} {text}" if row in found else text
        return found
