"""The five-sigma rule: how alike random sentences are.

Source: CRScore, arXiv:2409.19801, appendix C.1, Figures 5 and 6, and scripts/compute_sts_thresh.py of
github.com/atharva-naik/CRScore: 100,000 random pairs, of whole reviews there, of sentences as the paper has it here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reviewgauge.core.reports.threshold import HistogramBin, QuantilePoint, RandomPairs
from reviewgauge.metrics.coverage.vectors import TextVectors

PAIRS = 100_000
SIGMAS = 5
_BINS = 50
_AT_ONCE = 20_000  # pairs whose vectors are held at once
_REACH = np.linspace(-4, 4, 41)  # standard deviations, at which quantiles are compared


def random_pairs(texts: Sequence[str], vectors: TextVectors, seed: int, n: int = PAIRS) -> RandomPairs | None:
    """The similarities of `n` random pairs of different texts; None for fewer than three texts."""
    from scipy.special import ndtr

    distinct = sorted(set(texts))
    if len(distinct) < 3:
        return None
    generator = np.random.default_rng(seed)
    first = generator.integers(0, len(distinct), n)
    second = (first + generator.integers(1, len(distinct), n)) % len(distinct)
    similarity = np.concatenate(
        [
            vectors.pairs([distinct[at] for at in first[part]], [distinct[at] for at in second[part]])
            for part in (slice(start, start + _AT_ONCE) for start in range(0, n, _AT_ONCE))
        ]
    )
    mean, deviation = float(similarity.mean()), float(similarity.std())
    threshold = mean + SIGMAS * deviation
    counts, edges = np.histogram(similarity, bins=_BINS)
    quantiles = np.quantile(similarity, ndtr(_REACH))
    return RandomPairs(
        n=n,
        sentences=len(distinct),
        mean=mean,
        deviation=deviation,
        threshold=threshold,
        above=float((similarity > threshold).mean()),
        bins=tuple(
            HistogramBin(low=float(low), high=float(high), share=float(count) / n)
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        ),
        quantiles=tuple(
            QuantilePoint(normal=mean + float(reach) * deviation, observed=float(value))
            for reach, value in zip(_REACH, quantiles, strict=True)
        ),
    )
