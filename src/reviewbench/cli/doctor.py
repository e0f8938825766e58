"""`reviewbench doctor`: can this benchmark and this metric be trusted at all?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from reviewbench.analysis.doctor import doctor as examine
from reviewbench.cli._model_options import ModelOptions, Spending, model_options, spending
from reviewbench.cli._output import emit, from_option, json_option, note, stage_option
from reviewbench.cli._words import find_dataset, find_metrics, find_stages, staged_label
from reviewbench.core.protocols import Dataset, Metric, Stage
from reviewbench.core.summaries import DoctorReport
from reviewbench.engine.stages import apply_stages


def doctor(
    dataset: str | Dataset,
    *metrics: str | Metric,
    source: str | Path | None = None,
    stages: Sequence[str | Stage] = (),
    models: ModelOptions | None = None,
) -> DoctorReport:
    """Run the probes through a data set and metrics (`hits` when none is named), and lint the data.

    `stages` narrow the cases first; their drops stand among the notes. `models`: how metrics ask models.
    """
    return _examined(dataset, metrics, source, stages, models or ModelOptions())[0]


def _examined(
    dataset: str | Dataset,
    metrics: Sequence[str | Metric],
    source: str | Path | None,
    stages: Sequence[str | Stage],
    models: ModelOptions,
) -> tuple[DoctorReport, Spending, bool]:
    """(the report, what it cost, whether a fake model answered)."""
    found = find_dataset(dataset, source)
    wanted = find_metrics(metrics)
    narrowing = find_stages(stages)
    cases, drops = apply_stages(found.cases(), narrowing)
    fakes: set[bool] = set()
    with models.door() as door:
        door.record = lambda call: fakes.add(call.answer.fake)
        report = examine(staged_label(found, narrowing), cases, wanted, [*found.notes(), *drops])
        return report, spending(door), True in fakes


@click.command("doctor")
@click.argument("dataset")
@click.argument("metrics", nargs=-1)
@from_option
@stage_option
@model_options
@json_option
def command(
    dataset: str,
    metrics: Sequence[str],
    source: str | None,
    stages: Sequence[str],
    models: ModelOptions,
    as_json: bool,
) -> int:
    """Probe DATASET with METRICS (default: hits): what must hold, what fails, and the smallest case that shows it.

    The exit code is 1 when something that must hold does not.
    """
    report, spent, fake = _examined(dataset, metrics, source, stages, models)
    if spent.estimated:  # what the fake model says of the probes is no finding
        emit(spent, as_json, lambda: spent.sentence or "Dry run: no model would be asked.")
        return 0

    def show() -> object:
        from reviewbench.views import tables

        return tables.doctor(report)

    emit(report, as_json, show)
    if spent.sentence:
        note(spent.sentence)
    if fake:
        note("a fake model answered: these checks say nothing of a real one")
    if not report.ok:
        note("something that must hold does not: see the checks marked as failed")
    return 0 if report.ok else 1
