"""Scores joined with human values under resamples, the threshold sweeps and the ranking of systems made from them.

Sweeps classify good rows by a threshold on the score, at every cut of the human scale (as a table: CRScore,
arXiv:2409.19801, Table 4). The best F1 is chosen on the same rows, so it is an upper bound for a threshold chosen
beforehand; its interval is that of F1 at that threshold. The ranking compares the order of the systems by the metric
and by people, whose values are scaled to 0..1 (CRScore, Tables 2, 10 and 15).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Integers, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import Resampler, resampled_sums
from reviewgauge.analysis.stats.classification import auc_of
from reviewgauge.analysis.stats.correlation import (
    KENDALL,
    SPEARMAN,
    correlate,
    figure_of,
    row_weights,
    spearman_only,
    spearman_p,
)
from reviewgauge.analysis.validity.human_values import HumanValues, Key, on_steps
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.core.document import Value
from reviewgauge.core.labels import Scale
from reviewgauge.core.reports.validity import Ranking, RowSet, Sweep, SweepPoint, SystemPoint

CLUSTERED_BY = "case, those with the same or nearly the same reference together"
DOES_NOT_APPLY = "the metric does not apply"
ALL_ROWS = "all rows"
_MOST_REASONS = 6  # reasons why a metric does not apply that are told apart


@dataclass(frozen=True, eq=False)
class RowSample:
    """n rows of a metric and a dimension: reviews with both a score and a human value. `left_out` counts the others.

    `grade` is `human` on the steps of its scale, None where there are too many. Where less is better, `oriented` is
    negated, so that more always means better. `place` is each row's position in the table of reviews.
    """

    score: Numbers
    human: Numbers
    grade: Numbers | None
    cluster: Integers
    resampler: Resampler
    less_is_better: bool = False
    place: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.score.size)

    @property
    def sign(self) -> float:
        """-1 where less is better."""
        return -1.0 if self.less_is_better else 1.0

    @cached_property
    def oriented(self) -> Numbers:
        """The scores with more being better."""
        return self.sign * self.score

    @property
    def clusters(self) -> int:
        """The number of clusters of the rows."""
        return int(np.unique(self.cluster).size)

    def rows(self, chosen: Flags, name: str = "") -> RowSample:
        """The chosen rows, under the same resamples; the others are counted as `not NAME`."""
        outside = {f"not {name}": int((~chosen).sum())} if name and not chosen.all() else {}
        return replace(
            self,
            score=self.score[chosen],
            human=self.human[chosen],
            grade=None if self.grade is None else self.grade[chosen],
            cluster=self.cluster[chosen],
            place=self.place[chosen] if self.place.size else self.place,
            left_out={**self.left_out, **outside},
        )

    def row_set(self, name: str = ALL_ROWS) -> RowSet:
        """The description of these rows, to show beside figures."""
        return RowSet(
            name=name, rows=self.n, clusters=self.clusters, clustered_by=CLUSTERED_BY, left_out=dict(self.left_out)
        )

    def correlations(self) -> dict[str, Value]:
        """Pearson, Spearman and Kendall of the oriented scores with the human values."""
        return correlate(self.oriented, self.human, self.cluster, self.resampler)

    def spearman(self, values: Numbers | None = None) -> Value:
        """Spearman's rho of the human values with `values` (more is better), by default with the oriented scores."""
        found = self.oriented if values is None else values
        return spearman_only(found, self.human, self.cluster, self.resampler)

    def figure(self, value: float, draws: Numbers, *, n: int | None = None, p: float | None = None) -> Value:
        """A figure of all rows with the interval of its resampled draws."""
        return figure_of(value, self.n if n is None else n, draws, self.cluster, p=p)

    def undefined(self, reason: str, *, n: int | None = None) -> Value:
        """A figure without a value."""
        return Value(value=None, n=self.n if n is None else n, reason=reason)


def join(
    bench: ReviewTable,
    human: HumanValues,
    values: Mapping[Key, float | str],
    resampler: Resampler | None = None,
    *,
    less_is_better: bool = False,
) -> RowSample:
    """The reviews with both a value and a human value; `values` are numbers, or the reason for a missing one."""
    left_out: Counter[str] = Counter()
    places: list[int] = []
    rows: list[tuple[float, float]] = []
    for place, key in enumerate(bench.keys):
        value = values.get(key, "not scored")
        if key[1] in bench.people:
            left_out["written by people"] += 1
        elif key not in human.of:
            left_out["no human label"] += 1
        elif isinstance(value, str):
            left_out[value] += 1
        else:
            places.append(place)
            rows.append((value, human.of[key]))
    if unknown := len(human.of.keys() - set(bench.keys)):
        left_out["labels on reviews that are not in the run"] = unknown
    scores, judged = np.array(rows, dtype=np.float64).reshape(-1, 2).T.copy()
    at = np.array(places, dtype=np.int64)
    return RowSample(
        scores,
        judged,
        on_steps(judged, human.scale) if places else None,
        bench.cluster[at],
        Resampler(bench.clusters, 0, 0) if resampler is None else resampler,
        less_is_better,
        at,
        _merge_rare(left_out),
    )


def _merge_rare(left_out: Counter[str]) -> dict[str, int]:
    """The counts, with rare reasons why a metric does not apply merged."""
    rare = [reason for reason, _ in left_out.most_common() if reason.startswith(DOES_NOT_APPLY)][_MOST_REASONS:]
    found = {reason: n for reason, n in left_out.items() if reason not in rare}
    if rare:
        found[f"{DOES_NOT_APPLY}: other reasons"] = sum(left_out[reason] for reason in rare)
    return found


STEPS = 24  # thresholds shown at even steps of the score, and again at even steps of the recall


def sweeps(sample: RowSample) -> tuple[Sweep, ...]:
    """One sweep for each grade but the lowest: rows with at least that grade are positive.

    Where less is better, scores up to the threshold are predicted positive; an AUC above .5 always means agreement.
    """
    if sample.grade is None:
        return ()
    cuts = {float(cut): sample.grade >= cut for cut in np.unique(sample.grade)[1:]}
    aucs = _aucs(sample, list(cuts.values()))
    return tuple(_sweep(sample, cut, positive, auc) for (cut, positive), auc in zip(cuts.items(), aucs, strict=True))


def _sweep(sample: RowSample, cut: float, positive: Flags, auc: Value) -> Sweep:
    curve = _Curve.of(sample.oriented, positive, sample.sign)
    best = curve.point(int(curve.f1.argmax()))  # of ties the strictest
    return Sweep(
        cut=cut,
        positives=int(positive.sum()),
        n=sample.n,
        auc=auc,
        best=best,
        points=curve.points(),
        best_f1=_f1_at(best, sample, positive),
    )


def _aucs(sample: RowSample, cuts: Sequence[Flags]) -> list[Value]:
    """The AUC of each cut, from midranks of the scores that all cuts share in each resample."""
    if not cuts:
        return []
    drawn = auc_of(sample.oriented, np.stack(cuts, axis=1).astype(np.float64))
    values = drawn(np.ones((1, sample.n)))[0]
    draws = [np.zeros((0, len(cuts)))]
    if sample.clusters > 1:
        draws += [drawn(weights) for weights in row_weights(sample.cluster, sample.resampler)]
    each = np.concatenate(draws)
    return [sample.figure(float(value), each[:, at]) for at, value in enumerate(values)]


def _f1_at(point: SweepPoint, sample: RowSample, positive: Flags) -> Value:
    """The F1 at this threshold, which is fixed in every resample."""
    taken = sample.oriented >= sample.sign * point.threshold
    counts = np.stack([taken & positive, taken, positive], axis=1).astype(np.float64)
    hits, predicted, positives = resampled_sums(counts, sample.cluster, sample.resampler).T
    return sample.figure(point.f1, ratio(2 * hits, predicted + positives))


class _Curve(NamedTuple):
    """One entry for each distinct score, from the strictest threshold to the one that accepts all rows."""

    threshold: Numbers
    precision: Numbers
    recall: Numbers
    f1: Numbers

    @classmethod
    def of(cls, score: Numbers, positive: Flags, sign: float) -> _Curve:
        order = np.argsort(-score, kind="stable")
        ordered = score[order]
        last = np.flatnonzero(np.append(np.diff(ordered) != 0, True))  # the last row of each distinct score
        hits = np.cumsum(positive[order])[last].astype(np.float64)
        taken = (last + 1).astype(np.float64)
        positives = float(positive.sum())
        return cls(sign * ordered[last], hits / taken, hits / positives, 2 * hits / (taken + positives))

    def point(self, at: int) -> SweepPoint:
        return SweepPoint.model_validate({name: float(values[at]) for name, values in self._asdict().items()})

    def points(self) -> tuple[SweepPoint, ...]:
        """The points nearest to even steps of the threshold and of the recall; all if they are few."""
        count = self.threshold.size
        if count <= 2 * STEPS:
            return tuple(self.point(at) for at in range(count))
        kept = {0, count - 1}
        for values in (self.threshold, self.recall):
            steps = np.linspace(values[0], values[-1], STEPS)
            kept.update(int(np.abs(values - step).argmin()) for step in steps)
        return tuple(self.point(at) for at in sorted(kept))


FEWEST = 3  # systems for a correlation
_CELLS = 1_000_000  # signs of pairs in memory at a time


def ranking(sample: RowSample, system: Sequence[str], scale: Scale, *, left_out: Sequence[str] = ()) -> Ranking | None:
    """The systems by the human mean, best first, with the Spearman and Kendall correlation of the two orders.

    `system` has one entry a row. The means of a system are over its own judged rows, people's scaled to 0..1. None for
    a single system.
    """
    names, of = np.unique(np.asarray(system, dtype=object).astype(str), return_inverse=True)
    if names.size < 2:
        return None
    of, span = of.reshape(-1), scale.high - scale.low
    normal = (sample.human - scale.low) / span if span else np.zeros_like(sample.human)
    member = np.eye(names.size)[of]
    values = np.concatenate([normal[:, None] * member, sample.score[:, None] * member, member], axis=1)
    sums = values.sum(axis=0).reshape(3, -1)
    drawn = resampled_sums(values, sample.cluster, sample.resampler).reshape(-1, 3, names.size)
    human, score = (_Means(ratio(sums[at], sums[2]), ratio(drawn[:, at], drawn[:, 2])) for at in (0, 1))
    human_ranks, score_ranks = _ranks(human.values), _ranks(sample.sign * score.values)
    points = []
    for at, name in enumerate(names):
        rows = sample.rows(np.asarray(of == at))
        people, metric = (rows.figure(float(means.values[at]), means.draws[:, at]) for means in (human, score))
        points.append(
            SystemPoint(
                system=str(name),
                human=people,
                metric=metric,
                human_rank=float(human_ranks[at]),
                metric_rank=float(score_ranks[at]),
            )
        )
    return Ranking(
        systems=tuple(sorted(points, key=lambda point: (point.human_rank, point.system))),
        spearman=_agreement(SPEARMAN, sample, score, human),
        kendall=_agreement(KENDALL, sample, score, human),
        left_out=tuple(left_out),
    )


class _Means(NamedTuple):
    """Means by system (s), and in each resample (r x s)."""

    values: Numbers
    draws: Numbers


def _agreement(name: str, sample: RowSample, score: _Means, human: _Means) -> Value:
    """The correlation of the two orders of systems."""
    n = int(human.values.size)
    if n < FEWEST:
        return sample.undefined(f"{n} systems: a correlation of orders needs at least {FEWEST}", n=n)
    for means, what in ((score, "the metric's"), (human, "the human")):
        if (means.values == means.values[0]).all():
            return sample.undefined(f"{what} means of all systems are equal", n=n)
    from scipy import stats

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        correlation = stats.spearmanr if name == SPEARMAN else stats.kendalltau
        found = correlation(sample.sign * score.values, human.values)
    draws = _rank_correlations(name, sample.sign * score.draws, human.draws)
    p = spearman_p(score.values, human.values) if name == SPEARMAN else float(found.pvalue)
    return sample.figure(float(found.statistic), draws, n=n, p=p)


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
