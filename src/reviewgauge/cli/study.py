"""`reviewgauge study`: one file, a grid of benchmarks, reviewers and metrics, and the tables of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from reviewgauge.api.study import StudyResult, study
from reviewgauge.cli.options import json_option, model_options, seed_option, verb, workers_option
from reviewgauge.cli.output import note, run_stoppable
from reviewgauge.core.reports.study import Estimate
from reviewgauge.views.figures import counted
from reviewgauge.views.terminal.documents import estimate_lines, study_view


@verb("study")
@click.argument("file")
@click.option("-o", "--out", required=True, type=click.Path(file_okay=False), help="The folder for runs and tables.")
@click.option("--on", default="", metavar="NAME", help="A variant of the file, such as sample.")
@click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="[BENCHMARK=]FOLDER",
    help="The folder that holds the files of a benchmark, or of all; may be given again.",
)
@click.option("--resamples", type=int, help="Bootstrap resamples (default: 10,000; 1,000 of metrics against people).")
@click.option("--trust", is_flag=True, help="Let the file name programs, addresses and files outside of its folder.")
@click.option("--retry-failed", is_flag=True, help="Do what is missing, and try again what failed before.")
@seed_option
@workers_option
@model_options
@json_option
def command(file: str, as_json: bool, sources: Sequence[str], **options: Any) -> int:
    """Run the grid of benchmarks, reviewers and metrics that FILE describes, and make its tables.

    FILE is a TOML file, or the name of one that ships: aacr_bench, context_crbench, crscore, graded_reviews, swr_bench.
    Prints one estimate first; --dry-run ends there. Killed or interrupted, the same command goes on where it stopped.
    OUT gets run folders, which every other verb reads, the tables as CSV, Markdown and LaTeX, and report.html. The exit
    code is 1 when a cell has no result.
    """
    named = dict(map(_source, sources))
    work = partial(study, file, sources=named, **options, announce=_announce)
    result = run_stoppable("study", work, as_json, _shown)
    return int(result.report is not None and not result.ok)


def _source(word: str) -> tuple[str, str]:
    """(benchmark, folder); no benchmark stands for all."""
    name, equals, folder = word.partition("=")
    return (name, folder) if equals and not Path(word).exists() else ("", word)


def _announce(found: Estimate) -> None:
    for line in estimate_lines(found):
        note(line)


def _shown(result: StudyResult) -> list[object]:
    if result.report is None:
        return []
    paid = ""
    if result.calls:
        price = "" if result.dollars is None else f", ${result.dollars:.2f}"
        paid = f"; {result.calls:,} calls paid{price}{' (an invented price)' * result.estimate.invented}"
    out = Path(result.out)
    tables = f"{counted(len(result.report.tables), 'table')} in {out / 'tables'} as CSV, Markdown and LaTeX"
    return [study_view(result.report), f"{out / 'report.html'}: the page; {tables}{paid}"]
