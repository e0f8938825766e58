"""`reviewgauge fit-threshold`: above which similarity a sentence of a review speaks about a claim, by one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.threshold.fit import FitSettings
from reviewgauge.analysis.threshold.fit import fit_threshold as fit
from reviewgauge.analysis.threshold.material import gather
from reviewgauge.analysis.validity.human_values import HumanValues, human_values
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.api.judged_runs import is_run, keep_latest, scales_and_people
from reviewgauge.api.resolve import dataset_label, find_dataset
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import check_page, write_whole
from reviewgauge.core.labels import Label, Scale
from reviewgauge.core.protocols import Dataset, Metric, Progress
from reviewgauge.core.records import Case
from reviewgauge.core.reports.threshold import ThresholdReport
from reviewgauge.core.results import Outcome
from reviewgauge.core.specs import load
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import benchmark_hash
from reviewgauge.metrics.crscore import REL, Crscore


def fit_threshold(
    dataset: str | Dataset,
    *models: str,
    system: str = "",
    dimension: str = "",
    claims: str = "auto",
    source: str | Path | None = None,
    resamples: int = 1_000,
    seed: int = 0,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> ThresholdReport:
    """Fit the threshold of `crscore(soft=False)` for each of `models` by CRScore's rule, and show what it gives.

    `dataset` is a data set with recorded reviews, or a run folder. The rule takes the reviews of `system`, by default
    the one with people's highest mean in `dimension` (`rel`, or the only one that people judged in). `claims` is that
    of the metric. `out` is where a page with the plots goes.
    """
    check_page(out)
    check_settings(resamples)
    if not models:
        raise UserError("no model given", remedy="such as words, chars or all-MiniLM-L6-v2")
    metrics = [_crscore(model, claims) for model in dict.fromkeys(models)]
    reviews = _run(str(dataset)) if is_run(dataset) else _recorded(dataset, source)
    human, notes = _human(reviews, dimension, bool(system))
    bench = ReviewTable.of(reviews.cases, reviews.outcomes, reviews.people)
    material = gather(reviews.cases, bench, reviews.labels, human, metric=metrics[0], system=system)
    fits = []
    for at, metric in enumerate(metrics):
        if progress is not None:
            progress(at, len(metrics), metric.model)
        fits.append(fit(metric, material, FitSettings(resamples, seed)))
    report = ThresholdReport(
        dataset=reviews.name,
        benchmark=benchmark_hash(reviews.cases),
        claims=claims,
        system=material.system,
        chosen=material.chosen,
        dimension=human.dimension if human is not None else "",
        pairs=sum(len(own) for own in material.links.values()),
        addressed=sum(sum(own.values()) for own in material.links.values()),
        linked=len(material.links),
        fits=tuple(fits),
        resamples=resamples,
        seed=seed,
        warnings=(*material.warnings, *notes),
    )
    if out is not None:
        from reviewgauge.views.validity.threshold_page import threshold_page

        write_whole(Path(out), threshold_page(report).encode("utf-8", "replace"))
    return report


@dataclass(frozen=True)
class _Reviews:
    """Reviews with what people said of them."""

    name: str
    cases: Sequence[Case]
    outcomes: Sequence[Outcome]
    labels: Sequence[Label]
    scales: Mapping[str, Scale]
    people: frozenset[str]


def _crscore(model: str, claims: str) -> Crscore:
    metric = load(Metric, f"crscore(model={model!r}, soft=False, claims={claims!r})")
    assert isinstance(metric, Crscore)
    return metric


def _run(path: str) -> _Reviews:
    with RunFolder.open(path) as run:
        cases = run.cases()
        labels, _ = keep_latest(label for case in cases for label in case.labels)
        scales, people = scales_and_people(run.manifest.dataset)
        return _Reviews(run.manifest.dataset, cases, run.outcomes(), labels, scales, people)


def _recorded(word: str | Dataset, source: str | Path | None) -> _Reviews:
    dataset = find_dataset(word, source)
    cases = list(dataset.cases())
    reviews, recorded = dataset.recorded()
    outcomes = [Outcome(case=one.case, system=one.system, attempt=one.attempt, review=one) for one in reviews]
    labels = {label.to_line(): label for label in (*(one for case in cases for one in case.labels), *recorded)}
    return _Reviews(
        name=dataset_label(dataset),
        cases=cases,
        outcomes=outcomes,
        labels=[*labels.values()],
        scales=dataset.scales(),
        people=frozenset(dataset.human_systems),
    )


def _human(reviews: _Reviews, dimension: str, optional: bool) -> tuple[HumanValues | None, tuple[str, ...]]:
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
