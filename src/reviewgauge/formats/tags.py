"""Tagged text, the answer format of AACR-Bench's prompts (read).

Source: AACR-Bench, the agent prompt (`<path><side><from><to><note>`) and the hunk prompt (`<diff><side><note>`), whose
fragment is located in the diff. Blocks end with `<notesplit />`, also written `</notesplit>`, the answer with
`<end />`. An answer cut off inside a note keeps what is there and says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from pydantic import JsonValue

from reviewgauge.core.errors import BadInput
from reviewgauge.core.parsing import enclosed
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location, Side
from reviewgauge.formats.parsing.comments import Collector, decode

_END_OF_NOTE = re.compile(r"</note\s*>|<\s*+/?\s*+notesplit\s*+/?\s*+>|<\s*end\s*/\s*>|(?=<note>)")
_END = re.compile(r"<\s*end\s*+/?\s*+>\s*\Z")
_FIELD = re.compile(r"<(path|side|from|to|diff)>")
_SIDES = {"left": Side.OLD, "old": Side.OLD, "right": Side.NEW, "new": Side.NEW}
_NUMBER = re.compile(r"\D{0,3}(\d{1,9})\D?")


@cache
def closing_tag(name: str) -> re.Pattern[str]:
    """`</name>`, as models close tags."""
    return re.compile(rf"</{name}\s*>")


@dataclass(frozen=True)
class Tags(Format):
    """One `<note>` a comment, with the fields that stand before it."""

    suffixes: ClassVar[tuple[str, ...]] = (".tags", ".tags.txt")

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """One Parsed. Raises BadInput for text that holds neither a note nor the end mark."""
        text = decode(data, source)
        if "<note>" not in text and not _END.search(text):
            raise BadInput(source, "holds neither a <note> nor <end />", remedy="is this tagged text?")
        found = Collector(source, "tags")
        at = number = 0
        while (begin := text.find("<note>", at)) >= 0:
            number += 1
            head = text[at:begin]
            end = _END_OF_NOTE.search(text, begin + len("<note>"))
            body = text[begin + len("<note>") : end.start() if end else len(text)].strip()
            at = end.end() if end else len(text)
            closed = end is not None and end[0].startswith("</note")
            _add(found, head, body, f"note {number}", closed)
        if not found.comments and number and not closed:
            raise BadInput(source, "is cut off inside its only note", remedy="is the answer complete?")
        return [found.parsed()]

    def recognises(self, data: bytes) -> bool:
        """Notes with one of the fields, or nothing but the end mark."""
        if b"<note>" in data:
            return any(tag in data for tag in (b"<path>", b"<side>", b"<diff>", b"<from>"))
        return len(data) < 100 and _END.fullmatch(data.decode("utf-8", "replace").strip()) is not None


def _add(found: Collector, head: str, body: str, record: str, closed: bool) -> None:
    if not body:
        found.skip(record, "empty")
        return
    fields = {start[1]: head[start.end() : end.start()] for start, end in enclosed(head, _FIELD, closing_tag)}
    extra: dict[str, JsonValue] = {} if closed else {"cut": "the note has no end"}
    lines: dict[str, int] = {}
    for key in ("from", "to"):
        number = _NUMBER.fullmatch(fields.get(key, "").strip())
        if number is not None:
            lines[key] = int(number[1])
        elif fields.get(key, "").strip():
            extra[key] = fields[key].strip()[:200]  # a model wrote words: no line, but not forgotten
    side = fields.get("side", "").strip().lower()
    if side and side not in _SIDES:
        extra["side"] = side[:200]
    claimed = Location(
        path=fields.get("path", "").strip() or None,
        start=lines.get("from", lines.get("to")),
        end=lines.get("to", lines.get("from")),
        side=_SIDES.get(side),
        hunk=fields.get("diff", "").strip("\n") or None,
    )
    found.add(body, claimed, record=record, extra=extra)
