"""A linter's own JSON, of those that `parsing/linters.toml` lists, and Checkstyle's XML (read).

Source: the output of ESLint, Ruff, Pylint, Bandit, Semgrep, golangci-lint, ShellCheck, mypy and SonarQube's Web API.
A report of errors without a finding is refused: the tool did not look. So is a page of several, and XML with a DOCTYPE,
so that no entity is expanded.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import ClassVar, TypeVar
from xml.etree import ElementTree  # without a DOCTYPE there are no entities to expand

from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import Node, clean, object_node
from reviewgauge.core.parsing import parse_json
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location
from reviewgauge.formats.parsing.comments import Collector, decode, has, json_lines, peek, severity_of

F = TypeVar("F")
_XML = re.compile(r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,1000}?-->\s*)?<checkstyle\b", re.DOTALL)
_LIKE_CHECKSTYLE = "shellcheck"
_LEVELS = {"1": "warning", "2": "error"}  # ESLint's


@cache
def _linters() -> Mapping[str, Mapping[str, str]]:
    text = resources.files("reviewgauge.formats").joinpath("parsing", "linters.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@dataclass(frozen=True)
class Linter(Format):
    """The findings of one run; the system is the linter."""

    suffixes: ClassVar[tuple[str, ...]] = (".linter.json", ".checkstyle.xml", ".xml")

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """One Parsed. Raises BadInput."""
        text = decode(data, source)
        value = peek(data)
        name = _name(value)
        if text.lstrip().startswith("<"):
            value, name = _from_checkstyle(text, source), _LIKE_CHECKSTYLE
        if name is None:
            parse_json(data, source)
            known = ", ".join(_linters())
            raise BadInput(source, "is not the JSON of a known linter", remedy=f"known: {known}; most write SARIF, too")
        table = _linters()[name]
        found = Collector(
            source, "linter", system=name.partition(" ")[0] if isinstance(peek(data), dict | list) else None
        )
        for entry in _entries(data, value, source, table):
            path = _field(entry, table["path"], Node.needed)
            if "below" in table:
                path = path.removeprefix(f"{entry.needed(table['below'])}:")
            for one in entry.nodes(table["each"]) if "each" in table else [entry]:
                _add(found, one, path, table)
        errors = value.get(table["errors"]) if isinstance(value, dict) and "errors" in table else None
        if errors and not found.comments:
            raise BadInput(
                source, f"{name} reports errors and no finding", field=table["errors"], remedy="run it again"
            )
        total = _field(object_node(value, source), table["total"], Node.integer) if "total" in table else None
        if total is not None and total > len(found.comments):
            problem = f"is a page with {len(found.comments):,} of {total:,} findings"
            raise BadInput(source, problem, field=table["total"], remedy="ask for them all, such as with ps=500")
        return [found.parsed()]

    def recognises(self, data: bytes) -> bool:
        """JSON with the fields of a known linter, or XML that begins with `checkstyle`."""
        try:
            return _name(peek(data)) is not None or _XML.match(decode(data, "")) is not None
        except BadInput:
            return False


def _name(value: object) -> str | None:
    """The linter whose fields a document has."""
    for name, table in _linters().items():
        listed = isinstance(value, dict) and "list" in table
        entries = value.get(table["list"]) if isinstance(value, dict) and listed else value
        first = entries[0] if isinstance(entries, list) and entries else entries if not listed else None
        if has(value if listed else first, *table["keys"]) and (first is None or has(first, _top(table["path"]))):
            return name
    return None


def _top(path: str) -> str:
    return path.partition(".")[0]


def _entries(data: bytes, value: object, source: str, table: Mapping[str, str]) -> Iterator[Node]:
    """The entries of a document, which is an object, a list, or one object a line."""
    if "list" in table:
        document = object_node(value, source)
        yield from (Node(one.value, source, one.at) for one in document.nodes(table["list"]))
    elif isinstance(value, list):
        yield from (object_node(item, source, f"[{i}]") for i, item in enumerate(value))
    else:
        yield from (object_node(item, source, number) for number, item in json_lines(data, source))


def _field(node: Node, path: str, read: Callable[[Node, str], F]) -> F:
    """A field, by its path within an entry."""
    *above, last = path.split(".")
    for name in above:
        node = node.node(name)
    return read(node, last)


def _add(found: Collector, node: Node, path: str, table: Mapping[str, str]) -> None:
    def number(name: str) -> int | None:
        return (_field(node, table[name], Node.integer) or None) if name in table else None

    def word(name: str) -> str | None:
        given = _field(node, table[name], lambda at, key: at.as_object().get(key)) if name in table else None
        return None if given is None else clean(str(given))[:200]

    severity = word("severity")
    found.add(
        _field(node, table["text"], Node.needed),
        Location(path=path, start=number("line"), end=number("end") or number("line"), start_column=number("column")),
        record=node.record,
        category=word("rule"),
        severity=severity_of(_LEVELS.get(severity or "", severity)),
    )


def _from_checkstyle(text: str, source: str) -> list[dict[str, object]]:
    """The errors of Checkstyle's XML, which many linters write, in the shape of ShellCheck's JSON."""
    if re.search(r"<!\s*(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise BadInput(source, "is XML with a DOCTYPE, which is not read", remedy="write it without one")
    try:
        root = ElementTree.fromstring(re.sub(r"^\s*<\?xml[^>]*>", "", text))  # the text is decoded already
    except (ElementTree.ParseError, ValueError) as error:
        raise BadInput(source, f"is not valid XML ({error})", remedy="is the file complete?") from None
    if root.tag != "checkstyle":
        raise BadInput(source, "is XML, but not Checkstyle's", remedy="most linters write SARIF, too")
    return [
        {"file": file.get("name"), "level": error.get("severity"), "code": error.get("source")}
        | {"message": error.get("message"), "line": _number(error, "line"), "column": _number(error, "column")}
        for file in root.iterfind("file")
        for error in file.iterfind("error")
    ]


def _number(error: ElementTree.Element, name: str) -> int | None:
    return int(value) if re.fullmatch(r"[0-9]{1,9}", value := error.get(name) or "") else None
