"""The sentences about what a hunk adds, removes and alters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reviewgauge.claims.compare import Altered, HunkFacts, SideFacts
from reviewgauge.claims.statements import LONGEST_QUOTE, Statement, from_to, listed, quoted
from reviewgauge.repo.syntax.facts import Fact

_NEGATED = re.compile(r"(?:not\b|!)\s*\(?(.*?)\)?")
_SPACE = re.compile(r"\s+")
_HANDLED = {"finally_clause": "finally", "ensure": "ensure", "try_statement": "try"}


@dataclass(frozen=True)
class Wording:
    """Says what became of one fact."""

    facts: HunkFacts

    def say(self, altered: Altered) -> Iterator[Statement]:
        """The sentences about one fact."""
        kind = altered.fact.kind
        words: Callable[[Altered, str], tuple[int, str]] | None = {
            "condition": _condition,
            "loop": _loop,
            "raise": _raise,
            "handler": _handler,
            "return": _return,
            "assign": _assign,
            "entry": _entry,
            "declare": _declare,
            "call": _call,
            "attribute": _attribute,
            "import": _import,
        }.get(kind)
        if words is None:
            return
        side = self.side(altered)
        scope = side.scope(altered.fact)
        rank, text = words(altered, f" in `{scope}`" if scope else "")
        if text:
            yield self.statement(altered, rank, text)

    def side(self, altered: Altered) -> SideFacts:
        """The side that a fact is told on."""
        return self.facts.new if altered.new is not None else self.facts.old

    def statement(self, altered: Altered, rank: int, text: str) -> Statement:
        """A sentence with the rows that it speaks of."""
        line = self.side(altered).line(altered.fact)
        return Statement(rank, line, text, rows_of(altered.old), rows_of(altered.new))


def rows_of(fact: Fact | None) -> tuple[int, ...]:
    """The rows of a fact."""
    return () if fact is None else tuple(range(fact.first, fact.last + 1))


def shown_whole(fact: Fact) -> bool:
    """Whether a sentence shows all of a fact, so that what lies in it needs no sentence of its own."""
    return len(fact.text) <= LONGEST_QUOTE and fact.last - fact.first <= 3


def _squeezed(text: str) -> str:
    return _SPACE.sub("", text)


def _condition(altered: Altered, place: str) -> tuple[int, str]:
    old, new = altered.old, altered.new
    what = {"while": "loop condition", "until": "loop condition", "assert": "assertion"}.get(
        altered.fact.name, "condition"
    )
    if altered.fact.name in ("switch", "match"):
        what = f"{altered.fact.name} over"
        if old is None or new is None:
            verb = "is removed" if new is None else "is added"
            return 28, f"A {what} {quoted(altered.fact.text)} {verb}{place}."
        return 26, f"The {what} {quoted(old.text)} becomes one over {quoted(new.text)}{place}."
    if old is None and new is not None:
        article = "An" if what[0] == "a" else "A"
        keyword = "" if new.name in ("?:", "assert") else f"{new.name} "
        return 12, f"{article} {what} is added{place}: {quoted(keyword + new.text)}."
    if new is None and old is not None:
        return 12, f"The {what} {quoted(old.text)} is removed{place}."
    assert old is not None and new is not None
    if _squeezed(old.text) == _squeezed(new.text):
        return 0, ""
    for one, other, verb in ((old, new, "is negated"), (new, old, "is no longer negated")):
        negated = _NEGATED.fullmatch(other.text)
        if negated is not None and _squeezed(negated[1]) == _squeezed(one.text):
            return 10, f"The {what} {quoted(old.text)} {verb}{place}: it becomes {quoted(new.text)}."
    return 10, f"The {what}{place} changes from {from_to(old.text, new.text)}."


def _loop(altered: Altered, place: str) -> tuple[int, str]:
    old, new = altered.old, altered.new
    if old is None:
        return 28, f"A loop is added{place}: {quoted(altered.fact.text)}."
    if new is None:
        return 28, f"The loop {quoted(old.text)} is removed{place}."
    return 24, f"The loop{place} changes from {from_to(old.text, new.text)}."


def _raise(altered: Altered, place: str) -> tuple[int, str]:
    old, new = altered.old, altered.new
    verb = "raised" if (altered.fact.name or "raise") == "raise" else "thrown"
    if old is None:
        return 14, f"An error is now {verb}{place}: {quoted(altered.fact.text)}."
    if new is None:
        return 14, f"The error {quoted(old.text)} is no longer {verb} here{place}."
    return 15, f"The error that is {verb}{place} changes from {from_to(old.text, new.text)}."


def _handler(altered: Altered, place: str) -> tuple[int, str]:
    old, new = altered.old, altered.new
    if altered.fact.name == "try_statement":
        if old is not None and new is not None:
            return 0, ""
        verb = "added" if old is None else "removed"
        return 17, f"Error handling with `try` is {verb}{place}."
    if altered.fact.name in _HANDLED:
        verb = "added" if old is None else "removed" if new is None else ""
        return 17, f"A `{_HANDLED[altered.fact.name]}` block is {verb}{place}." if verb else ""
    if old is None:
        return 14, f"Errors are now caught{place}: {quoted(altered.fact.text)}."
    if new is None:
        return 14, f"Errors are no longer caught by {quoted(old.text)}{place}."
    return 14, f"The errors that are caught{place} change from {from_to(old.text, new.text)}."


def _return(altered: Altered, place: str) -> tuple[int, str]:
    old, new = altered.old, altered.new
    verb = "yielded" if altered.fact.name == "yield" else "returned"
    if old is None:
        text = altered.fact.text
        return 26, f"{quoted(text)} is {verb}{place}." if text else f"An early return is added{place}."
    if new is None:
        return (
            26,
            f"{quoted(old.text)} is no longer {verb} here{place}." if old.text else f"A return is removed{place}.",
        )
    return 22, f"The value {verb}{place} changes from {from_to(old.text, new.text)}." if old.text and new.text else ""


def _assign(altered: Altered, place: str) -> tuple[int, str]:
    old, new = altered.old, altered.new
    sign = (altered.fact.arguments or ("=",))[0]
    if old is None:
        assert new is not None
        if sign == "=" and (word := "".join(new.arguments[1:2])):
            return 43, f"A new {word} {quoted(new.name)} is added{place} with the value {quoted(new.text)}."
        if sign == "=":
            return 45, f"{quoted(new.name)} is set to {quoted(new.text)}{place}."
        return 45, f"{quoted(f'{new.name} {sign} {new.text}')} is added{place}."
    if new is None:
        return 44, f"{quoted(f'{old.name} {sign} {old.text}')} is removed{place}."
    if old.name != new.name and old.text == new.text:
        return 30, f"{quoted(old.name)} is renamed to {quoted(new.name)}{place}, with the value {quoted(new.text)}."
    if old.name != new.name:
        texts = (f"{one.name} {(one.arguments or ('=',))[0]} {one.text}" for one in (old, new))
        return 30, f"The assignment{place} changes from {from_to(*texts)}."
    return 30, f"The value of {quoted(new.name)}{place} changes from {from_to(old.text, new.text)}."


def _declare(altered: Altered, place: str) -> tuple[int, str]:
    old, new = altered.old, altered.new
    word = "".join(altered.fact.arguments[:1]) or "variable"
    if old is None:
        return 43, f"A new {word} {quoted(altered.fact.name)} is declared{place}: {quoted(altered.fact.text)}."
    if new is None:
        return 43, f"The {word} {quoted(old.name)} is removed{place}: {quoted(old.text)}."
    return 36, f"The declaration of the {word} {quoted(new.name)}{place} changes from {from_to(old.text, new.text)}."


def _entry(altered: Altered, place: str) -> tuple[int, str]:
    old, new = altered.old, altered.new
    if old is None:
        return 48, f"The entry {quoted(altered.fact.name)} is added{place} with the value {quoted(altered.fact.text)}."
    if new is None:
        return 46, f"The entry {quoted(old.name)} is removed{place}; its value was {quoted(old.text)}."
    if old.name != new.name:
        return 42, f"The entry {quoted(old.name)} is replaced by {quoted(new.name)}{place}."
    return 42, f"The entry {quoted(new.name)}{place} changes from {from_to(old.text, new.text)}."


def is_test_call(altered: Altered) -> bool:
    """Whether a call that is added or removed defines a test: `it("adds", () => ...)`."""
    fact = altered.fact
    named = fact.name in ("test", "it", "describe") and fact.arguments[:1] and fact.arguments[0][:1] in ('"', "'", "`")
    return bool(named) and (altered.old is None or altered.new is None)


def _call(altered: Altered, place: str) -> tuple[int, str]:
    """A call; many that are added or removed are told together."""
    old, new = altered.old, altered.new
    if is_test_call(altered):
        return 20, f"The test {quoted(altered.fact.arguments[0])} is {'added' if old is None else 'removed'}{place}."
    if old is None:
        return 40, f"A call to {quoted(altered.fact.name)} is added{place}: {quoted(altered.fact.text)}."
    if new is None:
        return 40, f"A call to {quoted(old.name)} is removed{place}: {quoted(old.text)}."
    if old.name != new.name:
        return 32, f"The call to {quoted(old.name)} is replaced by one to {quoted(new.name)}{place}."
    more = [one for one in new.arguments if one not in old.arguments]
    fewer = [one for one in old.arguments if one not in new.arguments]
    if more and not fewer:
        return 32, f"{quoted(new.name)} is now also called with {listed([quoted(one) for one in more])}{place}."
    if fewer and not more:
        return 32, f"{quoted(new.name)} is no longer called with {listed([quoted(one) for one in fewer])}{place}."
    if len(more) == len(fewer) == 1:
        return 32, f"{quoted(new.name)} is called with {quoted(more[0])} instead of {quoted(fewer[0])}{place}."
    return 32, f"The call to {quoted(new.name)}{place} changes from {from_to(old.text, new.text)}."


def _attribute(altered: Altered, place: str) -> tuple[int, str]:
    old, new = altered.old, altered.new
    if old is None:
        return 34, f"{quoted(altered.fact.text)} is added{place}."
    if new is None:
        return 34, f"{quoted(old.text)} is removed{place}."
    return 33, f"{quoted(old.text)} becomes {quoted(new.text)}{place}."


def _import(altered: Altered, _place: str) -> tuple[int, str]:
    old, new = altered.old, altered.new
    if old is None:
        return 60, f"An import is added: {quoted(altered.fact.text)}."
    if new is None:
        return 60, f"The import {quoted(old.text)} is removed."
    return 58, f"The import changes from {from_to(old.text, new.text)}."
