"""Scores joined with human judgements: one row a review that has both, and a counted reason for every other one.

The score of a row is the metric's headline reading of that review alone. The human value is the mean of the
independent raters' labels, or the label that they agreed on where that is all there is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reviewgauge.analysis.stats.aggregates import MatrixAggregate, readings_of
from reviewgauge.analysis.stats.arrays import Flags, Integers, Numbers
from reviewgauge.analysis.stats.folds import duplicate_groups
from reviewgauge.analysis.validity.features import Feature, traits_of
from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Scale, SubjectKind
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case
from reviewgauge.core.reports.validity import LabelSummary, RowSet
from reviewgauge.core.results import NOT_STATED, Outcome, Parts, Score
from reviewgauge.engine.score import REVIEW_FAILED
from reviewgauge.metrics.texts.text_metric import reference_texts

CLUSTERED_BY = "case, those with the same or nearly the same reference together"
ALL_ROWS, SYSTEM = "all rows", "system"
MOST_GRADES = 12  # distinct human values up to which they are grades
OTHER_ROUNDS = "labels of other rounds"
_MOST_REASONS = 6  # reasons why a metric does not apply that are told apart

Key = tuple[str, str, int]
"""(case, system, attempt)."""


# --- human values --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HumanValues:
    """What people said of each review in one dimension; `left_out` counts the labels that are not part of it."""

    summary: LabelSummary
    of: Mapping[Key, float]
    left_out: Mapping[str, int]

    @property
    def dimension(self) -> str:
        """What was judged."""
        return self.summary.dimension

    @property
    def scale(self) -> Scale:
        """The scale it was judged on."""
        return self.summary.scale


def human_values(
    labels: Iterable[Label],
    scales: Mapping[str, Scale],
    *,
    of_round: str | None = None,
    among: Container[Key] | None = None,
) -> tuple[list[HumanValues], list[str]]:
    """One entry a dimension that people judged reviews in with numbers, and what must be said of the others.

    Of several rounds of looks at one review the labels without a round count, else those of the round that comes
    first, before anybody talked; `of_round` names another. A dimension that `scales` does not name has the range of
    its labels. Only reviews `among` some may be asked for; the others' labels still say what the scale and the order
    of the rounds are. Raises UserError for two different labels of one rater on one review in one round, and for a
    label outside its scale.
    """
    by_dimension: defaultdict[str, list[Label]] = defaultdict(list)
    elsewhere: Counter[str] = Counter()
    for label in labels:
        if label.subject.kind is SubjectKind.REVIEW and label.subject.system is not None:
            by_dimension[label.dimension].append(label)
        else:
            elsewhere[label.subject.kind.value] += 1
    found, notes = [], [f"left out: {n:,} labels about a {kind}, not a review" for kind, n in sorted(elsewhere.items())]
    for dimension, all_of_it in by_dimension.items():
        own = [label for label in all_of_it if label.rater_kind is RaterKind.HUMAN]
        words = next((label.value for label in own if isinstance(label.value, str)), None)
        left_out = Counter({"labels by models": _count(all_of_it, among) - _count(own, among)})
        if of_round is not None:
            every, own = own, [label for label in own if label.round == of_round]
            left_out[OTHER_ROUNDS] = _count(every, among) - _count(own, among)
        if words is not None:
            notes.append(f"{dimension} was judged in words such as {words!r:.40}, not in numbers: left out")
        elif own and not _count(own, among):
            notes.append(f"{dimension}: people judged none of the reviews that were asked for: left out")
        elif own:
            found.append(_values(dimension, own, scales.get(dimension), +left_out, among))
    return found, notes


def _count(labels: Sequence[Label], among: Container[Key] | None) -> int:
    return len(labels) if among is None else sum(_key(label) in among for label in labels)


def _values(
    dimension: str,
    labels: Sequence[Label],
    scale: Scale | None,
    left_out: Counter[str],
    among: Container[Key] | None,
) -> HumanValues:
    first = _first_look(labels)
    scale = scale or _observed(first)
    chosen = first if among is None else [label for label in first if _key(label) in among]
    if others := _count(labels, among) - len(chosen):
        left_out[OTHER_ROUNDS] += others
    independent: defaultdict[Key, dict[str, Label]] = defaultdict(dict)
    agreed: dict[Key, Label] = {}
    for label in chosen:
        key = _key(label)
        there = agreed.get(key) if label.consensus else independent[key].get(label.rater)
        if there is not None and there.value != label.value:
            raise UserError(
                f"{label.rater} judged the review of {key[0]} by {key[1]} twice in {dimension}: "
                f"{there.value:g} and {label.value:g}",
                remedy="keep one of the two, or tell them apart by their round",
            )
        if label.consensus:
            agreed[key] = label
        else:
            independent[key][label.rater] = label
    values = {key: float(np.mean([float(one.value) for one in by.values()])) for key, by in independent.items() if by}
    consensus = not values
    for key, label in agreed.items():
        if key in values:
            left_out["agreed labels beside independent ones"] += 1
        else:
            values[key] = float(label.value)
    _refuse_outside(dimension, chosen, scale)
    grades = on_steps(np.array(list(values.values())), scale)
    shown = np.array(list(values.values())) if grades is None else grades
    summary = LabelSummary(
        dimension=dimension,
        scale=scale,
        raters=dict(sorted(Counter(label.rater for label in chosen).items())),
        rows=len(values),
        distribution=_distribution(shown),
        consensus=consensus,
    )
    return HumanValues(summary, values, dict(left_out))


def _first_look(labels: Sequence[Label]) -> list[Label]:
    """Of each review the labels without a round, or of the round that comes first in the data."""
    rank = {name: at for at, name in enumerate(dict.fromkeys([None, *(label.round for label in labels)]))}
    best: dict[Key, int] = {}
    for label in labels:
        key = _key(label)
        best[key] = min(best.get(key, len(rank)), rank[label.round])
    return [label for label in labels if rank[label.round] == best[_key(label)]]


def _key(label: Label) -> Key:
    assert label.subject.system is not None
    return label.subject.case, label.subject.system, label.subject.attempt


def _observed(labels: Sequence[Label]) -> Scale:
    values = [float(label.value) for label in labels]
    whole = all(value.is_integer() for value in values)
    return Scale(
        low=min(values), high=max(values), step=1.0 if whole else 0.0, meaning="the range that occurs in the labels"
    )


def _refuse_outside(dimension: str, labels: Sequence[Label], scale: Scale) -> None:
    for label in labels:
        if not scale.low <= float(label.value) <= scale.high:
            raise UserError(
                f"{label.rater} gave {label.subject.case} by {label.subject.system} {float(label.value):g} in "
                f"{dimension}, which goes from {scale.low:g} to {scale.high:g}"
            )


def _distribution(values: Numbers) -> dict[str, int]:
    """How often each value occurs, or of many how often each tenth of their range does."""
    distinct, count = np.unique(values, return_counts=True)
    if distinct.size <= MOST_GRADES:
        return {f"{value:g}": int(n) for value, n in zip(distinct, count, strict=True)}
    count, edges = np.histogram(values, bins=10)
    return {f"{low:.3g} to {high:.3g}": int(n) for n, low, high in zip(count, edges[:-1], edges[1:], strict=True)}


def on_steps(human: Numbers, scale: Scale) -> Numbers | None:
    """The human values brought to the nearest step of their scale, halves up; None where there are too many steps.

    On a scale without steps the values themselves are grades, if they are few.
    """
    grades = human
    if scale.step > 0:
        grades = scale.low + np.floor((human - scale.low) / scale.step + 0.5) * scale.step
    return grades if np.unique(grades).size <= MOST_GRADES else None


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


_DOES_NOT_APPLY = "the metric does not apply"


def _fewer(left_out: Counter[str]) -> dict[str, int]:
    """The counts, rare reasons why a metric does not apply taken together."""
    told = [reason for reason, _ in left_out.most_common() if reason.startswith(_DOES_NOT_APPLY)][_MOST_REASONS:]
    found = {reason: n for reason, n in left_out.items() if reason not in told}
    if told:
        found[f"{_DOES_NOT_APPLY}: other reasons"] = sum(left_out[reason] for reason in told)
    return found
