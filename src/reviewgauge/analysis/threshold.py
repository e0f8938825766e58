"""The threshold of an embedding model by CRScore's rule, and what it and its neighbours give.

The rule: the mean, over all sentences of the best system's reviews on changes that nobody annotated, of the similarity
to the closest claim on the change. Source: CRScore, arXiv:2409.19801, section 3.3; scripts/compute_sts_thresh_v3.py of
github.com/atharva-naik/CRScore.

The five-sigma rule: how alike random sentences are. Source: appendix C.1, and scripts/compute_sts_thresh.py: 100,000
random pairs, of whole reviews there, of sentences as the paper has it here.

What each threshold gives: links beside people's (of the reviews that address any claim: scripts/
evaluate_sts_quality.py), and the correlation of `rel` with people's values. Sources: Tables 4 and 18. People link
claims to whole reviews, not to sentences.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Integers, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import FEW_CLUSTERS, Resampler, Resamples, resampled_sums
from reviewgauge.analysis.stats.correlation import KENDALL, SPEARMAN, correlate, figure_of, mean_figure
from reviewgauge.analysis.validity.human_values import HumanValues, Key
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.sample import join
from reviewgauge.core.document import Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, SubjectKind
from reviewgauge.core.records import Case, Claim
from reviewgauge.core.reports.threshold import (
    FittedThreshold,
    LinkRates,
    RandomPairs,
    ThresholdPoint,
)
from reviewgauge.core.specs import short_spec
from reviewgauge.metrics.coverage.sentences import sentences
from reviewgauge.metrics.coverage.vectors import LEXICAL, Matrix, TextVectors
from reviewgauge.metrics.crscore import MOST_PAIRS, REL, Crscore, three_numbers
from reviewgauge.models.embeddings.embedder import DEFAULT

# --- the paper: three languages with mxbai-embed-large-v1; section 3.3 with footnote 6, Tables 4 and 18, Figure 5 ---

MODEL = "mxbai-embed-large-v1"
RULE = 0.7314  # by the reviews of GPT-3.5
REFERENCES = 0.6576  # by the comments of people
FIVE_SIGMA = 0.85
ITEMS = 9_869  # changes, annotated ones left out


class PublishedPoint(NamedTuple):
    """One threshold: Table 4 (links) and Table 18 (correlation of `rel` with people's)."""

    threshold: float
    precision: float
    recall: float
    f1: float
    kendall: float
    spearman: float


POINTS = (
    PublishedPoint(0.6, 0.4055, 0.9512, 0.5686, 0.3975, 0.4874),
    PublishedPoint(0.65, 0.4433, 0.8794, 0.5895, 0.4572, 0.5512),
    PublishedPoint(REFERENCES, 0.4475, 0.8665, 0.5902, 0.4437, 0.5405),
    PublishedPoint(0.7, 0.4832, 0.77, 0.5938, 0.4433, 0.5407),
    PublishedPoint(RULE, 0.5173, 0.6899, 0.5913, 0.4567, 0.5431),
    PublishedPoint(0.75, 0.5401, 0.633, 0.5828, 0.4473, 0.5277),
    PublishedPoint(0.8, 0.6223, 0.444, 0.5183, 0.3946, 0.4539),
)


def is_published(model: str) -> bool:
    """Whether a spec names the model of the paper."""
    return MODEL in model


# --- what a threshold is fitted on

NO_OWN = "the change has no claims of its own, and others have"
ADDRESSES = 0.5  # the mean of people's labels from which on a review addresses a claim


@dataclass(frozen=True)
class Material:
    """`claims` by case, `said` (sentences) by review, `links` by review and claim; `rows` are those that are fitted on.

    `human` are the values that correlations are made with. `rows` are positions in the `bench`.
    """

    bench: ReviewTable
    claims: Mapping[str, tuple[Claim, ...]]
    said: tuple[tuple[str, ...], ...]
    human: HumanValues | None
    links: Mapping[Key, Mapping[str, bool]]
    system: str
    chosen: str
    rows: tuple[int, ...]
    warnings: tuple[str, ...]

    @property
    def texts(self) -> Iterator[str]:
        """Every text that is compared: claims, sentences, and the linked reviews as a whole."""
        for claims in self.claims.values():
            yield from (claim.body for claim in claims)
        for place, (key, said) in enumerate(zip(self.bench.keys, self.said, strict=True)):
            yield from said
            if key in self.links:
                yield self.bench.hypothesis[place]

    def claims_of(self, place: int) -> tuple[Claim, ...]:
        """The claims that a review is compared with; none where there are none, or more pairs than the metric takes."""
        return _compared(self.claims.get(self.bench.keys[place][0], ()), self.said[place])


def gather(
    cases: Sequence[Case],
    bench: ReviewTable,
    labels: Sequence[Label],
    human: HumanValues | None,
    *,
    metric: Crscore,
    system: str = "",
) -> Material:
    """What a threshold is fitted on. `system` is by default the one whose reviews people value most.

    Raises UserError where there is no such system, or no sentence of it that has a claim to compare with.
    """
    given = metric.claims == "auto" and any(case.claims for case in cases)  # made ones depend on what is installed
    found = {case.id: NO_OWN if given and not case.claims else metric.claims_of(case) for case in cases}
    claims = {case: own for case, own in found.items() if isinstance(own, tuple)}
    missing = Counter(why if isinstance(why, str) else "failed" for why in found.values() if not isinstance(why, tuple))
    warnings = [f"{n:,} changes are left out: {why}" for why, n in missing.most_common(3)]
    if not claims:
        why = missing.most_common(1)[0][0].partition(";")[0] if missing else "there are none"
        raise UserError(f"no change has claims: {why}", remedy="--claims references takes the reference comments")
    system, chosen = _system(bench, human, system)
    said = tuple(sentences(text) for text in bench.hypothesis)
    rows = [
        at
        for at, key in enumerate(bench.keys)
        if key[1] == system and said[at] and _compared(claims.get(key[0], ()), said[at])
    ]
    if not rows:
        raise UserError(f"no review of {system} has a sentence and a change with claims", remedy="; ".join(warnings))
    rows, overlap = _without_annotated(bench, human, rows)
    if (changes := len({bench.keys[at][0] for at in rows})) < FEW_CLUSTERS:
        warnings.insert(0, f"only {changes} changes: on others the threshold may be far from it")
    known = {key: {claim.id for claim in claims.get(key[0], ())} for key in bench.keys if key[1] not in bench.people}
    links = {
        key: {claim: yes for claim, yes in own.items() if claim in known[key]}
        for key, own in _links(labels).items()
        if key in known
    }
    return Material(
        bench=bench,
        claims=claims,
        said=said,
        human=human,
        links={key: own for key, own in links.items() if any(own.values())},
        system=system,
        chosen=chosen,
        rows=tuple(rows),
        warnings=(*overlap, *warnings),
    )


def _compared(claims: tuple[Claim, ...], said: Sequence[str]) -> tuple[Claim, ...]:
    return claims if len(claims) * len(said) <= MOST_PAIRS else ()


def _system(bench: ReviewTable, human: HumanValues | None, wanted: str) -> tuple[str, str]:
    """(the system whose reviews the threshold is fitted on, why this one)."""
    systems = sorted({system for _, system, _ in bench.keys})
    if wanted:
        if wanted not in systems:
            raise UserError(f"no review is by {wanted!r}", remedy=f"there are: {', '.join(systems)}")
        return wanted, "by --system"
    values: defaultdict[str, list[float]] = defaultdict(list)
    for key in bench.keys if human is not None else ():
        if human is not None and key in human.of and key[1] not in bench.people:
            values[key[1]].append(human.of[key])
    if not values or human is None:
        if len(systems) == 1:
            return systems[0], "the only one"
        remedy = f"name one with --system: {', '.join(systems)}" if systems else ""
        raise UserError("people's values do not say which system is best", remedy=remedy)
    means = {system: sum(own) / len(own) for system, own in sorted(values.items())}
    best = max(means, key=lambda system: means[system])
    top = f"{means[best]:.2f} of {human.scale.high:g}, n = {len(values[best]):,}"
    return best, f"people's highest mean of {human.dimension}, {top}"


def _without_annotated(
    bench: ReviewTable, human: HumanValues | None, rows: list[int]
) -> tuple[list[int], tuple[str, ...]]:
    """The rows on changes that nobody judged a review of, where they are enough; else all, with a warning."""
    annotated = {case for case, _, _ in human.of} if human is not None else set()
    other = [at for at in rows if bench.keys[at][0] not in annotated]
    if len({bench.keys[at][0] for at in other}) >= FEW_CLUSTERS or len(other) == len(rows):
        return other, ()
    few = f"only {len(other):,} of the {len(rows):,} reviews are on others" if other else "all of them are"
    return rows, (
        f"annotated changes were not left out, since {few}: "
        "the threshold has seen the changes that it is compared on, though not people's values",
    )


def _links(labels: Iterable[Label]) -> dict[Key, dict[str, bool]]:
    """Whether people say that a review addresses a claim, by review and claim; of several rounds the first counts."""
    found: dict[Key, dict[str, dict[str, list[float]]]] = {}
    for label in labels:
        subject = label.subject
        by_people = label.rater_kind is RaterKind.HUMAN and not isinstance(label.value, str)
        if subject.kind is SubjectKind.LINK and by_people and subject.system and subject.claim:
            rounds = found.setdefault((subject.case, subject.system, subject.attempt), {})
            rounds.setdefault(label.round or "", {}).setdefault(subject.claim, []).append(float(label.value))
    first = {key: rounds.get("") or next(iter(rounds.values())) for key, rounds in found.items()}
    return {
        key: {claim: sum(values) / len(values) >= ADDRESSES for claim, values in own.items()}
        for key, own in first.items()
    }


# --- the fit

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
