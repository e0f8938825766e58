"""The order of the systems by a metric and by people: means by system and the correlation of the two orders.

Human values are scaled to 0..1 by the ends of their scale. Source: CRScore, arXiv:2409.19801, Tables 2, 10 and 15.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers, Numbers, ratio
from reviewgauge.analysis.stats.correlation import KENDALL, SPEARMAN, spearman_p
from reviewgauge.analysis.validity.sample import RowSample
from reviewgauge.core.labels import Scale
from reviewgauge.core.reports.validity import Figure, Ranking, SystemPoint

FEWEST = 3  # systems for a correlation
_CELLS = 1_000_000  # signs of pairs in memory at a time


def ranking(sample: RowSample, system: Sequence[str], scale: Scale, *, left_out: Sequence[str] = ()) -> Ranking | None:
    """The systems by the human mean, best first, with the Spearman and Kendall correlation of the two orders.

    `system` has one entry a row. The means of a system are over its own judged rows. None for a single system.
    """
    names, of = np.unique(np.asarray(system, dtype=object).astype(str), return_inverse=True)
    if names.size < 2:
        return None
    means = _Means.of_systems(sample, of.reshape(-1), int(names.size), scale)
    human_ranks, score_ranks = _ranks(means.human), _ranks(sample.sign * means.score)
    points = [
        SystemPoint(
            system=str(name),
            human=means.figure(at, means.human, means.human_draws),
            metric=means.figure(at, means.score, means.score_draws),
            human_rank=float(human_ranks[at]),
            metric_rank=float(score_ranks[at]),
        )
        for at, name in enumerate(names)
    ]
    return Ranking(
        systems=tuple(sorted(points, key=lambda point: (point.human_rank, point.system))),
        spearman=means.agreement(SPEARMAN),
        kendall=means.agreement(KENDALL),
        left_out=tuple(left_out),
    )


@dataclass(frozen=True, eq=False)
class _Means:
    """Means by system (s), and in each resample (r x s). `human` is between 0 and 1; `of` is each row's system."""

    sample: RowSample
    of: Integers
    human: Numbers
    score: Numbers
    human_draws: Numbers
    score_draws: Numbers

    @classmethod
    def of_systems(cls, sample: RowSample, of: Integers, systems: int, scale: Scale) -> _Means:
        span = scale.high - scale.low
        normal = (sample.human - scale.low) / span if span else np.zeros_like(sample.human)
        sums = np.zeros((sample.resampler.clusters, 3, systems))
        for kind, values in enumerate((normal, sample.score, np.ones(sample.n))):
            np.add.at(sums[:, kind], (sample.cluster, of), values)
        flat = sums.reshape(sums.shape[0], -1)
        drawn = [np.zeros((0, 3, systems))]
        drawn += [(weights @ flat).reshape(-1, 3, systems) for weights in sample.resampler.weights()]
        draws, whole = np.concatenate(drawn), sums.sum(axis=0)
        human, score = ratio(whole[0], whole[2]), ratio(whole[1], whole[2])
        return cls(sample, of, human, score, ratio(draws[:, 0], draws[:, 2]), ratio(draws[:, 1], draws[:, 2]))

    def figure(self, at: int, values: Numbers, draws: Numbers) -> Figure:
        """The mean of one system."""
        return self.sample.rows(np.asarray(self.of == at)).figure(float(values[at]), draws[:, at])

    def agreement(self, name: str) -> Figure:
        """The correlation of the two orders."""
        n = int(self.human.size)
        if n < FEWEST:
            return self.sample.undefined(f"{n} systems: a correlation of orders needs at least {FEWEST}", n=n)
        for values, what in ((self.score, "the metric's"), (self.human, "the human")):
            if (values == values[0]).all():
                return self.sample.undefined(f"{what} means of all systems are equal", n=n)
        from scipy import stats

        sign = self.sample.sign
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = (stats.spearmanr if name == SPEARMAN else stats.kendalltau)(sign * self.score, self.human)
        draws = _rank_correlations(name, sign * self.score_draws, self.human_draws)
        p = spearman_p(self.score, self.human) if name == SPEARMAN else float(found.pvalue)
        return self.sample.figure(float(found.statistic), draws, n=n, p=p)


def _ranks(values: Numbers) -> Numbers:
    """Ranks from 1 (highest); equal values share their mean rank."""
    from scipy.stats import rankdata

    found: Numbers = rankdata(-values)
    return found


def _rank_correlations(name: str, first: Numbers, second: Numbers) -> Numbers:
    """Spearman's rho or Kendall's tau-b of each row (resamples x systems), from the signs of all pairs."""
    step = max(1, _CELLS // first.shape[1] ** 2)
    found = [np.zeros(0)]
    for start in range(0, first.shape[0], step):
        one, two = (values[start : start + step] for values in (first, second))
        signs = [np.sign(values[:, :, None] - values[:, None, :]) for values in (one, two)]
        if name == SPEARMAN:  # up to a constant, a rank is the sum of the signs against the others
            signs = [sign.sum(axis=2) for sign in signs]
        one, two = (sign.reshape(sign.shape[0], -1) for sign in signs)
        product = np.einsum("rp,rp->r", one, two)
        found.append(ratio(product, np.sqrt(np.einsum("rp,rp->r", one, one) * np.einsum("rp,rp->r", two, two))))
    return np.concatenate(found)
