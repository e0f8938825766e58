"""What people said of each review, from their labels: one value a review and dimension, and a count of the rest.

The value is the mean of the independent raters' labels, or the label that they agreed on where there is no other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Scale, SubjectKind
from reviewgauge.core.reports.validity import LabelSummary

MOST_GRADES = 12  # distinct human values up to which they are grades
OTHER_ROUNDS = "labels of other rounds"
Key = tuple[str, str, int]
"""(case, system, attempt)."""


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
