"""The outline of a piece of source: its functions, conditions, calls, assignments, returns and error handling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reviewgauge.repo.syntax.functions import PARSERS, grammar_for


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function; `text` is all of it, with its type and default."""

    name: str
    default: str
    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """What one node says. Rows count from 0, bytes from the start of the source.

    `kind` is function, class, condition, loop, call, assign, entry, return, raise, handler, import, attribute, comment
    or literal. `name` is that of the definition, the callee, the target; of a condition its keyword. `text` is the
    head, the condition, the value. `scope` names the definition around it. `arguments` are a call's; `body` is the
    first and the last row of the whole node, where `first` to `last` is the head.
    """

    kind: str
    first: int
    last: int
    start: int
    end: int
    name: str
    text: str
    scope: str
    arguments: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    result: str = ""
    body: tuple[int, int] = (0, 0)

    def moved(self, rows: int, size: int) -> Fact:
        """The fact in a source that begins `rows` rows, `size` bytes later."""
        body = self.body[0] - rows, self.body[1] - rows
        return replace(
            self,
            first=self.first - rows,
            last=self.last - rows,
            start=self.start - size,
            end=self.end - size,
            body=body,
        )


@dataclass(frozen=True, slots=True)
class Outline:
    """The facts of a source, outer before inner; `broken`: how many bytes do not parse, 0 if all do."""

    facts: tuple[Fact, ...]
    broken: int


def outline_of(source: bytes, path: str) -> Outline | None:
    """The outline of a source; None where no grammar reads it, or the parser gave up."""
    key, reason = grammar_for(source, path)
    answer = None if reason else PARSERS.ask(key, "outline", source)
    if answer is None:
        return None
    return Outline(tuple(map(_fact, answer["facts"])), int(answer["broken"]))


def has_grammar(path: str) -> bool:
    """Whether a grammar reads files of this name."""
    return not grammar_for(b"", path)[1]


def _fact(row: Sequence[object]) -> Fact:
    kind, first, last, start, end, name, text, scope, details = row
    fact = Fact(str(kind), _int(first), _int(last), _int(start), _int(end), str(name), str(text), str(scope))
    assert isinstance(details, list)
    if kind == "function":
        begin, stop, parameters, result = details
        found = tuple(Parameter(*map(str, one)) for one in parameters)
        return replace(fact, body=(_int(begin), _int(stop)), parameters=found, result=str(result))
    if kind in ("class", "loop", "handler"):
        return replace(fact, body=(_int(details[0]), _int(details[1])))
    return replace(fact, body=(fact.first, fact.last), arguments=tuple(map(str, details)))


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value
