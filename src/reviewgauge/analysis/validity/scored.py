"""The scores of one metric, as they are compared with people, and the baselines that a useful metric must beat.

Baselines are trivial properties of a review, compared with people like any metric.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from reviewgauge.analysis.stats.arrays import measures_of_totals
from reviewgauge.analysis.validity.human_values import Key
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.sample import DOES_NOT_APPLY
from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Parts, Score
from reviewgauge.core.specs import short_spec, signature
from reviewgauge.engine.score import REVIEW_FAILED
from reviewgauge.metrics.coverage.sentences import sentences


@dataclass(frozen=True)
class Scored:
    """One metric's values by review (or the reason for a missing one), and the notes on its figures.

    `others` are further measures, each for the dimension of its name.
    """

    metric: str
    label: str
    measure: str
    unit: str
    values: Mapping[Key, float | str]
    pins: Mapping[str, str]
    estimate_note: str = ""
    fake: bool = False
    less_is_better: bool = False
    baseline: bool = False
    warnings: tuple[str, ...] = ()
    others: Mapping[str, Scored] = field(default_factory=dict)

    @classmethod
    def of(cls, metric: Metric, scores: Sequence[Score], dimensions: Iterable[str] = ()) -> Scored:
        """A metric on each review alone: its headline, and the measures that are called like one of `dimensions`."""
        pins = dict.fromkeys(tuple(sorted(s.pins.items())) for s in scores)
        warnings = ("its scores were made with different versions of its inputs",) if len(pins) > 1 else ()
        values = row_measures(metric, scores)
        headline = cls(
            metric=signature(metric),
            label=short_spec(metric),
            measure=metric.headline,
            unit=metric.units.get(metric.headline, "share"),
            values=values.pop(metric.headline),
            pins=dict(next(iter(pins), ())),
            estimate_note=metric.estimate_note,
            fake=any(score.fake for score in scores),
            less_is_better=metric.headline in metric.lower_is_better,
            warnings=warnings,
        )
        others = {
            name: replace(
                headline,
                measure=name,
                unit=metric.units.get(name, "share"),
                values=values[name],
                less_is_better=name in metric.lower_is_better,
            )
            for name in dimensions
            if name in values
        }
        return replace(headline, others=others)

    def on(self, dimension: str) -> Scored:
        """The measure that is called like the dimension, else the headline."""
        return self.others.get(dimension, self)


def measured_alone(metric: Metric, scores: Iterable[Score]) -> tuple[dict[str, dict[Key, float]], dict[Key, Score]]:
    """(each measure on each review alone, NaN where it is undefined; the scores without a measurement)."""
    parts: dict[Key, Parts] = {}
    others: dict[Key, Score] = {}
    for score in scores:
        key = (sys.intern(score.case), sys.intern(score.system), score.attempt)
        if score.parts is None:
            others[key] = score
        else:
            parts[key] = score.parts
    names = sorted({name for own in parts.values() for name in own})
    totals = np.array([[*(own.get(name, 0.0) for name in names), 1.0] for own in parts.values()], dtype=np.float64)
    measures = measures_of_totals(metric, names, totals) if parts else {}
    return {name: dict(zip(parts, values.tolist(), strict=True)) for name, values in measures.items()}, others


def row_measures(metric: Metric, scores: Iterable[Score]) -> dict[str, dict[Key, float | str]]:
    """Measure -> its value on each review alone, or the reason for a missing one. The headline is always there."""
    measures, others = measured_alone(metric, scores)
    missing: dict[Key, float | str] = {key: _why(score) for key, score in others.items()}
    keys = next(iter(measures.values()), {})
    found = {metric.headline: dict.fromkeys(keys, np.nan), **measures}
    return {
        name: missing
        | {key: v if np.isfinite(v) else f"{name} is undefined on the review alone" for key, v in values.items()}
        for name, values in found.items()
    }


def _why(score: Score) -> str:
    if score.failure is None:
        return f"{DOES_NOT_APPLY}: {score.reason}"
    return REVIEW_FAILED if score.reason == REVIEW_FAILED else "the metric failed"


LENGTH = "review length"
_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _share_of_diff(review: str, diff: str) -> float | str:
    """The share of the different words of the diff that the review has."""
    there = set(_words(diff))
    return len(there & set(_words(review))) / len(there) if there else "the case has no diff"


BASELINES: Mapping[str, tuple[str, Callable[[str, str], float | str]]] = {
    LENGTH: ("characters", lambda review, _: float(len(review))),
    "number of sentences": ("sentences", lambda review, _: float(len(sentences(review)))),
    "number of words": ("words", lambda review, _: float(len(_words(review)))),
    "words of the diff": ("share", _share_of_diff),
}
"""Name -> (unit, value of the texts of the review and of the diff, or why there is none)."""


def length_baseline(bench: ReviewTable) -> Scored:
    """The length of the review in characters."""
    return _baseline(bench, LENGTH)


def baselines(bench: ReviewTable) -> tuple[Scored, ...]:
    """Every baseline that any review has a value of."""
    found = [_baseline(bench, name) for name in BASELINES]
    return tuple(one for one in found if not all(isinstance(value, str) for value in one.values.values()))


def _baseline(bench: ReviewTable, name: str) -> Scored:
    unit, value = BASELINES[name]
    texts = zip(bench.keys, bench.hypothesis, bench.diff, strict=True)
    values = {key: value(review, diff) for key, review, diff in texts}
    return Scored(name, f"{name} (baseline)", unit, unit, values, {}, baseline=True)
