"""`reviewgauge demo`: the main job on the shipped sample, offline: history, benchmark, leaderboard, report."""

from __future__ import annotations

import shutil
import sys

import click

from reviewgauge.api.demo import REPOSITORY, REVIEWERS, DemoResult, demo
from reviewgauge.cli.options import json_option
from reviewgauge.cli.output import emit, note, progress_bar
from reviewgauge.views.leaderboard import leaderboard_document
from reviewgauge.views.terminal.documents import document_view


@click.command("demo")
@click.option(
    "-o", "--out", default="runs/demo", show_default=True, type=click.Path(file_okay=False), help="The folder to fill."
)
@json_option
def command(out: str, as_json: bool) -> None:
    """Build a benchmark from the sample's history, let reviewers review it, and report. No network, no key."""
    if not as_json:
        note(f"building a benchmark from the history of {out}/{REPOSITORY}, and reviewing it: {', '.join(REVIEWERS)}")
    with progress_bar("demo", quiet=as_json) as progress:
        result = demo(out, progress)
    emit(result, as_json, lambda: _shown(result))


def _shown(result: DemoResult) -> list[object]:
    board, comparisons = result.score.leaderboards[0], next(iter(result.score.comparisons), None)
    program = "reviewgauge" if shutil.which("reviewgauge") else sys.argv[0]  # as `make demo` starts it
    return [
        document_view(leaderboard_document(board, comparisons, explain=None)),
        "! a label is a later fix: a true remark on code that was never fixed counts as false",
        "",
        "The newest changes with a defect put in, and without (build --recipe injected):",
        document_view(leaderboard_document(result.twins.leaderboards[0], None, explain=None)),
        "! d′ is 0 for whoever says the same with the defect and without it",
        f"report: {result.report.path}",
        f"next: {program} build YOUR-REPOSITORY -o bench",
    ]
