"""Tells which format a file is in: by its content, and by its name where the content fits several."""

from __future__ import annotations

from reviewgauge.core.errors import BadInput
from reviewgauge.core.protocols import Format
from reviewgauge.core.specs import load, names

_LAST = "markdown"  # any text is Markdown, so it is asked last


def detect(data: bytes, source: str) -> Format:
    """The format of `data`. Raises BadInput that names the formats there are."""
    known = sorted(names(Format.kind), key=lambda name: (name == _LAST, name))
    formats = [load(Format, name) for name in known]
    fitting = [form for form in formats if form.recognises(data)]
    named = [form for form in fitting if source.lower().endswith(form.suffixes)]
    if not fitting:
        raise BadInput(source, "is in no known format", remedy=f"name one of {', '.join(known)}")
    return (named or fitting)[0]
