"""`reviewgauge doctor`: can this benchmark and this metric be trusted at all?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reviewgauge.analysis.doctor.report import doctor as examine
from reviewgauge.api.resolve import find_dataset, find_metrics, find_stages, staged_label
from reviewgauge.core.protocols import Dataset, Metric, Stage
from reviewgauge.core.reports.doctor import DoctorReport
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.engine.measure import usual_metrics
from reviewgauge.engine.run.model_options import ModelOptions, Spending, spending


def doctor(
    dataset: str | Dataset,
    *metrics: str | Metric,
    source: str | Path | None = None,
    stages: Sequence[str | Stage] = (),
    models: ModelOptions | None = None,
) -> DoctorReport:
    """Run the probes through a data set and metrics (`hits` when none is named), and lint the data.

    Injected defects are examined with `twins` too. `stages` narrow the cases first; their drops are among the notes.
    `models`: how metrics ask models.
    """
    return examine_with_cost(dataset, metrics, source, stages, models or ModelOptions())[0]


def examine_with_cost(
    dataset: str | Dataset,
    metrics: Sequence[str | Metric],
    source: str | Path | None,
    stages: Sequence[str | Stage],
    models: ModelOptions,
) -> tuple[DoctorReport, Spending, bool]:
    """(the report, what it cost, whether a fake model answered)."""
    found = find_dataset(dataset, source)
    narrowing = find_stages(stages)
    cases, drops = apply_stages(found.cases(), narrowing)
    wanted = find_metrics(metrics or (*(one for one in usual_metrics(cases) if one == "twins"), "hits"))
    fakes: set[bool] = set()
    with models.client() as client:
        client.record = lambda call: fakes.add(call.answer.fake)
        report = examine(staged_label(found, narrowing), cases, wanted, [*found.notes(), *drops])
        return report, spending(client), True in fakes
