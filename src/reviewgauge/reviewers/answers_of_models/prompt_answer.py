"""Reads AACR-Bench's hunk answers strictly: `<diff>`, `<side>`, `<note>`, `<notesplit />`, and `<end />` at the end.

The tags themselves are read by the format `tags`. Here it is decided whether an answer can be used at all.
"""

from __future__ import annotations

import re

from reviewgauge.core.errors import BadInput
from reviewgauge.core.records import Comment
from reviewgauge.formats.tags import Tags
from reviewgauge.models.answers.readers import Unreadable

_THOUGHT = re.compile(r"\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_END_MARK = r"<\s*/?\s*end\s*/?\s*>"
_END = re.compile(_END_MARK + r"\s*(?:```\s*)?\Z")
_PART = re.compile(r"<(diff|side|note)>(.*?)</\1\s*>|(<\s*/?\s*notesplit\s*/?\s*>)", re.DOTALL)
_TAG = re.compile(r"</?\s*(diff|side|note)\s*>")
_LEFTOVER = re.compile(_END_MARK)
_SIDES = ("left", "right", "old", "new")
_NOTHING = "write each finding as <diff>, <side> and <note>, or <end /> alone where there is nothing to report"


def read_notes(text: str) -> tuple[Comment, ...]:
    """The notes of an answer, each with its fragment as `claimed.hunk`; none where it is `<end />` alone.

    Raises Unreadable: no `<end />` at the end (it may be cut off), text after it, a tag that is open or nested, a note
    without code or with two pieces of code, a side that is neither left nor right, prose in place of notes. A side that
    is not given is not a reason: the code tells. Words before and between notes are passed over, and so is a thought.
    """
    said = _THOUGHT.sub("", text, count=1) if _THOUGHT.match(text) else text
    end = _END.search(said)
    if end is None:
        raise Unreadable("it does not end with <end />, so it may be cut off")
    body = said[: end.start()]
    outside = _PART.sub("", body)
    if found := _TAG.search(outside):
        raise Unreadable(f"a {found[0]} has no counterpart")
    count = _check_parts(body)
    if _LEFTOVER.search(outside):
        raise Unreadable("it goes on after <end />")
    if not count:
        if outside.replace("```", "").strip() not in ("", "xml", "text"):
            raise Unreadable(f"it holds words but no <note>: {_NOTHING}")
        return ()
    try:
        comments = Tags().read(said.encode("utf-8", "surrogatepass"), "the answer")[0].comments
    except BadInput as error:
        raise Unreadable(f"it cannot be stored: {error.problem}") from None
    if len(comments) != count:
        raise Unreadable(f"its notes cannot be told apart: {_NOTHING}")
    return comments


def _check_parts(body: str) -> int:
    """The number of notes, each made sure to have its own code."""
    count = 0
    given: set[str] = set()
    for part in _PART.finditer(body):
        name, value, split = part.groups()
        if split is not None:
            if given:
                raise Unreadable(f"a {_named(given)} has no <note>")
            continue
        if nested := _TAG.search(value):
            raise Unreadable(f"a {nested[0]} stands inside of <{name}>")
        if name in given:
            raise Unreadable(f"note {count + 1} has two <{name}>")
        if not value.strip():
            raise Unreadable(f"note {count + 1} has an empty <{name}>")
        if name == "side" and value.strip().lower() not in _SIDES:
            raise Unreadable(f"note {count + 1} has the side {value.strip()[:40]!r}, which is neither left nor right")
        given.add(name)
        if name == "note":
            count += 1
            if "diff" not in given:
                raise Unreadable(f"note {count} has no <diff> before it")
            given = set()
    if given:
        raise Unreadable(f"a {_named(given)} has no <note>")
    return count


def _named(given: set[str]) -> str:
    return f"<{min(given)}>"
