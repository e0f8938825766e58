"""Rank mean: where a review stands among those measured with it, averaged over several metrics; no labels needed.

Source: rank aggregation by mean rank (Borda, 1781), on the ranks of text metrics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Bounds, Failure
from reviewgauge.core.specs import load
from reviewgauge.core.trust import PluginSpec
from reviewgauge.metrics.combined import MetricOfMetrics, measured_by_all, measures_by_row
from reviewgauge.metrics.texts.text_metric import VALUE


@dataclass(frozen=True)
class RankMean(MetricOfMetrics):
    """The mean rank of a review under each metric's headline, from 0 (lowest of all) to 1 (highest); ties share.

    Ranks are over all reviews measured together, so a new review moves the ranks of the others: they are measured
    anew. Where less is better the ranks are turned round. All are measured before the first has a rank, so what its
    metrics' models cost stands with the first of them.
    """

    metrics: tuple[PluginSpec, ...] = ("overlap", "rouge", "jaccard", "chrf")

    @cached_property
    def _metrics(self) -> Mapping[str, Metric]:
        if not self.metrics:
            raise UserError("rank_mean needs metrics", remedy="rank_mean(metrics=('rouge', 'chrf'))")
        return {spec: load(Metric, spec) for spec in self.metrics}

    @property
    def models(self) -> tuple[str, ...]:
        """Those that its metrics ask."""
        return tuple(dict.fromkeys(model for metric in self._metrics.values() for model in metric.models))

    @property
    def joint_over_all(self) -> bool:
        """A rank depends on the other reviews."""
        return True

    def parts_many(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        """The mean rank of each review among `items`; where a metric does not apply or failed, that."""
        import numpy as np
        from scipy.stats import rankdata

        answers = measured_by_all([*self._metrics.values()], items)
        rows = [answer for answer in answers if isinstance(answer, list)]
        ranks = []
        for place, metric in enumerate(self._metrics.values() if rows else ()):
            values = measures_by_row(metric, [row[place].parts for row in rows])[metric.headline]
            values = -values if metric.headline in metric.lower_is_better else values
            known = np.isfinite(values)
            rank = np.full(len(rows), np.nan)
            rank[known] = (rankdata(values[known]) - 0.5) / max(int(known.sum()), 1)
            ranks.append(rank)
        means = iter(np.mean(ranks, axis=0).tolist() if ranks else ())
        for answer in answers:
            if not isinstance(answer, list):
                yield answer
                continue
            mean = next(means)
            yield (
                Measured(parts={VALUE: mean}, fake=any(one.fake for one in answer))
                if np.isfinite(mean)
                else "a metric is undefined on the review alone"
            )

    def bounds(self, case: Case) -> Bounds | None:
        """Lowest and highest of all."""
        return Bounds(worst={VALUE: 0.0}, best={VALUE: 1.0})
