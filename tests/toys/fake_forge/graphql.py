"""A small GraphQL executor: reads a query, walks typed objects, refuses fields that a type does not have.

Types are dictionaries with `__typename`; a value may be a function of the field's arguments. A `Connection` pages as
GitHub's do: `first` and `after` are needed, at most 100 at once.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(
    r'"""(?:.|\n)*?"""|"(?:[^"\\\n]|\\.)*"|\.\.\.|[A-Za-z_]\w*|-?\d+(?:\.\d+)?|[{}()\[\]:$!=@]|#[^\n]*|,'
)
Object = Mapping[str, Any]
_ACTED = ("id", "createdAt", "actor")
KNOWN: Mapping[str, frozenset[str]] = {
    name: frozenset((*common, *fields.split()))
    for name, common, fields in (
        ("Issue", (), "id number title body state closed closedAt createdAt author url repository stateReason"),
        ("PullRequest", (), "id number title body state merged mergedAt closedAt createdAt author url repository"),
        ("User", (), "id login name"),
        ("Bot", (), "id login"),
        ("Actor", (), "login url"),
        ("HeadRefForcePushedEvent", _ACTED, "beforeCommit afterCommit ref pullRequest"),
        ("BaseRefForcePushedEvent", _ACTED, "beforeCommit afterCommit ref pullRequest"),
        ("BaseRefChangedEvent", _ACTED, "currentRefName previousRefName pullRequest databaseId"),
        ("CrossReferencedEvent", _ACTED, "source target isCrossRepository willCloseTarget referencedAt url"),
        ("ConnectedEvent", _ACTED, "source subject isCrossRepository"),
        ("DisconnectedEvent", _ACTED, "source subject isCrossRepository"),
        ("RenamedTitleEvent", _ACTED, "previousTitle currentTitle subject"),
        ("MergedEvent", _ACTED, "commit mergeRef mergeRefName pullRequest url"),
        ("ClosedEvent", _ACTED, "closable closer stateReason url"),
        ("ReopenedEvent", _ACTED, "closable stateReason"),
        ("ReadyForReviewEvent", _ACTED, "pullRequest url"),
        ("LabeledEvent", _ACTED, "label labelable"),
        ("IssueComment", _ACTED[:2], "author body databaseId url"),
        ("PullRequestReview", _ACTED[:2], "author body state submittedAt databaseId url commit"),
        ("PullRequestCommit", ("id",), "commit url"),
    )
}


class Refused(Exception):
    """What GitHub answers instead of data: one entry of `errors`."""

    def __init__(self, message: str, kind: str = "", path: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.entry: dict[str, Any] = {"message": message}
        if kind:
            self.entry |= {"type": kind, "path": list(path)}


@dataclass(frozen=True)
class Field:
    """One selected field, or an inline fragment (`on` is its type, empty for any)."""

    name: str
    alias: str
    arguments: Mapping[str, Any]
    fields: tuple[Field, ...]
    on: str | None = None


@dataclass(frozen=True)
class Connection:
    """A list that is paged."""

    of: str
    items: Sequence[Object]


@dataclass(frozen=True)
class _Variable:
    name: str


def execute(query: str, variables: Mapping[str, Any], root: Object) -> dict[str, Any]:
    """The answer: data, and errors where parts of it could not be resolved."""
    errors: list[dict[str, Any]] = []
    try:
        fields = _Parser(query).document()
        data = _select(root, fields, variables, (), errors)
    except Refused as refused:
        return {"errors": [refused.entry]}
    return {"data": data, "errors": errors} if errors else {"data": data}


# --- reading -------------------------------------------------------------------------------------------------------


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[str] = [t for t in _TOKEN.findall(text) if t != "," and not t.startswith("#")]
        self.at = 0
        self.fragments: dict[str, tuple[str, tuple[Field, ...]]] = {}

    def next(self) -> str:
        if self.at >= len(self.tokens):
            raise Refused("Expected more, but the query ends")
        self.at += 1
        return self.tokens[self.at - 1]

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def expect(self, token: str) -> None:
        if (found := self.next()) != token:
            raise Refused(f"Expected {token!r}, actual: {found!r}")

    def document(self) -> tuple[Field, ...]:
        """The fields of the one operation; fragments are read first, wherever they stand."""
        start = self.at
        spans = self._find_fragments()
        for at in spans:
            self.at = at
            self._fragment()
        self.at = start
        while self.peek() == "fragment":
            self._skip_fragment()
        if self.peek() == "query":
            self.next()
            if self.peek() not in ("{", "("):
                self.next()
            if self.peek() == "(":
                while self.next() != ")":
                    pass
        elif self.peek() != "{":
            raise Refused(f"Expected a query, actual: {self.peek()!r}")
        return self._fields()

    def _find_fragments(self) -> list[int]:
        return [n for n, token in enumerate(self.tokens) if token == "fragment" and self.tokens[n + 2] == "on"][::-1]

    def _skip_fragment(self) -> None:
        self.at += 4
        self._fields()

    def _fragment(self) -> None:
        self.expect("fragment")
        name = self.next()
        self.expect("on")
        on = self.next()
        self.fragments[name] = (on, self._fields())

    def _fields(self) -> tuple[Field, ...]:
        self.expect("{")
        found: list[Field] = []
        while self.peek() != "}":
            found.append(self._field())
        self.expect("}")
        return tuple(found)

    def _field(self) -> Field:
        name = self.next()
        if name == "...":
            if self.peek() == "on":
                self.next()
                on = self.next()
                return Field("...", "", {}, self._fields(), on)
            spread = self.next()
            if spread not in self.fragments:
                raise Refused(f"Fragment {spread} was used, but not defined")
            on, fields = self.fragments[spread]
            return Field("...", "", {}, fields, on)
        alias = name
        if self.peek() == ":":
            self.next()
            name = self.next()
        arguments = self._arguments() if self.peek() == "(" else {}
        return Field(name, alias, arguments, self._fields() if self.peek() == "{" else ())

    def _arguments(self) -> dict[str, Any]:
        self.expect("(")
        found: dict[str, Any] = {}
        while self.peek() != ")":
            name = self.next()
            self.expect(":")
            found[name] = self._value()
        self.expect(")")
        return found

    def _value(self) -> Any:
        token = self.next()
        if token == "$":
            return _Variable(self.next())
        if token == "[":
            values = []
            while self.peek() != "]":
                values.append(self._value())
            self.expect("]")
            return values
        if token == "{":
            pairs = {}
            while self.peek() != "}":
                name = self.next()
                self.expect(":")
                pairs[name] = self._value()
            self.expect("}")
            return pairs
        if token.startswith('"'):
            return token.strip('"')
        if re.fullmatch(r"-?\d+", token):
            return int(token)
        return {"true": True, "false": False, "null": None}.get(token, token)


# --- answering -----------------------------------------------------------------------------------------------------


def _select(
    of: Object, fields: Sequence[Field], variables: Mapping[str, Any], path: tuple[str, ...], errors: list[Any]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in fields:
        if field.on is not None:
            if field.on != of["__typename"]:
                _check(field)
            if field.on in (of["__typename"], *of.get("__interfaces", ())):
                found |= _select(of, field.fields, variables, path, errors)
            continue
        if field.name not in of or (field.name.startswith("__") and field.name != "__typename"):
            raise Refused(f"Field '{field.name}' doesn't exist on type '{of['__typename']}'")
        arguments = {name: _given(value, variables) for name, value in field.arguments.items()}
        here = (*path, field.alias)
        try:
            value = of[field.name]
            value = value(**arguments) if callable(value) else value
        except TypeError as error:
            raise Refused(f"Field '{field.name}' doesn't accept these arguments: {error}") from None
        except Refused as refused:
            if not refused.entry.get("type"):
                raise
            errors.append({**refused.entry, "path": list(here)})
            value = None
        found[field.alias] = _complete(value, field, arguments, variables, here, errors)
    return found


def _check(fragment: Field) -> None:
    """Refuse a fragment on a type, or with a field, that the schema does not have; also where nothing is of it."""
    known = KNOWN.get(fragment.on or "")
    if known is None:
        raise Refused(f"No such type {fragment.on}, so it can't be a fragment condition")
    for field in fragment.fields:
        if field.on is None and field.name not in known and field.name != "__typename":
            raise Refused(f"Field '{field.name}' doesn't exist on type '{fragment.on}'")


def _complete(
    value: Any,
    field: Field,
    arguments: Mapping[str, Any],
    variables: Mapping[str, Any],
    path: tuple[str, ...],
    errors: list[Any],
) -> Any:
    if value is None:
        return None
    if isinstance(value, Connection):
        value = _page(value, field, arguments)
    if isinstance(value, Mapping):
        if not field.fields:
            raise Refused(f"Field '{field.name}' must have selections")
        return _select(value, field.fields, variables, path, errors)
    if isinstance(value, list):
        return [_complete(item, field, arguments, variables, (*path, str(n)), errors) for n, item in enumerate(value)]
    if field.fields:
        raise Refused(f"Selections can't be made on scalars (field '{field.name}')")
    return value


def _given(value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, _Variable):
        return variables.get(value.name)
    return [_given(item, variables) for item in value] if isinstance(value, list) else value


def _page(connection: Connection, field: Field, arguments: Mapping[str, Any]) -> Object:
    first = arguments.get("first")
    if not isinstance(first, int) or not 1 <= first <= 100:
        raise Refused(f"You must provide a `first` of 1 to 100 to properly paginate the `{field.name}` connection.")
    after = arguments.get("after")
    start = int(base64.b64decode(after).split(b":")[1]) if after else 0
    items = list(connection.items[start : start + first])
    end = start + len(items)
    return {
        "__typename": f"{connection.of}Connection",
        "totalCount": len(connection.items),
        "nodes": items,
        "edges": [
            {"__typename": f"{connection.of}Edge", "node": item, "cursor": _cursor(n)}
            for n, item in enumerate(items, start + 1)
        ],
        "pageInfo": {
            "__typename": "PageInfo",
            "hasNextPage": end < len(connection.items),
            "hasPreviousPage": start > 0,
            "startCursor": _cursor(start + 1) if items else None,
            "endCursor": _cursor(end) if items else None,
        },
    }


def _cursor(at: int) -> str:
    return base64.b64encode(b"cursor:%d" % at).decode()


def connection(of: str, items: Callable[[], Sequence[Object]]) -> Callable[..., Connection]:
    """A paged field that takes GitHub's paging arguments. `items` are made when they are asked for."""

    def page(first: int | None = None, after: str | None = None) -> Connection:
        return Connection(of, items())

    return page
