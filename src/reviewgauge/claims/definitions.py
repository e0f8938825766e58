"""The sentences about functions and classes: added, removed, renamed, and what becomes of their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reviewgauge.claims.compare import Altered, HunkFacts, rows_of
from reviewgauge.claims.wording import Statement, from_to, listed, quoted
from reviewgauge.repo.syntax.facts import Fact, Parameter

_METHODS_ONLY = (".java", ".cs", ".kt")
_SELF = frozenset(("self", "cls", "&self", "&mut self", "mut self", "this", "void"))
_TEST = re.compile(r"test(?:_|$|[A-Z])|Test[A-Z]")
_CLASS = re.compile(r"\b(interface|enum|struct|trait|union|module|record)\b")


def definition_statements(facts: HunkFacts, altered: Altered, path: str) -> Iterator[Statement]:
    """The sentences about one definition."""
    old, new, fact, side = altered.old, altered.new, altered.fact, facts.side(altered)
    what, name, scope = _what(fact, path, facts), quoted(fact.name), side.scope(fact)
    place = f" in `{scope}`" if scope and scope != fact.name else ""

    def say(rank: int, text: str) -> Statement:
        return Statement(rank, side.line(fact), text, rows_of(old), rows_of(new))

    if old is None:
        head = _head(fact)
        bases = f": {quoted(head)}" if fact.kind == "class" and head.partition(fact.name)[2].strip() else ""
        rank = 21 if fact.kind == "class" else 20
        yield say(rank, f"The {what} {name} is added{place}{_with(fact.parameters)}{bases}.")
    elif new is None:
        yield say(18, f"The {what} {name} is removed{place}.")
    else:
        if old.name != new.name:
            yield say(16, f"The {what} {quoted(old.name)} is renamed to {name}{place}.")
        owner = f"the {what} {name}"
        if fact.name == "_":  # its head is above the hunk
            owner = f"the function `{scope}`" if side.heading_is_open else f"a function{place}"
        told = list(_parameter_texts(old, new, owner))
        yield from (say(16, text) for text in told)
        if _besides(old, told) != _besides(new, told):
            yield say(19, f"The declaration of {owner} changes from {from_to(_head(old), _head(new))}.")


def _head(fact: Fact) -> str:
    """A head without a comment behind it."""
    return fact.text.partition(" #")[0].rstrip(": ")


def _besides(fact: Fact, told: Sequence[str]) -> str:
    """A head without its name, and without its parameters where they are told."""
    text = _head(fact).replace(fact.name, "_", 1)
    if told:
        text = text.partition("(")[0] + fact.result
    return "".join(text.split())


def _what(fact: Fact, path: str, facts: HunkFacts) -> str:
    if fact.kind == "class":
        found = _CLASS.search(fact.text)
        return found[1] if found else "type" if path.endswith(".go") else "class"
    if _TEST.match(fact.name) and not fact.name.endswith("Suite"):
        return "test"
    around = fact.scope.replace("::", ".").rpartition(".")[2]
    classes = {one.name for side in (facts.old, facts.new) for one in side.facts if one.kind == "class"} | {"_"}
    method = path.lower().endswith(_METHODS_ONLY) or around in classes or fact.text.startswith("func (")
    method = method or any(one.name in _SELF for one in fact.parameters[:1])
    closure = "=>" in fact.text or fact.text.endswith("->") or fact.text.startswith("lambda")
    return "method" if method and not closure else "function"


def _with(parameters: Sequence[Parameter]) -> str:
    names = [quoted(one.name) for one in parameters if one.name and one.name not in _SELF]
    return f", with the parameter{'s' * (len(names) > 1)} {listed(names)}" if names else ""


def _parameter_texts(old: Fact, new: Fact, owner: str) -> Iterator[str]:
    before, after = ({one.name: one for one in fact.parameters} for fact in (old, new))
    come = [one for one in new.parameters if one.name not in before]
    gone = [one for one in old.parameters if one.name not in after]
    if len(come) == len(gone) == 1 and old.parameters.index(gone[0]) == new.parameters.index(come[0]):
        yield f"The parameter {quoted(gone[0].text)} of {owner} is replaced by {quoted(come[0].text)}."
        come, gone = [], []
    for one in come:
        default = f" with the default {quoted(one.default)}" if one.default else ""
        yield f"{owner[0].upper()}{owner[1:]} gets a new parameter {quoted(one.name)}{default}."
    yield from (f"The parameter {quoted(one.name)} is removed from {owner}." for one in gone)
    for name, one in after.items():
        was = before.get(name, one)
        parameter = f"parameter {quoted(name)} of {owner}"
        if was.default and one.default and was.default != one.default:
            yield f"The default of the {parameter} changes from {from_to(was.default, one.default)}."
        elif "".join(was.text.split()) != "".join(one.text.split()):
            yield f"The {parameter} changes from {from_to(was.text, one.text)}."
