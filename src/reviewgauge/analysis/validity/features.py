"""Properties of a review that a metric may stumble over: its length, code in it, questions, claims to address.

Source of the choice: CRScore, arXiv:2409.19801, section 5.4 and Tables 16 and 17.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers, Numbers

_FENCE = re.compile(r"^\s*(```|~~~)", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")


class Feature(NamedTuple):
    """One property: its unit, and its value by review."""

    unit: str
    values: Numbers


def _shared(said: str, reference: str) -> float:
    first, second = set(said.casefold().split()), set(reference.casefold().split())
    return len(first & second) / len(first | second) if first | second else 0.0


TRAITS: Mapping[str, tuple[str, Callable[[str, str], float]]] = {
    "characters": ("characters", lambda said, _: len(said)),
    "words": ("words", lambda said, _: len(said.split())),
    "inline code": ("share", lambda said, _: bool(_INLINE.search(said))),
    "code block": ("share", lambda said, _: bool(_FENCE.search(said))),
    "question mark": ("share", lambda said, _: "?" in said),
    "blank review": ("share", lambda said, _: not said.strip()),
    "words in the reference": ("words", lambda _, reference: len(reference.split())),
    "inline code in the reference": ("share", lambda _, reference: bool(_INLINE.search(reference))),
    "same words as the reference": ("share", _shared),
}
"""Trait -> (unit, its value from the review's text and the reference's)."""


def traits_of(reviews: Sequence[str], references: Sequence[str], claims: Integers) -> dict[str, Feature]:
    """Every trait of these texts (one entry a review), and the number of claims of their cases."""
    found = {
        name: Feature(unit, np.array([value(*texts) for texts in zip(reviews, references, strict=True)], dtype=float))
        for name, (unit, value) in TRAITS.items()
    }
    return {**found, "claims": Feature("claims", claims.astype(np.float64))}
