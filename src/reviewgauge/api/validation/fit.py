"""`validate --fit`: several metrics made into one grade, fitted to human labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reviewgauge.analysis.validity.combination import fit_combination
from reviewgauge.analysis.validity.human_values import HumanValues, human_values
from reviewgauge.analysis.validity.report import ValiditySettings
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.api.validation.data import NO_LABELS, JudgedRun
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.reports.validity import FitReport
from reviewgauge.core.specs import short_spec, signature
from reviewgauge.metrics.combined import Combined, asked_by, reference_key


def fit_metrics(
    judged: JudgedRun,
    metrics: Sequence[Metric],
    file: str | Path,
    dimension: str,
    settings: ValiditySettings,
    progress: Progress | None,
) -> FitReport:
    """Fit `metrics` to the human labels of a run, and write the file that `combined` reads."""
    if Path(file).is_dir():
        raise UserError(f"{file} is a folder", remedy="name a file, such as combined.json")
    human = _one_dimension(judged, dimension)
    run, cases = judged.run, judged.run.cases()
    model, report = fit_combination(
        ReviewTable.of(cases, run.outcomes(), judged.people),
        human,
        {short_spec(metric): (metric, run.scores(signature(metric))) for metric in metrics},
        {case.id: reference_key(case) for case in cases},
        settings,
        dataset=run.manifest.dataset,
        progress=progress,
    )
    write_whole(Path(file), model.model_dump_json().encode() + b"\n")
    spec = short_spec(Combined(str(file), asked_by({short_spec(metric): metric for metric in metrics})))
    return report.model_copy(update={"file": str(file), "spec": spec, "notes": tuple(_stacked(metrics))})


def _stacked(metrics: Sequence[Metric]) -> list[str]:
    """Notes on metrics that were fitted to labels themselves, with other folds than those made here."""
    return [
        f"{short_spec(metric)} was {metric.estimate_note}: on the same labels its folds are others than those made "
        "here, so that what is fitted over it has seen labels of each fold"
        for metric in metrics
        if isinstance(metric, Combined)
    ]


def _one_dimension(judged: JudgedRun, wanted: str) -> HumanValues:
    humans, notes = human_values(judged.labels, judged.scales)
    known = {human.dimension: human for human in humans}
    if not known:
        raise UserError(notes[0] if notes else "there are no human labels on reviews", remedy=NO_LABELS)
    if not wanted and len(known) > 1:
        raise UserError(f"people judged {', '.join(known)}", remedy="choose one with --dimension")
    chosen = known.get(wanted or next(iter(known)))
    if chosen is None:
        raise UserError(f"nobody judged {wanted!r}", remedy=f"there are: {', '.join(known)}")
    return chosen
