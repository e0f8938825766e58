"""The threshold of an embedding model by CRScore's rule, and what it and its neighbours give.

The rule: the mean, over all sentences of the best system's reviews, of the similarity to the closest claim on the
change. Source: CRScore, arXiv:2409.19801, section 3.3; scripts/compute_sts_thresh_v3.py of
github.com/atharva-naik/CRScore.

The five-sigma rule: how alike random sentences are.

Source: CRScore, arXiv:2409.19801, appendix C.1, Figures 5 and 6, and scripts/compute_sts_thresh.py of
github.com/atharva-naik/CRScore: 100,000 random pairs, of whole reviews there, of sentences as the paper has it here.

What each threshold gives: links beside people's, and the correlation of `rel` with people's values.

Sources: CRScore, arXiv:2409.19801, Tables 4 and 18. People link claims to whole reviews, not to sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
    HistogramBin,
    LinkRates,
    QuantilePoint,
    RandomPairs,
    ThresholdPoint,
)
from reviewgauge.core.specs import short_spec
from reviewgauge.metrics.coverage.vectors import LEXICAL, Matrix, TextVectors
from reviewgauge.metrics.crscore import REL, Crscore, three_numbers
from reviewgauge.models.embeddings.embedder import DEFAULT

DIGITS = 3  # of a threshold
_STEP = 0.05
_AROUND = (-0.1, -0.05, 0.0, 0.05, 0.1)  # of the threshold: how robust it is
_PREFIX = 16  # hex digits of a fingerprint that stand for a model without a name of its own


PAIRS = 100_000
SIGMAS = 5
_BINS = 50
_AT_ONCE = 20_000  # pairs whose vectors are held at once
_REACH = np.linspace(-4, 4, 41)  # standard deviations, at which quantiles are compared


NOTHING = Value(value=None, n=0, reason="nothing is above the threshold")


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

        def figure(value: float, n: int, draws: Numbers) -> Value:
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
) -> list[Mapping[str, Value]]:
    """Kendall's and Spearman's correlation of `rel` with people's values, by threshold; a silent review has 0."""
    if material.human is None:
        return [{}] * len(thresholds)
    keys = material.bench.keys
    here = {key: 0.0 for place, key in enumerate(keys) if material.claims_of(place)}
    rows = join(material.bench, material.human, here)
    found: list[Mapping[str, Value]] = []
    for threshold in thresholds:
        rel = [three_numbers(cosines[at], threshold)[REL] if at in cosines else 0.0 for at in rows.place.tolist()]
        found.append(correlate(np.array(rel, dtype=np.float64), rows.human, rows.cluster, resampler))
    return found


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
