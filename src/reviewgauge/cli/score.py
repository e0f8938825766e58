"""`reviewgauge score`: run x metrics, and the leaderboard; the same reviews on another version; labels by a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from reviewgauge.api.classify import classify
from reviewgauge.api.rescore import RescoreResult, rescore
from reviewgauge.api.score import ScoreResult, score
from reviewgauge.cli.options import (
    json_option,
    model_options,
    only_option,
    refuse,
    resamples_option,
    seed_option,
    settings_in_force,
    slice_option,
    table_options,
    verb,
    workers_option,
)
from reviewgauge.cli.output import emit, note, note_reasons, progress_bar, run_stoppable, write_tables
from reviewgauge.engine.run.executors import CTRL_C, interruptible
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.engine.run.model_options import ModelOptions
from reviewgauge.views.gates import versions_document
from reviewgauge.views.leaderboard import leaderboard_document
from reviewgauge.views.terminal.closing import after_score, classify_lines, nothing_scored, score_line
from reviewgauge.views.terminal.documents import document_view


@verb("score")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.argument("metrics", nargs=-1)
@slice_option
@resamples_option
@seed_option
@workers_option
@only_option
@click.option("--explain", is_flag=True, help="Say what the columns mean, how figures were made, and every caveat.")
@click.option("--on", help="Measure the same reviews on another version of their benchmark: a data set or folder.")
@click.option("-o", "--run", "new", type=click.Path(file_okay=False), help="With --on: the folder of the new run.")
@click.option(
    "--labels", metavar="MODEL", help='Let a model sort the comments, or domain(model="openai:gpt-5", votes=3) more.'
)
@table_options
@model_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    run: str,
    metrics: Sequence[str],
    as_json: bool,
    explain: bool,
    on: str | None,
    new: str | None,
    labels: str | None,
    models: ModelOptions,
    files: Mapping[str, str],
    **options: Any,
) -> int:
    """Measure the reviews of RUN with METRICS and print the leaderboard.

    Without METRICS it is hits, or the usual one of a small task: assess, pass_at_k to locate, rouge to comment; of
    injected defects twins too. Killed or interrupted, the same command goes on where it stopped. Ctrl-C finishes what
    is in flight, twice stops at once.

    --on reuses the stored reviews of RUN (and of more runs beside it) on another version of the benchmark, and shows
    old and new scores side by side; the changes must be identical, and those that are gone are left out. --labels
    lets a model sort what RUN holds by category, domain, type or context, and keeps its votes as labels to slice by.
    """
    usual = settings_in_force()
    judge = usual.judge or ""
    if labels is not None:
        refuse(
            ctx,
            "with --labels",
            "metrics",
            "slices",
            "resamples",
            "seed",
            "workers",
            "only",
            "explain",
            "on",
            "new",
            *files,
        )
        return _label(run, labels, models, as_json)
    if on is not None:
        refuse(ctx, "with --on", "slices", "explain")
        del options["slices"]
        return _score_again([run, *metrics], on, new, as_json, files=files, judge=judge, models=models, **options)
    refuse(ctx, "without --on", "new")
    work = partial(score, run, *metrics, judge=judge, test=usual.test or "", models=models, **options)
    write = partial(_write, files=files)
    result = run_stoppable("scoring", work, as_json, partial(_shown, explain=explain), note_first=write)
    return int(any(nothing_scored(board) for board in result.leaderboards))


def _write(result: ScoreResult, files: Mapping[str, str]) -> None:
    write_tables(result.tables.values(), files)


def _shown(result: ScoreResult, explain: bool) -> list[object]:
    note_reasons(result.totals)
    parts: list[object] = [score_line(totals, result.spending.estimated) for totals in result.totals]
    parts += [result.spending.sentence] if result.spending.sentence else []
    for board in result.leaderboards:
        duels = next((c for c in result.comparisons if c.metric == board.metric), None)
        parts.append(document_view(leaderboard_document(board, duels, explain), explain=explain))
    return [*parts, *after_score(result.run, result.totals, result.leaderboards)]


def _score_again(
    words: Sequence[str], on: str, new: str | None, as_json: bool, files: Mapping[str, str], **options: Any
) -> int:
    """Runs and metrics stand in one list: what is the folder of a run is a run."""
    if new is None:
        raise click.UsageError("--on needs a folder for the new run: -o NEW")
    runs = [word for word in words if (Path(word) / MANIFEST).is_file()]
    metrics = [word for word in words if word not in runs]
    work = partial(rescore, *runs, on=on, run=new, metrics=metrics, **options)
    run_stoppable("scoring", work, as_json, _versions, note_first=partial(_write_versions, files=files))
    return 0


def _write_versions(result: RescoreResult, files: Mapping[str, str]) -> None:
    write_tables((one for table in result.tables for one in versions_document(table).tables.values()), files)


def _versions(result: RescoreResult) -> list[object]:
    note_reasons(result.totals)
    parts: list[object] = [document_view(versions_document(table)) for table in result.tables]
    parts += [score_line(totals, result.spending.estimated) for totals in result.totals]
    parts += [result.spending.sentence] if result.spending.sentence else []
    return [*parts, *([f"next: reviewgauge report {result.run} -o report.html"] if result.tables else [])]


def _label(run: str, labels: str, models: ModelOptions, as_json: bool) -> int:
    with progress_bar("classifying", quiet=as_json) as progress, interruptible() as stop:
        result = classify(run, labels, models=models, stop=stop, progress=progress)
    emit(result, as_json, lambda: "\n".join(classify_lines(result.sorted, result.spending)))
    if not result.sorted.stopped:
        return int(bool(result.sorted.failed) and not result.sorted.done + result.sorted.skipped)
    note(f"stopped: {result.sorted.stopped}; {result.sorted.left} left: run the same command again to go on")
    return 130 if result.sorted.stopped == CTRL_C else 2
