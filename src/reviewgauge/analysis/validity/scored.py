"""The scores of one metric, as they are compared with people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reviewgauge.analysis.validity.human_values import Key
from reviewgauge.analysis.validity.review_table import row_measures
from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Score
from reviewgauge.core.specs import short_spec, signature


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
