"""Classifying good rows by a threshold on the score, at every cut of the human scale.

Source of the sweep as a table: CRScore, arXiv:2409.19801, Table 4. The best F1 is chosen on the same rows, so it is an
upper bound for a threshold chosen beforehand; its interval is that of F1 at that threshold.
AUC: Hanley and McNeil, The meaning and use of the area under a ROC curve, Radiology 143 (1982).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Numbers, ratio
from reviewgauge.analysis.stats.correlation import row_weights
from reviewgauge.analysis.validity.sample import RowSample
from reviewgauge.core.reports.validity import Figure, Sweep, SweepPoint

STEPS = 24  # thresholds shown at even steps of the score, and again at even steps of the recall


def sweeps(sample: RowSample) -> tuple[Sweep, ...]:
    """One sweep for each grade but the lowest: rows with at least that grade are positive.

    Where less is better, scores up to the threshold are predicted positive; an AUC above .5 always means agreement.
    """
    if sample.grade is None:
        return ()
    cuts = np.unique(sample.grade)[1:]
    found = []
    for cut, auc in zip(cuts, _aucs(sample, [sample.grade >= cut for cut in cuts]), strict=True):
        positive = sample.grade >= cut
        curve = _Curve.of(sample.oriented, positive, sample.sign)
        best = curve.point(int(curve.f1.argmax()))  # of ties the strictest
        sweep = Sweep(
            cut=float(cut),
            positives=int(positive.sum()),
            n=sample.n,
            auc=auc,
            best=best,
            points=curve.points(),
            best_f1=_f1_at(best, sample, positive),
        )
        found.append(sweep)
    return tuple(found)


def _aucs(sample: RowSample, cuts: Sequence[Flags]) -> list[Figure]:
    """The AUC of each cut, from midranks of the scores that all cuts share in each resample."""
    if not cuts:
        return []
    positive = np.stack(cuts, axis=1).astype(np.float64)
    distinct, code = np.unique(sample.oriented, return_inverse=True)
    code = code.reshape(-1)
    order = np.argsort(code, kind="stable")
    starts = np.searchsorted(code[order], np.arange(distinct.size))

    def drawn(weights: Numbers) -> Numbers:
        of_values = np.add.reduceat(weights[:, order], starts, axis=1)
        ranks = (np.cumsum(of_values, axis=1) - of_values / 2)[:, code]
        positives = weights @ positive
        above = (ranks * weights) @ positive - positives**2 / 2
        return ratio(above, positives * (weights.sum(axis=1)[:, None] - positives))

    values = drawn(np.ones((1, sample.n)))[0]
    draws = [np.zeros((0, len(cuts)))]
    if sample.clusters > 1:
        draws += [drawn(weights) for weights in row_weights(sample.cluster, sample.resampler)]
    each = np.concatenate(draws)
    return [sample.figure(float(value), each[:, at]) for at, value in enumerate(values)]


def _f1_at(point: SweepPoint, sample: RowSample, positive: Flags) -> Figure:
    """The F1 at this threshold, which is fixed in every resample."""
    taken = sample.oriented >= sample.sign * point.threshold
    counts = np.stack([taken & positive, taken, positive], axis=1).astype(np.float64)
    of_clusters = np.zeros((sample.resampler.clusters, 3))
    np.add.at(of_clusters, sample.cluster, counts)
    draws = [np.zeros(0)]
    for weights in sample.resampler.weights():
        hits, predicted, positives = (weights @ of_clusters).T
        draws.append(ratio(2 * hits, predicted + positives))
    return sample.figure(point.f1, np.concatenate(draws))


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
        return SweepPoint(
            threshold=float(self.threshold[at]),
            precision=float(self.precision[at]),
            recall=float(self.recall[at]),
            f1=float(self.f1[at]),
        )

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
