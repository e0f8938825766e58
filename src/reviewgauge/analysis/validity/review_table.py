"""Scores joined with human values: one row a review that has both, and a counted reason for every other review.

The score of a row is the metric's headline measure of that review alone. A `RowFilter` narrows the reviews to those
with given facts. Traits are properties of a review that a metric may stumble over; source of the choice: CRScore,
arXiv:2409.19801, section 5.4 and Tables 16 and 17.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Integers, Numbers, measures_of_totals
from reviewgauge.analysis.stats.folds import duplicate_groups
from reviewgauge.analysis.validity.human_values import HumanValues, Key
from reviewgauge.core.base import Fact, content_id
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case
from reviewgauge.core.reports.validity import RowSet
from reviewgauge.core.results import NOT_STATED, Outcome, Parts, Score
from reviewgauge.core.stored import Lazy
from reviewgauge.engine.score import REVIEW_FAILED
from reviewgauge.metrics.texts.text_metric import reference_texts

CLUSTERED_BY = "case, those with the same or nearly the same reference together"
ALL_ROWS, SYSTEM = "all rows", "system"
_DOES_NOT_APPLY = "the metric does not apply"
_MOST_REASONS = 6  # reasons why a metric does not apply that are told apart
_MOST_NAMED = 20  # values of a fact that an error lists
_LONGEST = 80  # characters of a folder name
_PLAIN = re.compile(r"[\w.]+")
_FENCE = re.compile(r"^[^\S\n]*(```|~~~)", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")


# --- traits ---------------------------------------------------------------------------------------------------------


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


# --- rows ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReviewTable:
    """The reviews of a run, with everything that does not depend on the metric. `cluster` counts from 0.

    A filtered table has `chosen`, one flag a review, and `where`, the name of the part.
    """

    keys: tuple[Key, ...]
    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    diff: Sequence[str]  # read from the disk
    facts: tuple[Mapping[str, Fact], ...]
    claims: tuple[tuple[str, ...], ...]
    cluster: Integers
    people: frozenset[str]
    cases: int
    chosen: Flags | None = None
    where: str = ""

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

    @cached_property
    def places(self) -> Integers:
        """The positions of the chosen reviews."""
        return np.arange(len(self.keys)) if self.chosen is None else np.flatnonzero(self.chosen)

    def values(self, fact: str) -> set[Fact]:
        """The values of a fact among the cases of the chosen reviews; for `system` the systems."""
        if fact == SYSTEM:
            return {self.keys[at][1] for at in self.places}
        return {self.facts[at][fact] for at in self.places if fact in self.facts[at]}

    def shown(self, fact: str) -> list[str]:
        """A fact of each review as text, `NOT_STATED` where it is missing."""
        if fact == SYSTEM:
            return [system for _, system, _ in self.keys]
        return [str(facts.get(fact, NOT_STATED)) for facts in self.facts]

    @property
    def shown_cases(self) -> int:
        """The number of cases, or of those with a chosen review."""
        return self.cases if self.chosen is None else len({self.keys[at][0] for at in self.places})

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


@dataclass(frozen=True)
class LabelledScores:
    """Aligned rows of one metric and one dimension: positions in the `bench`, `score` and `human` values (n each)."""

    bench: ReviewTable
    place: Integers
    score: Numbers
    human: Numbers
    left_out: Mapping[str, int]

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.place.size)

    @property
    def cluster(self) -> Integers:
        """The cluster of each row."""
        return self.bench.cluster[self.place]

    @property
    def system(self) -> list[str]:
        """The system of each row."""
        return [self.bench.keys[at][1] for at in self.place]

    def fact(self, name: str) -> list[str | None]:
        """A fact of each row's case as text (or `system`), None where it is missing."""
        if name == SYSTEM:
            return list(self.system)
        found = [self.bench.facts[at].get(name) for at in self.place]
        return [None if value is None else str(value) for value in found]

    def row_set(self, name: str = ALL_ROWS, chosen: Flags | None = None) -> RowSet:
        """The description of these rows, or of the `chosen` ones, to show beside figures."""
        cluster = self.cluster if chosen is None else self.cluster[chosen]
        left_out = dict(self.left_out)
        if chosen is not None and (outside := int((~chosen).sum())):
            left_out[f"not {name}"] = outside
        return RowSet(
            name=name,
            rows=int(cluster.size),
            clusters=int(np.unique(cluster).size),
            clustered_by=CLUSTERED_BY,
            left_out=left_out,
        )


def join(bench: ReviewTable, human: HumanValues, values: Mapping[Key, float | str]) -> LabelledScores:
    """The reviews with both a score and a human value; `values` are scores or the reason for a missing one."""
    left_out: Counter[str] = Counter()
    places, scores, judged = [], [], []
    for place, key in enumerate(bench.keys):
        value = values.get(key, "not scored")
        if bench.chosen is not None and not bench.chosen[place]:
            left_out[f"not {bench.where}"] += 1
        elif key[1] in bench.people:
            left_out["written by people"] += 1
        elif key not in human.of:
            left_out["no human label"] += 1
        elif isinstance(value, str):
            left_out[value] += 1
        else:
            places.append(place)
            scores.append(value)
            judged.append(human.of[key])
    if unknown := len(human.of.keys() - set(bench.keys)):
        left_out["labels on reviews that are not in the run"] = unknown
    return LabelledScores(
        bench,
        np.array(places, dtype=np.int64),
        np.array(scores, dtype=np.float64),
        np.array(judged, dtype=np.float64),
        _merge_rare(left_out),
    )


def row_measures(metric: Metric, scores: Iterable[Score]) -> dict[str, dict[Key, float | str]]:
    """Measure -> its value on each review alone, or the reason for a missing one. The headline is always there."""
    missing: dict[Key, float | str] = {}
    keys: list[Key] = []
    parts: list[Parts] = []
    for score in scores:
        key = (sys.intern(score.case), sys.intern(score.system), score.attempt)
        if score.parts is not None:
            keys.append(key)
            parts.append(score.parts)
        elif score.failure is not None:
            missing[key] = REVIEW_FAILED if score.reason == REVIEW_FAILED else "the metric failed"
        else:
            missing[key] = f"{_DOES_NOT_APPLY}: {score.reason}"
    names = sorted({name for own in parts for name in own})
    totals = np.array([[*(own.get(name, 0.0) for name in names), 1.0] for own in parts], dtype=np.float64)
    measures = measures_of_totals(metric, names, totals) if parts else {}
    undefined = np.full(len(parts), np.nan)
    return {
        name: missing | _defined(name, dict(zip(keys, measures.get(name, undefined).tolist(), strict=True)))
        for name in (metric.headline, *(name for name in measures if name != metric.headline))
    }


def _defined(measure: str, values: Mapping[Key, float]) -> dict[Key, float | str]:
    undefined = f"{measure} is undefined on the review alone"
    return {key: value if np.isfinite(value) else undefined for key, value in values.items()}


def _merge_rare(left_out: Counter[str]) -> dict[str, int]:
    """The counts, with rare reasons why a metric does not apply merged."""
    rare = [reason for reason, _ in left_out.most_common() if reason.startswith(_DOES_NOT_APPLY)][_MOST_REASONS:]
    found = {reason: n for reason, n in left_out.items() if reason not in rare}
    if rare:
        found[f"{_DOES_NOT_APPLY}: other reasons"] = sum(left_out[reason] for reason in rare)
    return found


# --- a part of the rows ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowFilter:
    """Allowed values by fact; a row passes if each fact has one of its values."""

    values: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, conditions: Mapping[str, Fact] | Sequence[str] | str) -> RowFilter | None:
        """The filter of `{"system": "Auger"}` or `["system=Auger"]`; a repeated fact may have either value.

        None for an empty one. Raises UserError for text without a `=`.
        """
        found: dict[str, set[str]] = {}
        texts = [conditions] if isinstance(conditions, str) else conditions
        for fact, value in texts.items() if isinstance(texts, Mapping) else map(_pair, texts):
            found.setdefault(fact, set()).add(str(value))
        return cls(tuple((fact, tuple(sorted(found[fact]))) for fact in sorted(found))) if found else None

    @property
    def name(self) -> str:
        """`language = java or python and system = Auger`."""
        return " and ".join(f"{fact} = {' or '.join(values)}" for fact, values in self.values)

    @property
    def folder(self) -> str:
        """`where-language-java+python-system-Auger`: a unique folder name, valid on every file system."""
        words = [word for fact, values in self.values for word in (fact, *values)]
        named = "-".join(f"{fact}-{'+'.join(values)}" for fact, values in self.values)
        if len(named) <= _LONGEST and all(_PLAIN.fullmatch(word) and word.strip(".") == word for word in words):
            return f"where-{named}"
        short = re.sub(r"[^\w.+-]+", "-", named)[:_LONGEST].strip("-.")
        return f"where-{short}-{content_id(self.name, length=8)}"

    def narrow(self, bench: ReviewTable) -> ReviewTable:
        """The table with only these rows chosen. Raises UserError for a fact, value or combination without rows."""
        chosen = np.ones(len(bench.keys), dtype=np.bool_)
        for fact, values in self.values:
            if fact not in bench.known_facts:
                raise UserError(f"no case has the fact {fact!r}", remedy=f"there are: {_listed(bench.known_facts)}")
            there = bench.shown(fact)
            for value in values:
                if value not in there:
                    known = sorted(set(there))
                    raise UserError(f"no review has {fact} = {value}", remedy=f"there are: {_listed(known)}")
            chosen &= np.isin(np.array(there, dtype=object).astype(str), values)
        if not chosen.any():
            raise UserError(f"no review has {self.name}", remedy="each condition has reviews, but no review meets all")
        return replace(bench, chosen=chosen, where=self.name)


def _pair(text: str) -> tuple[str, str]:
    fact, equals, value = text.partition("=")
    if not equals or not fact.strip() or not value.strip():
        raise UserError(f"{text!r} is not FACT=VALUE", remedy="such as system=Auger or language=java")
    return fact.strip(), value.strip()


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
