"""Kinds of fault that a text speaks of: by them a comment on an injected defect means it or something else."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files

from reviewgauge.core.records import Comment
from reviewgauge.models.text.words import tokens


def _phrase(text: str) -> str:
    """The stems of a text in a row, between blanks."""
    return f" {' '.join(tokens(text))} "


_KINDS: dict[str, frozenset[str]] = {
    kind: frozenset(map(_phrase, listed.split("|")))
    for kind, listed in tomllib.loads(files(__package__).joinpath("faults.toml").read_text("utf-8")).items()
}


@lru_cache(maxsize=4096)
def faults(text: str) -> frozenset[str]:
    """The kinds of fault in a text."""
    row = _phrase(text)
    return frozenset(kind for kind, phrases in _KINDS.items() if any(phrase in row for phrase in phrases))


def same_fault(said: str, defect: Comment) -> str:
    """A kind of fault that a text and the sentence of an injected defect both speak of; empty where there is none."""
    operator = str(defect.extra.get("operator") or "")
    return min(faults(said) & faults(f"{defect.body}\n{operator}"), default="")
