"""The generated parts of the documentation of data: JSON Schemas, field tables and cards, made from the records.

`python -m reviewgauge.datasets.files.schema DOCS` writes `DOCS/schema/*.schema.json`, the tables in `DOCS/jsonl.md` and
the cards in `DOCS/datasets.md`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from reviewgauge.core.base import Record
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.protocols import Card, Dataset
from reviewgauge.core.records import (
    Anchoring,
    Case,
    Change,
    ChangedFile,
    Claim,
    Comment,
    FileStatus,
    Issue,
    Location,
    RequiredContext,
    Resolution,
    Review,
    Severity,
    Side,
    Snippet,
    Span,
    Task,
    Usage,
)
from reviewgauge.core.results import Failure, FailureKind, Outcome
from reviewgauge.core.specs import load

WHOLE: dict[str, type[Record]] = {"case": Case, "review": Review, "outcome": Outcome}
TABLES: tuple[type[Record], ...] = (
    Case,
    Change,
    ChangedFile,
    Issue,
    Snippet,
    Comment,
    Span,
    Location,
    Resolution,
    Claim,
    Label,
    Subject,
    Review,
    Usage,
    Outcome,
    Failure,
)
WORDS: tuple[type[StrEnum], ...] = (
    Task,
    Side,
    Severity,
    RequiredContext,
    Anchoring,
    FileStatus,
    RaterKind,
    SubjectKind,
    FailureKind,
)
START, END = "<!-- fields: made by reviewgauge.datasets.files.schema -->", "<!-- end of fields -->"
CARD_END = "<!-- end of card -->"


def schema(name: str) -> str:
    """The JSON Schema (2020-12) of one line: `name` is case, review or outcome."""
    made = WHOLE[name].model_json_schema(mode="validation")
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{name}.schema.json", **made}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def field_tables() -> str:
    """Every record as a Markdown table of its fields, then the words that a field may hold."""
    parts = [part for model in TABLES for part in table(model)]
    parts.append("### Words\n\n| kind | one of |\n|---|---|")
    parts[-1] += "".join(f"\n| {kind.__name__} | {', '.join(f'`{word.value}`' for word in kind)} |" for kind in WORDS)
    return "\n\n".join(parts) + "\n"


def table(model: type[Record]) -> Iterator[str]:
    """A record as Markdown: its heading, what it is, and the table of its fields."""
    yield f"### {model.__name__}"
    doc = re.sub(r"\s*\n\s+", " ", (model.__doc__ or "").strip())
    yield doc
    made = model.model_json_schema(mode="validation", ref_template="{model}")
    required = set(made.get("required", ()))
    rows = ["| field | type | default |", "|---|---|---|"]
    for name, field in made["properties"].items():
        default = "**required**" if name in required else _default(field)
        rows.append(f"| `{name}` | {_type(field)} | {default} |")
    yield "\n".join(rows)


def _default(field: dict[str, object]) -> str:
    if "default" not in field:
        return "empty"
    value = field["default"]
    if value in ([], {}, ""):
        return "empty"
    return "none" if value is None else f"`{json.dumps(value)}`" if not isinstance(value, dict) else "zeros"


def _type(field: object) -> str:
    assert isinstance(field, dict)
    if field.get("$ref") == "JsonValue":
        return "any JSON value"
    if "$ref" in field:
        return f"[{field['$ref']}](#{_anchor(field['$ref'])})"
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"] if option.get("type") != "null")
    if "allOf" in field:
        return _type(field["allOf"][0])
    kind = field.get("type")
    if kind == "array":
        if "prefixItems" in field:
            return " and ".join(_type(item) for item in field["prefixItems"])
        return f"list of {_type(field['items'])}"
    if kind == "object":
        return f"object of {_type(field.get('additionalProperties', {}))}"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    name = words.get(str(kind), "any JSON value")
    if field.get("format") == "date-time":
        name = "time (ISO 8601)"
    if "minimum" in field:
        name += (
            f", {field['minimum']} or more" if "maximum" not in field else f", {field['minimum']} to {field['maximum']}"
        )
    if "maxLength" in field:
        name += f", at most {field['maxLength']} characters"
    return name


def _anchor(name: str) -> str:
    return "words" if name in {kind.__name__ for kind in WORDS} else name.lower()


def with_tables(page: str) -> str:
    """The page with the tables between its two marks made anew."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{field_tables()}\n{END}{after}"


def card_text(card: Card) -> str:
    """A card as Markdown: a table of what it says, then its traps and its files with their checksums."""
    size = sum(file.size for file in card.files)
    rows = [
        ("what", card.summary),
        ("origin", card.origin),
        ("version", card.version),
        ("licence", card.licence),
        ("you may", card.may),
        ("cite", card.citation),
        ("languages", ", ".join(card.languages)),
        ("holds", ", ".join(f"{count:,} {name}" for name, count in card.expected.items())),
        ("size", f"{size / 1e6:.1f} MB in {len(card.files)} files" if size else ""),
    ]
    parts = ["| | |\n|---|---|\n" + "\n".join(f"| {name} | {text} |" for name, text in rows if text)]
    if card.traps:
        parts.append("Traps:\n\n" + "\n".join(f"- {trap}" for trap in card.traps))
    if card.files:
        files = "\n".join(f"| [{f.name}]({f.url}) | {f.size:,} | `{f.sha256}` |" for f in card.files)
        parts.append(f"| file | bytes | SHA-256 |\n|---|---|---|\n{files}")
    return "\n\n".join(parts) + "\n"


def with_cards(page: str) -> str:
    """The page with each card between its two marks made anew."""

    def made(match: re.Match[str]) -> str:
        card = load(Dataset, match["name"]).card
        return f"<!-- card: {match['name']} -->\n\n{card_text(card)}\n{CARD_END}"

    return re.sub(rf"<!-- card: (?P<name>\w+) -->.*?{re.escape(CARD_END)}", made, page, flags=re.DOTALL)


def write_schema(docs: Path) -> None:
    """Write the schemas, the field tables and the cards under `docs`."""
    (docs / "schema").mkdir(parents=True, exist_ok=True)
    for name in WHOLE:
        (docs / "schema" / f"{name}.schema.json").write_text(schema(name), encoding="utf-8")
    for name, remake in (("jsonl.md", with_tables), ("datasets.md", with_cards)):
        page = docs / name
        page.write_text(remake(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write_schema(Path(sys.argv[1]))
