"""The threshold of an embedding model by CRScore's rule, and what it and its neighbours give.

The rule: the mean, over all sentences of the best system's reviews, of the similarity to the closest claim on the
change. Source: CRScore, arXiv:2409.19801, section 3.3; scripts/compute_sts_thresh_v3.py of
github.com/atharva-naik/CRScore.

The five-sigma rule: how alike random sentences are. Source: appendix C.1, and scripts/compute_sts_thresh.py: 100,000
random pairs, of whole reviews there, of sentences as the paper has it here.

What each threshold gives: links beside people's, and the correlation of `rel` with people's values. Sources: Tables 4
and 18. People link claims to whole reviews, not to sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Integers, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import Resampler, Resamples, resampled_sums
from reviewgauge.analysis.stats.correlation import KENDALL, SPEARMAN, correlate, figure_of, mean_figure
from reviewgauge.analysis.threshold.material import Material
from reviewgauge.analysis.threshold.published import POINTS, is_published
from reviewgauge.analysis.validity.sample import join
from reviewgauge.core.document import Value
from reviewgauge.core.reports.threshold import (
    FittedThreshold,
    LinkRates,
    RandomPairs,
    ThresholdPoint,
)
from reviewgauge.core.specs import short_spec
from reviewgauge.metrics.coverage.vectors import LEXICAL, Matrix, TextVectors
from reviewgauge.metrics.crscore import REL, Crscore, three_numbers
from reviewgauge.models.embeddings.embedder import DEFAULT

DIGITS = 3  # of a threshold
PAIRS = 100_000
SIGMAS = 5
NOTHING = Value(value=None, n=0, reason="nothing is above the threshold")
_STEP = 0.05
_AROUND = (-0.1, -0.05, 0.0, 0.05, 0.1)  # of the threshold: how robust it is
_PREFIX = 16  # hex digits of a fingerprint that stand for a model without a name of its own
_AT_ONCE = 20_000  # pairs whose vectors are held at once


def sweep(
    material: Material,
    cosines: Mapping[int, Matrix],
    vectors: TextVectors,
    thresholds: Sequence[float],
    resampler: Resampler,
) -> tuple[ThresholdPoint, ...]:
    """One point a threshold, in their order."""
    # One row a pair that people judged, of the reviews that address any claim: similarity of its closest sentence, of
    # the whole review, whether it is addressed.
    pairs: list[tuple[float, float, bool]] = []
    clusters: list[int] = []
    for place, key in enumerate(material.bench.keys):
        links, claims = material.links.get(key, {}), material.claims_of(place)
        if not links or not claims:
            continue
        whole = vectors.cosines([claim.body for claim in claims], [material.bench.hypothesis[place]])[:, 0]
        closest = cosines[place].max(axis=1) if place in cosines else np.zeros(len(claims))
        for at, claim in enumerate(claims):
            if claim.id in links:
                pairs.append((float(closest[at]), float(whole[at]), links[claim.id]))
                clusters.append(int(material.bench.cluster[place]))
    sentence, review, addressed = np.array(pairs, dtype=np.float64).reshape(-1, 3).T
    cluster = np.array(clusters, dtype=np.int64)
    by_sentence, by_review = (
        _rates(similarity, addressed > 0, cluster, thresholds, resampler) for similarity in (sentence, review)
    )
    correlations = _correlations(material, cosines, thresholds, resampler)
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
    similarity: Numbers, addressed: Flags, cluster: Integers, thresholds: Sequence[float], resampler: Resampler
) -> list[LinkRates | None]:
    found: list[LinkRates | None] = []
    positives = int(addressed.sum())
    for threshold in thresholds if positives else ():
        close = similarity > threshold
        counts = np.stack([close & addressed, close, addressed], axis=1).astype(np.float64)
        hits, taken, _ = counts.sum(axis=0)
        hit, took, there = resampled_sums(counts, cluster, resampler).T
        both = figure_of(2 * hits / (taken + positives), similarity.size, ratio(2 * hit, took + there), cluster)
        found.append(
            LinkRates(
                precision=figure_of(hits / taken, int(taken), ratio(hit, took), cluster) if taken else NOTHING,
                recall=figure_of(hits / positives, positives, ratio(hit, there), cluster),
                f1=both,
            )
        )
    return found or [None] * len(thresholds)


def _correlations(
    material: Material, cosines: Mapping[int, Matrix], thresholds: Sequence[float], resampler: Resampler
) -> list[Mapping[str, Value]]:
    """Kendall's and Spearman's correlation of `rel` with people's values, by threshold; a silent review has 0."""
    if material.human is None:
        return [{}] * len(thresholds)
    here = {key: 0.0 for place, key in enumerate(material.bench.keys) if material.claims_of(place)}
    rows = join(material.bench, material.human, here)
    found: list[Mapping[str, Value]] = []
    for threshold in thresholds:
        rel = [three_numbers(cosines[at], threshold)[REL] if at in cosines else 0.0 for at in rows.place.tolist()]
        found.append(correlate(np.array(rel, dtype=np.float64), rows.human, rows.cluster, resampler))
    return found


def random_pairs(texts: Sequence[str], vectors: TextVectors, seed: int, n: int = PAIRS) -> RandomPairs | None:
    """The similarities of `n` random pairs of different texts; None for fewer than three texts."""
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
    above = float((similarity > threshold).mean())
    return RandomPairs(n=n, sentences=len(distinct), mean=mean, deviation=deviation, threshold=threshold, above=above)


def fit_threshold(metric: Crscore, material: Material, settings: Resamples) -> FittedThreshold:
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
    points = sweep(material, cosines, vectors, _grid(cosines, value, metric.model), resampler)
    named = metric.model in LEXICAL or metric.model == DEFAULT
    of = metric.model if named else metric.fingerprint[:_PREFIX]
    fitted = replace(metric, soft=False, threshold=value, threshold_of=of)
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
