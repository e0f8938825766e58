"""What each threshold gives: links beside people's, and the correlation of `rel` with people's values.

Sources: CRScore, arXiv:2409.19801, Tables 4 and 18. People link claims to whole reviews, not to sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Integers, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import Resampler, resampled_sums
from reviewgauge.analysis.stats.correlation import KENDALL, SPEARMAN, correlate, figure_of
from reviewgauge.analysis.threshold.material import Material
from reviewgauge.analysis.validity.review_table import join
from reviewgauge.core.reports.threshold import LinkRates, ThresholdPoint
from reviewgauge.core.reports.validity import Figure
from reviewgauge.metrics.coverage.vectors import Matrix, TextVectors
from reviewgauge.metrics.crscore import REL, three_numbers

NOTHING = Figure(value=None, n=0, reason="nothing is above the threshold")


@dataclass(frozen=True)
class LinkRows:
    """One entry a pair of a claim and a review: the similarity of its closest `sentence` and of the whole `review`."""

    sentence: Numbers
    review: Numbers
    addressed: Flags
    cluster: Integers

    @classmethod
    def of(cls, material: Material, cosines: Mapping[int, Matrix], vectors: TextVectors) -> LinkRows:
        """The pairs that people judged, of the reviews that address any claim."""
        found: list[tuple[float, float, bool, int]] = []
        for place, key in enumerate(material.bench.keys):
            links, claims = material.links.get(key, {}), material.claims_of(place)
            if not links or not claims:
                continue
            whole = vectors.cosines([claim.body for claim in claims], [material.bench.hypothesis[place]])[:, 0]
            closest = cosines[place].max(axis=1) if place in cosines else np.zeros(len(claims))
            cluster = int(material.bench.cluster[place])
            for at, claim in enumerate(claims):
                if claim.id in links:
                    found.append((float(closest[at]), float(whole[at]), links[claim.id], cluster))
        columns = np.array(found, dtype=np.float64).reshape(-1, 4).T
        return cls(columns[0], columns[1], columns[2] > 0, columns[3].astype(np.int64))


def sweep(
    material: Material, cosines: Mapping[int, Matrix], links: LinkRows, thresholds: Sequence[float], seen: Resampler
) -> tuple[ThresholdPoint, ...]:
    """One point a threshold, in their order."""
    by_sentence = _rates(links.sentence, links, thresholds, seen)
    by_review = _rates(links.review, links, thresholds, seen)
    correlations = _correlations(material, cosines, thresholds, seen)
    return tuple(
        ThresholdPoint(
            threshold=threshold,
            sentence=by_sentence[at],
            review=by_review[at],
            kendall=correlations[at].get(KENDALL),
            spearman=correlations[at].get(SPEARMAN),
        )
        for at, threshold in enumerate(thresholds)
    )


def _rates(
    similarity: Numbers, links: LinkRows, thresholds: Sequence[float], resampler: Resampler
) -> list[LinkRates | None]:
    if not links.addressed.any():
        return [None] * len(thresholds)
    close = similarity[:, None] > np.array(thresholds)
    values = np.concatenate([close & links.addressed[:, None], close, links.addressed[:, None]], axis=1)
    sums = values.sum(axis=0, dtype=np.float64)
    drawn = resampled_sums(values.astype(np.float64), links.cluster, resampler)
    many, positives = len(thresholds), int(sums[-1])
    found: list[LinkRates | None] = []
    for at in range(many):
        hits, taken = sums[at], sums[many + at]
        hits_drawn, taken_drawn = drawn[:, at], drawn[:, many + at]

        def figure(value: float, n: int, draws: Numbers) -> Figure:
            return figure_of(value, n, draws, links.cluster)

        found.append(
            LinkRates(
                precision=figure(hits / taken, int(taken), ratio(hits_drawn, taken_drawn)) if taken else NOTHING,
                recall=figure(hits / positives, positives, ratio(hits_drawn, drawn[:, -1])),
                f1=figure(
                    2 * hits / (taken + positives), similarity.size, ratio(2 * hits_drawn, taken_drawn + drawn[:, -1])
                ),
            )
        )
    return found


def _correlations(
    material: Material, cosines: Mapping[int, Matrix], thresholds: Sequence[float], resampler: Resampler
) -> list[Mapping[str, Figure]]:
    """Kendall's and Spearman's correlation of `rel` with people's values, by threshold; a silent review has 0."""
    if material.human is None:
        return [{}] * len(thresholds)
    keys = material.bench.keys
    here = {key: 0.0 for place, key in enumerate(keys) if material.claims_of(place)}
    rows = join(material.bench, material.human, here)
    found: list[Mapping[str, Figure]] = []
    for threshold in thresholds:
        rel = [three_numbers(cosines[at], threshold)[REL] if at in cosines else 0.0 for at in rows.place.tolist()]
        found.append(correlate(np.array(rel, dtype=np.float64), rows.human, rows.cluster, resampler))
    return found
