"""The base class of records, checked kinds of text, ids made from content, and texts safe in a spreadsheet."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Record(BaseModel):
    """Base of every record: frozen, and an undeclared field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")

    def to_line(self) -> bytes:
        """The record as one line of JSON (UTF-8, ending in a newline); fields left at their default are left out."""
        return self.model_dump_json(exclude_defaults=True).encode() + b"\n"


def _text(value: str) -> str:
    if "\x00" in value:
        raise ValueError("holds a NUL character")
    return value


def _safe(value: str) -> str:
    if not value:
        raise ValueError("is empty")
    if _CONTROL.search(value):
        raise ValueError("holds a control character")
    if value.startswith(("/", "~")) or "\\" in value or value[1:3] == ":/":
        raise ValueError("is an absolute path or holds a backslash")
    if ".." in value.split("/"):
        raise ValueError("climbs out of its folder with '..'")
    return value


Text = Annotated[str, AfterValidator(_text)]
Id = Annotated[str, Field(max_length=500), AfterValidator(_safe)]
RelPath = Annotated[str, Field(max_length=4096), AfterValidator(_safe)]
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
    return bare.startswith(_BLANK) or bare.lstrip().startswith(_FORMULA)
