"""What programs print beside their words: colours, titles of windows, bytes that are not text."""

from __future__ import annotations

import re
from typing import NamedTuple

# ECMA-48: CSI (colours, cursor), strings such as OSC (titles, links) up to BEL or ST, and the short ones.
_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])",
)
_FEW = 0.01  # share of what is not text, above which it is taken for binary data


class Printed(NamedTuple):
    """`data` without escape sequences, and in UTF-8 where nearly all of it was; `replaced` counts what was not."""

    data: bytes
    replaced: int


def as_text(data: bytes) -> Printed:
    """`data` as a format can read it. Data that is hardly text stays as it is, so that a format refuses it."""
    plain = _ESCAPES.sub(b"", data)
    there = plain.count("\N{REPLACEMENT CHARACTER}".encode())
    text = plain.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    replaced = text.count("\N{REPLACEMENT CHARACTER}") - there
    if replaced > max(1, _FEW * len(text)):
        return Printed(plain, 0)
    return Printed(text.encode("utf-8") if replaced else plain, replaced)
