"""`reviewbench doctor`: can this benchmark and this metric be trusted at all?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from reviewbench.analysis.doctor import doctor as examine
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
) -> DoctorReport:
    """Run the probes through a data set and metrics (`hits` when none is named), and lint the data.

    `stages` narrow the cases first; their drops stand among the notes.
    """
    found = find_dataset(dataset, source)
    wanted = find_metrics(metrics)
    narrowing = find_stages(stages)
    cases, drops = apply_stages(found.cases(), narrowing)
    return examine(staged_label(found, narrowing), cases, wanted, [*found.notes(), *drops])


@click.command("doctor")
@click.argument("dataset")
@click.argument("metrics", nargs=-1)
@from_option
@stage_option
@json_option
def command(dataset: str, metrics: Sequence[str], source: str | None, stages: Sequence[str], as_json: bool) -> int:
    """Probe DATASET with METRICS (default: hits): what must hold, what fails, and the smallest case that shows it.

    The exit code is 1 when something that must hold does not.
    """
    report = doctor(dataset, *metrics, source=source, stages=stages)

    def show() -> object:
        from reviewbench.views import tables

        return tables.doctor(report)

    emit(report, as_json, show)
    if not report.ok:
        note("something that must hold does not: see the checks marked as failed")
    return 0 if report.ok else 1
