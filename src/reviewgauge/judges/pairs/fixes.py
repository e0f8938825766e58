"""What a judge reads of a reference that is the message of a fix: that, the issue that it closes, and its lines."""

from __future__ import annotations

import re

from reviewgauge.core.records import Comment, Origin

_NAME = re.compile(r"[A-Za-z_]\w+")
LONGEST_DIFF = 3_000  # characters of a fix that a model is shown


def brought(reference: Comment) -> str | None:
    """The words that its fix put in and did not take out; None for a reference that is not the message of a fix."""
    if reference.origin is not Origin.FIX:
        return None
    lines = _diff(reference).split("\n")
    out, put_in = ([word for line in lines if line[:1] == kind for word in _NAME.findall(line)] for kind in "-+")
    before = {word.lower() for word in out}
    return " ".join(word for word in put_in if word.lower() not in before)


def message(reference: Comment) -> str:
    """Its text, with the issue that its fix closes."""
    issue = (reference.resolution.explanation if reference.resolution else None) or ""
    return f"{reference.body}\n\n{issue}" if issue and reference.origin is Origin.FIX else reference.body


def with_fix(reference: Comment) -> str:
    """Its text for a model; for the message of a fix with what the fix changed."""
    if reference.origin is not Origin.FIX:
        return reference.body
    diff = _diff(reference)
    told = f"A later fix of this change says:\n{message(reference)}"
    return f"{told}\n\nIt changed:\n{diff[:LONGEST_DIFF]}" if diff else told


def _diff(reference: Comment) -> str:
    return (reference.resolution.diff if reference.resolution else None) or ""
