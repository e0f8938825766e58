"""Metrics measured for a verb that goes on with their scores, and the rehearsal that says what that would cost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from reviewgauge.api.judged_runs import is_run, make_run
from reviewgauge.api.model_options import ModelOptions, Spending, spending
from reviewgauge.api.stopping import executor_for, with_bill
from reviewgauge.core.errors import UserError
from reviewgauge.core.plugin import signature
from reviewgauge.core.protocols import Dataset, Metric, Progress, Stage
from reviewgauge.engine.rehearsal import rehearse_score
from reviewgauge.engine.run.folder import LOCK, RunFolder
from reviewgauge.engine.run.interruption import Interruption
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.engine.run.selection import Selection
from reviewgauge.engine.score import ScoreTotals, score
from reviewgauge.models.cache.recorded_calls import CALLS

ALL = Selection()  # everything that is missing


class MeasureResult(NamedTuple):
    """What was measured, metric by metric, and what it cost."""

    totals: tuple[ScoreTotals, ...]
    spending: Spending


def measure_run(
    run: RunFolder,
    metrics: Sequence[Metric],
    models: ModelOptions,
    *,
    retry_failed: bool = False,
    only: Selection = ALL,
    workers: int | None = None,
    stop: Interruption,
    progress: Progress | None = None,
) -> MeasureResult:
    """Measure what is missing on a run that is open for writing; what asks a model in as many threads as it may.

    What ended it early stands in `stop`.
    """
    with models.door(run) as door:
        totals = tuple(
            score(
                run,
                metric,
                executor=executor_for(metric, workers, models.in_flight, otherwise=1),
                retry_failed=retry_failed,
                only=only,
                stop=stop,
                progress=with_bill(progress, door),
            )
            for metric in metrics
        )
        return MeasureResult(totals, spending(door))


def rehearse_run(
    run: RunFolder,
    metrics: Sequence[Metric],
    models: ModelOptions,
    *,
    retry_failed: bool = False,
    only: Selection = ALL,
    workers: int | None = None,
    stop: Interruption,
    progress: Progress | None = None,
) -> MeasureResult:
    """What measuring would ask models for; nothing is written."""
    with models.door() as door:
        totals = tuple(
            ScoreTotals(
                metric=signature(metric),
                left=rehearse_score(
                    run,
                    metric,
                    executor=executor_for(metric, workers, models.in_flight, otherwise=1),
                    retry_failed=retry_failed,
                    only=only,
                    stop=stop,
                    progress=progress,
                ),
            )
            for metric in metrics
        )
        return MeasureResult(totals, spending(door))


def measured_words(totals: Sequence[ScoreTotals], seconds: float, estimated: bool, unchanged: bool = False) -> str:
    """The closing line on what was measured."""
    left = sum(t.left for t in totals)
    if estimated:
        return f"{left:,} reviews to measure"
    counts = {
        "reviews measured": sum(t.done for t in totals),
        "measured before": sum(t.skipped for t in totals),
        "not applicable": sum(t.not_applicable for t in totals),
        "failed": sum(sum(t.failed.values()) for t in totals),
        "failed before": sum(t.failed_before for t in totals),
        "reviews had failed": sum(t.failed_reviews for t in totals),
    }
    said = [f"{n:,} {what}" for what, n in counts.items() if n or what == "reviews measured"]
    said += ["nothing changed, so the figures are those of the last time"] if unchanged else []
    said += [f"{left:,} left undone"] if left else []
    return f"{'; '.join(said)}; {seconds:.1f} s"


def next_words(totals: Sequence[ScoreTotals]) -> list[str]:
    """What to do about failures. What was stopped says so itself."""
    failed = sum(sum(one.failed.values()) + one.failed_before for one in totals)
    if not failed or any(one.stopped for one in totals):
        return []
    return [f"{failed:,} failed: the same command with --retry-failed tries them again"]


def all_failed(totals: Sequence[ScoreTotals]) -> bool:
    """Whether all that a metric has by now are its own failures."""
    return any(
        (one.failed or one.failed_before) and not one.done + one.not_applicable + one.skipped - one.failed_before
        for one in totals
    )


def interruptible(stop: Interruption, progress: Progress | None) -> Progress:
    """`progress` for work of which nothing is kept half done: Ctrl-C ends it at the next step."""

    def say(done: int, total: int, what: str) -> None:
        if stop.by_user:
            raise KeyboardInterrupt
        if progress is not None:
            progress(done, total, what)

    return say


@contextmanager
def run_to_rehearse(
    word: str | Dataset,
    folder: Path,
    *,
    source: str | Path | None = None,
    labels: str | Path | None = None,
    stages: Sequence[str | Stage] = (),
) -> Iterator[RunFolder]:
    """The run that a word names, or the one that `folder` would become, made where it leaves no trace.

    What `folder` holds already is measured already. Raises what the real thing would raise.
    """
    if is_run(word):
        with RunFolder.open(str(word)) as run:
            yield run
        return
    with TemporaryDirectory() as temporary:
        copy = Path(temporary) / "run"
        if (folder / MANIFEST).is_file():
            shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(LOCK, CALLS, "*.html", "*.csv"))
        try:
            run = make_run(word, copy, source=source, labels=labels, stages=stages).run
        except UserError as error:
            raise UserError(error.problem.replace(str(copy), str(folder)), remedy=error.remedy) from None
        with run:
            yield run
