"""`reviewgauge compare --attempts`: how good several attempts are together, by their number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reviewgauge.analysis.curve import CurveSettings, ensemble_curve
from reviewgauge.api.resolve import find_metrics
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import check_page, write_whole
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.reports.curve import Curve
from reviewgauge.engine.run.executors import Interruption, Serial, Threads, abort_on_interrupt
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.model_options import ModelOptions, Spending, spending
from reviewgauge.judges.pairs.asking import judge_of
from reviewgauge.models.chat.client import chat_model
from reviewgauge.reviewers.aggregation.ballot import check_judge
from reviewgauge.views.curve import curve_page


class CurveResult(Record):
    """The curve, and what it cost. With `--dry-run` there is no curve, and the cost is the estimate."""

    schema_version: int = 1
    curve: Curve | None
    spending: Spending = Spending()


def curve(
    run: str | Path,
    *,
    systems: Sequence[str] = (),
    metric: str | Metric = "hits",
    judge: str = "lexical",
    least: int = 0,
    model: str = "",
    sizes: Sequence[int] = (),
    subsets: int = 20,
    resamples: int = 10_000,
    seed: int = 0,
    out: str | Path | None = None,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> CurveResult:
    """Put the attempts in a run together, by votes and, where one is named, by a model, for each number of attempts.

    The reviewers are not asked again. `systems` are those whose attempts are taken, by default the only one with
    several; of more than one, their attempts are mixed. `sizes` are the numbers of attempts, `subsets` how many
    subsets of each are drawn. `out` is where a page with the plots goes.
    """
    check_page(out)
    models = models or ModelOptions()
    (measure,) = find_metrics([metric])
    try:
        check_judge(judge)
    except ValueError as error:
        raise UserError(str(error)) from None
    settings = CurveSettings(measure, tuple(systems), judge, least, model, tuple(sizes), subsets, resamples, seed)
    asks = bool(model or measure.models or judge_of(judge).models)
    with RunFolder.open(run) as folder, models.client() as client:
        if model:
            chat_model(model)
        watched = abort_on_interrupt(stop or Interruption(), progress)
        executor = Threads(models.in_flight) if asks else Serial()
        found = ensemble_curve(folder, settings, executor, watched)
        spent = spending(client)
    if models.dry_run:  # what the fake model makes of the attempts is not a finding
        return CurveResult(curve=None, spending=spent)
    if out is not None:
        write_whole(Path(out), curve_page(found).encode("utf-8", "replace"))
    return CurveResult(curve=found, spending=spent)
