"""The reviews of a run with everything that does not depend on a metric: their texts, facts, traits and clusters.

Traits are properties of a review that a metric may stumble over; source of the choice: CRScore, arXiv:2409.19801,
section 5.4 and Tables 16 and 17.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers, Numbers
from reviewgauge.analysis.stats.folds import duplicate_groups
from reviewgauge.analysis.validity.human_values import Key
from reviewgauge.core.base import Fact
from reviewgauge.core.records import Case
from reviewgauge.core.results import Outcome
from reviewgauge.core.stored import Lazy
from reviewgauge.metrics.texts.text_metric import reference_texts

SYSTEM = "system"
_FENCE = re.compile(r"^[^\S\n]*(```|~~~)", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")


class Feature(NamedTuple):
    """One property of the reviews: its unit and its value for each review."""

    unit: str
    values: Numbers


def _word_overlap(review: str, reference: str) -> float:
    first, second = set(review.casefold().split()), set(reference.casefold().split())
    return len(first & second) / len(first | second) if first | second else 0.0


TRAITS: Mapping[str, tuple[str, Callable[[str, str], float]]] = {
    "characters": ("characters", lambda review, _: len(review)),
    "words": ("words", lambda review, _: len(review.split())),
    "inline code": ("share", lambda review, _: bool(_INLINE.search(review))),
    "code block": ("share", lambda review, _: bool(_FENCE.search(review))),
    "question mark": ("share", lambda review, _: "?" in review),
    "blank review": ("share", lambda review, _: not review.strip()),
    "words in the reference": ("words", lambda _, reference: len(reference.split())),
    "inline code in the reference": ("share", lambda _, reference: bool(_INLINE.search(reference))),
    "same words as the reference": ("share", _word_overlap),
}
"""Trait -> (unit, function of the texts of the review and of the reference)."""


def traits_of(reviews: Sequence[str], references: Sequence[str], claims: Sequence[Sequence[str]]) -> dict[str, Feature]:
    """All traits of these texts (one entry a review), and the number of claims of their cases."""
    found = {
        name: Feature(unit, np.array([value(*texts) for texts in zip(reviews, references, strict=True)], dtype=float))
        for name, (unit, value) in TRAITS.items()
    }
    return {**found, "claims": Feature("claims", np.array([len(own) for own in claims], dtype=float))}


@dataclass(frozen=True)
class ReviewTable:
    """The reviews of a run, with everything that does not depend on the metric. `cluster` counts from 0."""

    keys: tuple[Key, ...]
    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    diff: Sequence[str]  # read from the disk
    facts: tuple[Mapping[str, Fact], ...]
    claims: tuple[tuple[str, ...], ...]
    cluster: Integers
    people: frozenset[str]
    cases: int

    @classmethod
    def of(cls, cases: Sequence[Case], outcomes: Sequence[Outcome], people: Iterable[str] = ()) -> ReviewTable:
        """The reviews sorted by case, system and attempt, so that input order does not matter.

        `people` are the systems that are not tools.
        """
        said = [
            (
                (sys.intern(o.case), sys.intern(o.system), o.attempt),
                "\n".join(c.body for c in o.review.comments) if o.review else "",
            )
            for o in outcomes
        ]
        said.sort(key=lambda one: one[0])
        number: dict[str, int] = {}
        texts: list[str] = []
        facts: list[Mapping[str, Fact]] = []
        claims: list[tuple[str, ...]] = []
        for case in cases:
            number[case.id] = len(texts)
            found = reference_texts(case)
            texts.append("" if isinstance(found, str) else "\n".join(found))
            facts.append(case.facts)
            claims.append(tuple(claim.body for claim in case.claims))
        of_case = duplicate_groups(texts)
        at = [number[case] for (case, _, _), _ in said]
        return cls(
            keys=tuple(key for key, _ in said),
            hypothesis=tuple(text for _, text in said),
            reference=tuple(texts[i] for i in at),
            diff=Lazy.of(at, lambda i: "\n".join(file.patch or "" for file in cases[i].change.files)),
            facts=tuple(facts[i] for i in at),
            claims=tuple(claims[i] for i in at),
            cluster=of_case[at] if at else np.zeros(0, dtype=np.int64),
            people=frozenset(people),
            cases=len(cases),
        )

    def fact(self, name: str) -> list[str | None]:
        """A fact of each review's case as text (for `system` the system), None where it is missing."""
        if name == SYSTEM:
            return [system for _, system, _ in self.keys]
        return [None if (value := facts.get(name)) is None else str(value) for facts in self.facts]

    @property
    def clusters(self) -> int:
        """The number of clusters in the whole run."""
        return int(self.cluster.max(initial=-1)) + 1

    @cached_property
    def traits(self) -> Mapping[str, Feature]:
        """The traits of each review and its reference."""
        return traits_of(self.hypothesis, self.reference, self.claims)

    @property
    def known_facts(self) -> list[str]:
        """The facts of any case, and `system`."""
        return list(dict.fromkeys([SYSTEM, *(name for facts in self.facts for name in facts)]))
