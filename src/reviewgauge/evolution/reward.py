"""What a candidate is rewarded for: one metric, or a weighted sum of several, as one number a case."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Task
from reviewgauge.core.results import Parts, Score
from reviewgauge.core.specs import plugin_name, short_spec, signature
from reviewgauge.engine.measure import usual_metric

_NOTHING = 1.0
Measure = Callable[[Metric, Parts], float | None]
"""The headline of a metric from the parts of one measurement."""


class Worth(NamedTuple):
    """What one case is worth to the sum, and what is behind it.

    `failed` says why it has no measurement and counts as the worst; `perfect`: no review could be worth more.
    """

    reward: float
    failed: str = ""
    silent: str = ""
    perfect: bool = False
    fake: bool = False
    scores: tuple[Score, ...] = ()


@dataclass(frozen=True)
class Reward:
    """Metrics with their weights, which add up to 1.

    A case is measured by the metrics that apply to it: the usual one of a task by that task alone, where such cases are
    there (`only`). Its value is scaled by how rare such cases are in its part, so that the mean of a part is the
    weighted sum of the metrics' means. A measure where less is better counts negative.
    """

    metrics: tuple[Metric, ...]
    weights: tuple[float, ...]
    read: Measure
    only: tuple[Task | None, ...]

    @classmethod
    def of(cls, words: Sequence[tuple[Metric, float]], read: Measure, tasks: Collection[Task] = ()) -> Reward:
        """From metrics with positive weights of any sum; `tasks` are those of the cases. Raises UserError."""
        if not words:
            raise UserError("no metric given to improve", remedy="--metric hits; reviewgauge list metrics")
        for metric, weight in words:
            if not (math.isfinite(weight) and weight > 0):
                raise UserError(f"the weight of {short_spec(metric)} must be positive, got {weight:g}")
            if metric.joint:
                raise UserError(
                    f"{short_spec(metric)} looks at several systems together, and a candidate stands alone",
                    remedy="choose another metric",
                )
        units = {short_spec(metric): metric.units.get(metric.headline, "share") for metric, _ in words}
        if len(set(units.values())) > 1:
            shown = ", ".join(f"{name} in {unit}" for name, unit in units.items())
            raise UserError(f"metrics in different units cannot be added: {shown}", remedy="choose metrics of one unit")
        total = sum(weight for _, weight in words)
        usual = {usual_metric([task]): task for task in tasks}
        only = tuple(usual.get(plugin_name(metric)) for metric, _ in words)
        return cls(tuple(m for m, _ in words), tuple(w / total for _, w in words), read, only)

    @property
    def names(self) -> list[tuple[str, float]]:
        """(signature, weight) of each metric."""
        return [(signature(metric), weight) for metric, weight in zip(self.metrics, self.weights, strict=True)]

    def applying(self, case: Case) -> list[int]:
        """Which metrics can measure a case."""
        return [
            at
            for at, (metric, only) in enumerate(zip(self.metrics, self.only, strict=True))
            if only in (None, case.change.task) and not metric.unmeasurable(case)
        ]

    def scales(self, cases: Sequence[Case]) -> dict[tuple[str, int], float]:
        """(case, metric) -> what its value is multiplied by in the mean over these cases."""
        applying = {case.id: self.applying(case) for case in cases}
        counts = Counter(at for found in applying.values() for at in found)
        return {
            (case, at): self.weights[at] * len(cases) / counts[at] for case, found in applying.items() for at in found
        }

    def worth(self, case: Case, scores: Mapping[int, Score], scales: Mapping[tuple[str, int], float]) -> Worth:
        """What a case is worth, from its scores by metric.

        What failed, and what a metric has no value for, counts as the worst there is. Silence counts as 1 where the
        best review is silent too and its headline is undefined: F1 of a clean change.
        """
        total, failed, silent, perfect = 0.0, "", "", True
        for at, score in scores.items():
            metric, scale = self.metrics[at], scales[case.id, at]
            low, high = self._ends(metric, case)
            value = None if score.parts is None else self._value(metric, score.parts)
            if value is None and score.parts is not None and high is None:
                high = _NOTHING
                value = high if _is_best(metric, case, score.parts) else low
            if value is None:
                value = low
                if score.failure is not None:
                    failed = failed or score.failure.message
                else:
                    silent = silent or score.reason or "the metric has no value"
            perfect = perfect and high is not None and value >= high
            total += scale * value
        fake = any(score.fake for score in scores.values())
        return Worth(total, failed, silent, perfect, fake, tuple(scores.values()))

    def _value(self, metric: Metric, parts: Parts) -> float | None:
        value = self.read(metric, parts)
        if value is None or not math.isfinite(value):
            return None
        return -value if metric.headline in metric.lower_is_better else value

    def _ends(self, metric: Metric, case: Case) -> tuple[float, float | None]:
        """The worst value on a case, 0 where the metric has no bounds, and the best."""
        bounds = metric.bounds(case)
        if bounds is None:
            return 0.0, None
        return self._value(metric, bounds.worst) or 0.0, self._value(metric, bounds.best)


def _is_best(metric: Metric, case: Case, parts: Parts) -> bool:
    """Whether no review could have other parts and be better: there was nothing to find, and nothing was said."""
    bounds = metric.bounds(case)
    if bounds is None:
        return False
    return all(parts.get(name, 0.0) == bounds.best.get(name, 0.0) for name in {*bounds.best, *bounds.worst})
