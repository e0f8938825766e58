"""The base class of records, checked kinds of text, ids made from content, and texts safe in a spreadsheet."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema

LONGEST_PROSE = 2_000_000  # characters of what people write; GitHub takes 262,144
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _fail_fast(schema: Any) -> None:
    if isinstance(schema, dict):
        if schema.get("type") in ("list", "tuple", "set", "frozenset"):
            schema["fail_fast"] = True
        for one in schema.values():
            _fail_fast(one)
    elif isinstance(schema, list):
        for one in schema:
            _fail_fast(one)


class Record(BaseModel):
    """Base of every record: frozen, an undeclared field is an error, and a list is left at its first bad item."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null", defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Millions of bad items would make millions of errors, each of a kilobyte."""
        schema = handler(source)
        _fail_fast(schema)
        return schema

    def to_line(self) -> bytes:
        """The record as one line of JSON (UTF-8, ending in a newline); fields left at their default are left out."""
        return self.model_dump_json(exclude_defaults=True).encode() + b"\n"


def _text(value: str) -> str:
    if "\x00" in value:
        raise ValueError("holds a NUL character")
    return value


def _prose(value: str) -> str:
    if len(value) > LONGEST_PROSE:
        raise ValueError(f"has {len(value):,} characters, over {LONGEST_PROSE:,}")
    return _text(value)


def unsafe(value: str) -> str:
    """What makes an id or a path unsafe to name a file by; empty where nothing does."""
    if not value:
        return "is empty"
    if _CONTROL.search(value):
        return "holds a control character"
    if value.startswith(("/", "~")) or "\\" in value or value[1:3] == ":/":
        return "is an absolute path or holds a backslash"
    if ".." in value.split("/"):
        return "climbs out of its folder with '..'"
    return ""


def _safe_pattern() -> str:
    """What `unsafe` lets through, as one pattern: ids are many, and a function is slow for each."""
    plain = r"\\/\x00-\x1f\x7f"  # in none of the parts between slashes
    part = rf"(?:[^.{plain}][^{plain}]*|\.[^.{plain}][^{plain}]*|\.\.[^{plain}]+|\.)?"
    named = rf"[^~.{plain}](?:[^:{plain}]|[^{plain}]{{2,}})?"
    dotted = rf"\.(?:[^.:{plain}]|[^.{plain}][^{plain}]+|\.[^{plain}]+)?"
    return rf"^(?:(?:{named}|{dotted})(?:/{part})*|[^~{plain}]:)$"


Text = Annotated[str, AfterValidator(_text)]
Prose = Annotated[str, AfterValidator(_prose)]
_SAFE = _safe_pattern()
Id = Annotated[str, Field(max_length=500, pattern=_SAFE)]
RelPath = Annotated[str, Field(max_length=4096, pattern=_SAFE)]
Line = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Fact = str | int | Annotated[float, Field(allow_inf_nan=False)] | bool


def content_id(*parts: str | int | None, length: int = 12) -> str:
    """A stable id made from content: the first `length` hex digits of the SHA-256 of the parts."""
    joined = "\x1f".join("" if part is None else str(part) for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:length]


# What Excel, LibreOffice and Google Sheets take for the start of a formula, also behind blanks and in full width.
# Source: OWASP, CSV injection.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")

# Blanks and characters without a width, which programs skip before they look for a formula.
INVISIBLE = "".join(map(chr, range(0x21))) + (
    "\x7f\x85\xa0\xad\u034f\u061c\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c"
    "\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u202f\u205f\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068"
    "\u2069\u3000\ufeff"
)
_BLANK = ("\t", "\r", "\n")  # a cell that starts with one of these is read from the next character on


def escape_cell(text: str) -> str:
    """`text` with an apostrophe before it where a spreadsheet would run it."""
    return "'" + text if _runs(text) else text


def unescape_cell(text: str) -> str:
    """The text that `escape_cell` was given."""
    return text[1:] if text.startswith("'") and _runs(text[1:]) else text


def _runs(text: str) -> bool:
    """Whether the text is a formula, also one that is escaped already: so that escaping can always be undone."""
    bare = text.lstrip("'")
    return bare.startswith(_BLANK) or bare.lstrip(INVISIBLE).startswith(_FORMULA)
