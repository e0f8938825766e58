"""The threshold of an embedding model by CRScore's rule, and what it and its neighbours give.

The rule: the mean, over all sentences of the best system's reviews, of the similarity to the closest claim on the
change. Source: CRScore, arXiv:2409.19801, section 3.3; scripts/compute_sts_thresh_v3.py of
github.com/atharva-naik/CRScore.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.stats.correlation import mean_figure
from reviewgauge.analysis.threshold.material import Material
from reviewgauge.analysis.threshold.published import POINTS, is_published
from reviewgauge.analysis.threshold.random_pairs import random_pairs
from reviewgauge.analysis.threshold.sweep import LinkRows, sweep
from reviewgauge.core.reports.threshold import FittedThreshold
from reviewgauge.core.specs import short_spec
from reviewgauge.metrics.coverage.vectors import LEXICAL, Matrix
from reviewgauge.metrics.crscore import Crscore
from reviewgauge.models.embeddings.embedder import DEFAULT

DIGITS = 3  # of a threshold
_STEP = 0.05
_AROUND = (-0.1, -0.05, 0.0, 0.05, 0.1)  # of the threshold: how robust it is
_PREFIX = 16  # hex digits of a fingerprint that stand for a model without a name of its own


@dataclass(frozen=True)
class FitSettings:
    """How intervals are drawn."""

    resamples: int = 1_000
    seed: int = 0


def fit_threshold(metric: Crscore, material: Material, settings: FitSettings) -> FittedThreshold:
    """The threshold of the metric's model. Every text is turned into a vector once."""
    vectors = metric.vectors(material.texts)
    cosines = {
        place: vectors.cosines([claim.body for claim in claims], said)
        for place, said in enumerate(material.said)
        if said and (claims := material.claims_of(place))
    }
    bench = material.bench
    resampler = Resampler(bench.clusters, settings.resamples, settings.seed)
    closest = [cosines[place].max(axis=0) for place in material.rows]
    cluster = np.repeat(bench.cluster[list(material.rows)], [own.size for own in closest])
    threshold = mean_figure(np.concatenate(closest), cluster, resampler)
    value = round(threshold.value or 0.0, DIGITS)
    points = sweep(
        material, cosines, LinkRows.of(material, cosines, vectors), _grid(cosines, value, metric.model), resampler
    )
    named = metric.model in LEXICAL or metric.model == DEFAULT
    fitted = replace(
        metric,
        soft=False,
        threshold=value,
        threshold_of=metric.model if named else metric.fingerprint[:_PREFIX],
    )
    return FittedThreshold(
        model=metric.model,
        fingerprint=metric.fingerprint,
        spec=short_spec(fitted),
        threshold=threshold,
        reviews=len(material.rows),
        changes=len({bench.keys[place][0] for place in material.rows}),
        points=points,
        random=random_pairs([text for said in material.said for text in said], vectors, settings.seed),
    )


def _grid(cosines: Mapping[int, Matrix], threshold: float, model: str) -> list[float]:
    """Steps of .05 over the range of the closest similarities, those around the threshold, and the paper's model's."""
    closest: Numbers = np.concatenate([matrix.max(axis=0) for matrix in cosines.values()])
    low, high = np.quantile(closest, [0.01, 0.99])
    steps = np.arange(np.ceil(low / _STEP), np.floor(high / _STEP) + 1) * _STEP
    published = [point.threshold for point in POINTS] if is_published(model) else []
    near = [threshold + by for by in _AROUND if threshold + by > 0]
    return sorted({round(float(value), DIGITS + 1) for value in (*steps, *published, *near)})
