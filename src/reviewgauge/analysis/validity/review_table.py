"""Scores joined with human values: one row a review that has both, and a counted reason for every other review.

The score of a row is the metric's headline reading of that review alone. A `RowFilter` narrows the reviews to those
with given facts. Traits are properties of a review that a metric may stumble over; source of the choice: CRScore,
arXiv:2409.19801, section 5.4 and Tables 16 and 17.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.aggregates import MatrixAggregate, readings_of
from reviewgauge.analysis.stats.arrays import Flags, Integers, Numbers
from reviewgauge.analysis.stats.folds import duplicate_groups
from reviewgauge.analysis.validity.human_values import HumanValues, Key
from reviewgauge.core.base import Fact, content_id
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case
from reviewgauge.core.reports.validity import RowSet
from reviewgauge.core.results import NOT_STATED, Outcome, Parts, Score
from reviewgauge.engine.score import REVIEW_FAILED
from reviewgauge.metrics.texts.text_metric import reference_texts

CLUSTERED_BY = "case, those with the same or nearly the same reference together"
ALL_ROWS, SYSTEM = "all rows", "system"
_DOES_NOT_APPLY = "the metric does not apply"
_MOST_REASONS = 6  # reasons why a metric does not apply that are told apart
_MOST_NAMED = 20  # values of a fact that an error lists
_LONGEST = 80  # characters of a folder's name
_PLAIN = re.compile(r"[\w.]+")
_FENCE = re.compile(r"^\s*(```|~~~)", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")


# --- traits ---------------------------------------------------------------------------------------------------------


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


# --- rows ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReviewTable:
    """The reviews of a run, with what does not depend on the metric. `cluster` counts from 0.

    Where only a part is asked for, `chosen` has one truth value a review and `where` names the part.
    """

    keys: tuple[Key, ...]
    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    facts: tuple[Mapping[str, Fact], ...]
    claims: Integers
    cluster: Integers
    people: frozenset[str]
    cases: int
    chosen: Flags | None = None
    where: str = ""

    @classmethod
    def of(cls, cases: Sequence[Case], outcomes: Sequence[Outcome], people: Iterable[str] = ()) -> ReviewTable:
        """The bench of a run, its rows by case, system and attempt, so that the order of the reviews changes nothing.

        `people` are the systems that are not tools.
        """
        outcomes = sorted(outcomes, key=lambda outcome: (outcome.case, outcome.system, outcome.attempt))
        references = [reference_texts(case) for case in cases]
        texts = ["" if isinstance(found, str) else "\n".join(found) for found in references]
        number = {case.id: at for at, case in enumerate(cases)}
        of_case = duplicate_groups(texts)
        at = [number[outcome.case] for outcome in outcomes]
        said = ["\n".join(c.body for c in o.review.comments) if o.review else "" for o in outcomes]
        return cls(
            keys=tuple((outcome.case, outcome.system, outcome.attempt) for outcome in outcomes),
            hypothesis=tuple(said),
            reference=tuple(texts[i] for i in at),
            facts=tuple(cases[i].facts for i in at),
            claims=np.array([len(cases[i].claims) for i in at], dtype=np.int64),
            cluster=of_case[at] if at else np.zeros(0, dtype=np.int64),
            people=frozenset(people),
            cases=len(cases),
        )

    @cached_property
    def places(self) -> Integers:
        """The places of the reviews that are asked for."""
        return np.arange(len(self.keys)) if self.chosen is None else np.flatnonzero(self.chosen)

    def values(self, fact: str) -> set[Fact]:
        """What a fact is among the cases of the reviews that are asked for, or the names of their systems."""
        if fact == SYSTEM:
            return {self.keys[at][1] for at in self.places}
        return {self.facts[at][fact] for at in self.places if fact in self.facts[at]}

    def shown(self, fact: str) -> list[str]:
        """A fact of each review as text; what is not known is `NOT_STATED`."""
        if fact == SYSTEM:
            return [system for _, system, _ in self.keys]
        return [str(facts.get(fact, NOT_STATED)) for facts in self.facts]

    @property
    def shown_cases(self) -> int:
        """How many cases there are, or how many the reviews that are asked for are of."""
        return self.cases if self.chosen is None else len({self.keys[at][0] for at in self.places})

    @property
    def clusters(self) -> int:
        """How many clusters there are, in all of the run."""
        return int(self.cluster.max(initial=-1)) + 1

    @cached_property
    def traits(self) -> Mapping[str, Feature]:
        """What can be said of each review and its reference without a metric."""
        return traits_of(self.hypothesis, self.reference, self.claims)

    @property
    def known_facts(self) -> list[str]:
        """The facts that any case has, and `system`."""
        return list(dict.fromkeys([SYSTEM, *(name for facts in self.facts for name in facts)]))


@dataclass(frozen=True)
class LabelledScores:
    """Aligned rows of one metric and one dimension: places in the `bench`, `score` and `human` values (n each)."""

    bench: ReviewTable
    place: Integers
    score: Numbers
    human: Numbers
    left_out: Mapping[str, int]

    @property
    def n(self) -> int:
        """How many rows there are."""
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
        """A fact of each row's case as text (`system` names the system), None where it is not known."""
        if name == SYSTEM:
            return list(self.system)
        found = [self.bench.facts[at].get(name) for at in self.place]
        return [None if value is None else str(value) for value in found]

    def row_set(self, name: str = ALL_ROWS, chosen: Flags | None = None) -> RowSet:
        """What stands beside figures of these rows, or of the `chosen` ones."""
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
    """The rows that have both; `values` hold a review's score, or the reason why it has none."""
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
    if gone := len(human.of.keys() - set(bench.keys)):
        left_out["labels on reviews that are not here"] = gone
    return LabelledScores(
        bench,
        np.array(places, dtype=np.int64),
        np.array(scores, dtype=np.float64),
        np.array(judged, dtype=np.float64),
        _fewer(left_out),
    )


def row_scores(metric: Metric, scores: Iterable[Score]) -> dict[Key, float | str]:
    """The headline reading of each review alone, or the reason why there is none."""
    found: dict[Key, float | str] = {}
    keys: list[Key] = []
    parts: list[Parts] = []
    for score in scores:
        key = (score.case, score.system, score.attempt)
        if score.parts is not None:
            keys.append(key)
            parts.append(score.parts)
        elif score.failure is not None:
            found[key] = REVIEW_FAILED if score.reason == REVIEW_FAILED else "the metric failed"
        else:
            found[key] = f"{_DOES_NOT_APPLY}: {score.reason}"
    names = sorted({name for own in parts for name in own})
    values = np.array([[own.get(name, 0.0) for name in names] for own in parts], dtype=np.float64)
    bag = MatrixAggregate(names, np.ascontiguousarray(values.reshape(len(parts), len(names)).T), np.ones(len(parts)))
    reading = readings_of(metric, bag).get(metric.headline, np.full(len(parts), np.nan)) if parts else np.zeros(0)
    for key, value in zip(keys, reading.tolist(), strict=True):
        found[key] = value if np.isfinite(value) else f"{metric.headline} is undefined on the review alone"
    return found


def _fewer(left_out: Counter[str]) -> dict[str, int]:
    """The counts, rare reasons why a metric does not apply taken together."""
    told = [reason for reason, _ in left_out.most_common() if reason.startswith(_DOES_NOT_APPLY)][_MOST_REASONS:]
    found = {reason: n for reason, n in left_out.items() if reason not in told}
    if told:
        found[f"{_DOES_NOT_APPLY}: other reasons"] = sum(left_out[reason] for reason in told)
    return found


# --- a part of the rows ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowFilter:
    """Facts and the values that they may have, by fact; a row is in where each fact has one of its values."""

    values: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, asked: Mapping[str, Fact] | Sequence[str] | str) -> RowFilter | None:
        """`{"system": "Auger"}` or `["system=Auger"]`; a fact that is named again may have either value. None for none.

        Raises UserError for text without a `=`.
        """
        found: dict[str, set[str]] = {}
        for fact, value in asked.items() if isinstance(asked, Mapping) else map(_pair, _words(asked)):
            found.setdefault(fact, set()).add(str(value))
        return cls(tuple((fact, tuple(sorted(found[fact]))) for fact in sorted(found))) if found else None

    @property
    def name(self) -> str:
        """`language = java or python and system = Auger`."""
        return " and ".join(f"{fact} = {' or '.join(values)}" for fact, values in self.values)

    @property
    def folder(self) -> str:
        """`where-language-java+python-system-Auger`: a name that any file system takes, another for each slice."""
        words = [word for fact, values in self.values for word in (fact, *values)]
        named = "-".join(f"{fact}-{'+'.join(values)}" for fact, values in self.values)
        if len(named) <= _LONGEST and all(_PLAIN.fullmatch(word) and word.strip(".") == word for word in words):
            return f"where-{named}"
        short = re.sub(r"[^\w.+-]+", "-", named)[:_LONGEST].strip("-.")
        return f"where-{short}-{content_id(self.name, length=8)}"

    def narrow(self, bench: ReviewTable) -> ReviewTable:
        """The bench with only these rows chosen. Raises UserError for a fact, a value or a mixture that no row has."""
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
            raise UserError(f"no review has {self.name}", remedy="each is there, but not all of them together")
        return replace(bench, chosen=chosen, where=self.name)


def _words(asked: Sequence[str] | str) -> Iterable[str]:
    return [asked] if isinstance(asked, str) else asked


def _pair(text: str) -> tuple[str, str]:
    fact, equals, value = text.partition("=")
    if not equals or not fact.strip() or not value.strip():
        raise UserError(f"{text!r} is not FACT=VALUE", remedy="such as system=Auger or language=java")
    return fact.strip(), value.strip()


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
