"""Human values of reviews, from people's labels: one value a review and dimension, and a count of unused labels.

The value is the mean of the independent raters' labels, or the consensus label where there is no other. Metrics, judges
and thresholds are validated on recorded reviews with such values.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Scale, SubjectKind
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.validity import LabelSummary, ReferencePoint
from reviewgauge.core.results import Outcome

MOST_GRADES = 12  # distinct human values up to which they are grades
OTHER_ROUNDS = "labels of other rounds"
LAST = "last"  # the round that a review ended with: what was agreed on or decided, where its raters differed
Key = tuple[str, str, int]
"""(case, system, attempt)."""


@dataclass(frozen=True)
class HumanValues:
    """The value of each review in one dimension; `left_out` counts the labels that are not used."""

    summary: LabelSummary
    of: Mapping[Key, float]
    left_out: Mapping[str, int]

    @property
    def dimension(self) -> str:
        """The dimension's name."""
        return self.summary.dimension

    @property
    def scale(self) -> Scale:
        """The scale of the labels."""
        return self.summary.scale


def reference_points(human: HumanValues, people: Container[str]) -> tuple[ReferencePoint, ...]:
    """Where people rank what `people` wrote among the systems.

    By the mean over each one's own judged reviews, ties on the mean rank. Source: CRScore (arXiv:2409.19801), section
    5.3, compares the means; the rank is ours.
    """
    own: defaultdict[str, list[float]] = defaultdict(list)
    span = human.scale.high - human.scale.low
    for (_, system, _), value in human.of.items():
        own[system].append((value - human.scale.low) / span if span else 0.0)
    means = {system: fmean(values) for system, values in own.items()}
    tools = [mean for system, mean in means.items() if system not in people]
    found = []
    for system in sorted(name for name in means if name in people):
        mean = means[system]
        rank = 1 + sum(one > mean for one in tools) + sum(one == mean for one in tools) / 2
        found.append(ReferencePoint(system=system, mean=mean, n=len(own[system]), rank=rank, among=len(tools) + 1))
    return tuple(found)


def human_values(
    labels: Iterable[Label], scales: Mapping[str, Scale], *, of_round: str | None = None
) -> tuple[list[HumanValues], list[str]]:
    """(the values of each dimension with numeric labels of reviews by people, notes on the other labels).

    Of several rounds only the first counts, before raters talked; labels without a round come before any round, and
    `of_round` selects another, or each review's `LAST`. The scale of a dimension that `scales` lacks is the range of
    its labels. Raises UserError for two different labels of one rater on one review in one round, and for a label
    outside its scale.
    """
    by_dimension: defaultdict[str, list[_Judgement]] = defaultdict(list)
    models: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for label in labels:
        if label.subject.kind is not SubjectKind.REVIEW or label.subject.system is None:
            others[label.subject.kind.value] += 1
        elif label.rater_kind is RaterKind.HUMAN:
            by_dimension[label.dimension].append(_Judgement.of(label, label.subject.system))
        else:
            models[label.dimension] += 1
    found = []
    notes = [f"left out: {n:,} labels about a {kind}, not a review" for kind, n in sorted(others.items())]
    for dimension, own in by_dimension.items():
        words = next((label.value for label in own if isinstance(label.value, str)), None)
        if words is not None:
            notes.append(f"left out: {dimension}, whose labels are words such as {words!r:.40}, not numbers")
        elif chosen := _in_round(own, of_round):
            left_out = +Counter({"labels by models": models[dimension], OTHER_ROUNDS: len(own) - len(chosen)})
            found.append(_values(dimension, chosen, scales.get(dimension) or _observed(chosen), left_out))
    return found, notes


class _Judgement(NamedTuple):
    """What counts of a label: there may be very many."""

    key: Key
    rater: str
    value: Fact
    round: str | None
    consensus: bool

    @classmethod
    def of(cls, label: Label, system: str) -> _Judgement:
        key = (sys.intern(label.subject.case), sys.intern(system), label.subject.attempt)
        round_ = None if label.round is None else sys.intern(label.round)
        return cls(key, sys.intern(label.rater), label.value, round_, label.consensus)


def _in_round(labels: Sequence[_Judgement], of_round: str | None) -> list[_Judgement]:
    """The labels in that round; of the last or the first one in the data of each review, where none comes first."""
    if of_round not in (None, LAST):
        return [label for label in labels if label.round == of_round]
    rank = {name: at for at, name in enumerate(dict.fromkeys([None, *(label.round for label in labels)]))}
    pick = max if of_round == LAST else min
    best: dict[Key, int] = {}
    for label in labels:
        best[label.key] = pick(best.get(label.key, rank[label.round]), rank[label.round])
    return [label for label in labels if rank[label.round] == best[label.key]]


def _values(dimension: str, chosen: Sequence[_Judgement], scale: Scale, left_out: Counter[str]) -> HumanValues:
    independent: defaultdict[Key, dict[str, float]] = defaultdict(dict)
    agreed: defaultdict[Key, dict[str, float]] = defaultdict(dict)
    for label in chosen:
        key, value = label.key, float(label.value)
        if not scale.low <= value <= scale.high:
            raise UserError(
                f"{label.rater} gave {key[0]} by {key[1]} {value:g} in {dimension}, outside its scale of "
                f"{scale.low:g} to {scale.high:g}"
            )
        by_rater = (agreed if label.consensus else independent)[key]
        earlier = by_rater.setdefault("" if label.consensus else label.rater, value)
        if earlier != value:
            raise UserError(
                f"{label.rater} judged the review of {key[0]} by {key[1]} twice in {dimension}: "
                f"{earlier:g} and {value:g}",
                remedy="keep one of the two, or tell them apart by their round",
            )
    values = {key: float(np.mean(list(by.values()))) for key, by in independent.items()}
    consensus = not values
    if both := agreed.keys() & values.keys():
        left_out["agreed labels beside independent ones"] += len(both)
    values |= {key: by[""] for key, by in agreed.items() if key not in both}
    every = np.array(list(values.values()))
    grades = on_steps(every, scale)
    summary = LabelSummary(
        dimension=dimension,
        scale=scale,
        raters=dict(sorted(Counter(label.rater for label in chosen).items())),
        rows=len(values),
        distribution=_distribution(every if grades is None else grades),
        consensus=consensus,
    )
    return HumanValues(summary, values, dict(left_out))


def _observed(labels: Sequence[_Judgement]) -> Scale:
    values = [float(label.value) for label in labels]
    whole = all(value.is_integer() for value in values)
    return Scale(low=min(values), high=max(values), step=1.0 if whole else 0.0, meaning="the range of the labels")


def _distribution(values: Numbers) -> dict[str, int]:
    """The count of each value; with many values, of each tenth of their range."""
    distinct, count = np.unique(values, return_counts=True)
    if distinct.size <= MOST_GRADES:
        return {f"{value:g}": int(n) for value, n in zip(distinct, count, strict=True)}
    count, edges = np.histogram(values, bins=10)
    return {f"{low:.3g} to {high:.3g}": int(n) for n, low, high in zip(count, edges[:-1], edges[1:], strict=True)}


def on_steps(human: Numbers, scale: Scale) -> Numbers | None:
    """The human values rounded to the steps of their scale, halves up; None with more than 12 different values.

    On a scale without steps the values themselves are the grades.
    """
    grades = human
    if scale.step > 0:
        grades = scale.low + np.floor((human - scale.low) / scale.step + 0.5) * scale.step
    return grades if np.unique(grades).size <= MOST_GRADES else None


NO_LABELS = "--labels FILE.csv with judgements of your own, or graded_reviews or crscore_study"


@dataclass(frozen=True)
class JudgedReviews:
    """The reviews of a data set or a run, the labels that count, and their scales.

    `people` are the systems that are not tools. `own_labels`: the labels came with the data, not from a file.
    """

    name: str
    cases: Sequence[Case]
    reviews: Sequence[Review]
    labels: Sequence[Label]
    scales: Mapping[str, Scale] = field(default_factory=dict)
    people: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    own_labels: bool = True

    @property
    def outcomes(self) -> list[Outcome]:
        """The reviews as outcomes."""
        return [Outcome(case=one.case, system=one.system, attempt=one.attempt, review=one) for one in self.reviews]

    def humans(
        self, dimensions: Sequence[str] = (), of_round: str | None = None
    ) -> tuple[list[HumanValues], tuple[str, ...]]:
        """(people's values in these dimensions, or in all; notes on other labels). Raises UserError where none is."""
        found, notes = human_values(self.labels, self.scales, of_round=of_round)
        known = ", ".join(one.dimension for one in found)
        if missing := [name for name in dimensions if name not in [one.dimension for one in found]]:
            raise UserError(f"nobody judged {missing[0]!r}", remedy=f"there are: {known}" if known else NO_LABELS)
        if not found and of_round is not None:
            raise UserError(f"there are no human labels on reviews in the round {of_round!r}")
        if not found:
            raise UserError(notes[-1] if notes else "there are no human labels on reviews", remedy=NO_LABELS)
        return [one for one in found if not dimensions or one.dimension in dimensions], tuple(notes)
