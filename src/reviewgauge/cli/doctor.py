"""`reviewgauge doctor`: can this benchmark and this metric be trusted at all?"""

from __future__ import annotations

from collections.abc import Sequence

import click

from reviewgauge.api.doctor import examine_with_cost
from reviewgauge.cli.options import from_option, json_option, model_options, stage_option, verb
from reviewgauge.cli.output import emit, note
from reviewgauge.engine.run.model_options import ModelOptions
from reviewgauge.views.terminal import tables


@verb("doctor")
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
    report, spent, fake = examine_with_cost(dataset, metrics, source, stages, models)
    if spent.estimated:  # what the fake model says of the probes is not a finding
        emit(spent, as_json, lambda: spent.sentence or "Dry run: no model would be asked.")
        return 0
    emit(report, as_json, lambda: tables.doctor(report))
    if spent.sentence:
        note(spent.sentence)
    if fake:
        note("a fake model answered: these checks say nothing of a real one")
    if not report.ok:
        note("something that must hold does not: see what is marked as failed or as an error")
    return 0 if report.ok else 1
