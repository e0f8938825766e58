"""`validate --sweep`: above which similarity a sentence of a review speaks about a claim, for each model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reviewgauge.analysis.judged import JudgedReviews
from reviewgauge.analysis.threshold.fit import FitSettings, fit_threshold
from reviewgauge.analysis.threshold.material import gather
from reviewgauge.analysis.validity.human_values import HumanValues, human_values
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.reports.threshold import ThresholdReport
from reviewgauge.core.specs import short_spec
from reviewgauge.engine.run.manifest import benchmark_hash
from reviewgauge.metrics.crscore import REL, Crscore


@dataclass(frozen=True)
class SweepOptions:
    """Whose reviews the rule takes, by default those that people value most in `dimension`; and the intervals."""

    system: str = ""
    dimension: str = ""
    resamples: int = 1_000
    seed: int = 0


def sweep_thresholds(
    reviews: JudgedReviews, metrics: Sequence[Metric], options: SweepOptions, progress: Progress
) -> ThresholdReport:
    """Fit the threshold of each `crscore` metric's model by CRScore's rule, and say what each threshold gives.

    People's values are those of `rel`, or of the only dimension that they judged in, where none is named.
    """
    wanted = [_without_threshold(metric) for metric in metrics]
    if len({metric.claims for metric in wanted}) > 1:
        raise UserError("the metrics take different claims", remedy="sweep those with claims='references' apart")
    human, notes = _human(reviews, options.dimension, bool(options.system))
    bench = ReviewTable.of(reviews.cases, reviews.outcomes, reviews.people)
    material = gather(reviews.cases, bench, reviews.labels, human, metric=wanted[0], system=options.system)
    fits = []
    for at, metric in enumerate(wanted):
        progress(at, len(wanted), metric.model)
        fits.append(fit_threshold(metric, material, FitSettings(options.resamples, options.seed)))
    return ThresholdReport(
        dataset=reviews.name,
        benchmark=benchmark_hash(reviews.cases),
        claims=wanted[0].claims,
        system=material.system,
        chosen=material.chosen,
        dimension=human.dimension if human is not None else "",
        pairs=sum(len(own) for own in material.links.values()),
        addressed=sum(sum(own.values()) for own in material.links.values()),
        linked=len(material.links),
        fits=tuple(fits),
        resamples=options.resamples,
        seed=options.seed,
        warnings=(*material.warnings, *notes, *reviews.notes),
    )


def _without_threshold(metric: Metric) -> Crscore:
    if not isinstance(metric, Crscore):
        raise UserError(f"{short_spec(metric)} has no threshold", remedy="sweep crscore(model='all-MiniLM-L6-v2')")
    return replace(metric, soft=False, threshold=None, threshold_of="", variant="")


def _human(reviews: JudgedReviews, dimension: str, optional: bool) -> tuple[HumanValues | None, tuple[str, ...]]:
    """People's values in the dimension; none where there is nothing to choose from and they are `optional`."""
    known = {found.dimension: found for found in human_values(reviews.labels, reviews.scales)[0]}
    wanted = dimension or (REL if REL in known else next(iter(known)) if len(known) == 1 else "")
    if wanted in known:
        other = wanted != REL and not dimension
        return known[wanted], (f"people judged {wanted}, which may not be how relevant a review is",) if other else ()
    there = f"there are: {', '.join(known)}" if known else "nobody judged these reviews"
    if dimension:
        raise UserError(f"nobody judged {dimension!r}", remedy=there)
    if known and not optional:
        raise UserError("people judged in several dimensions", remedy=f"name one with --dimension; {there}")
    return None, (f"no correlations: {there}",)
