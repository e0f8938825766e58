"""`reviewbench demo`: the main job on the shipped sample, offline, from nothing to a leaderboard and a report."""

from __future__ import annotations

from pathlib import Path

import click

from reviewbench.cli._output import Progress, emit, json_option, note, progress_bar
from reviewbench.cli.report import ReportResult, report
from reviewbench.cli.review import ReviewResult, counted_notes, review
from reviewbench.cli.score import ScoreResult, score
from reviewbench.core.base import Record

REVIEWERS = ("recorded", "analyser", "parrot", "silent")


class DemoResult(Record):
    """What the demo did, step by step."""

    schema_version: int = 1
    review: ReviewResult
    score: ScoreResult
    report: ReportResult


def demo(run: str | Path = "runs/demo", progress: Progress | None = None) -> DemoResult:
    """Review the sample with real static analysers, with noise and with silence, beside the review that came with it.

    Then score and report. No network.
    """
    reviewed = review("sample", *REVIEWERS, run=run, progress=progress)
    scored = score(run, "hits", slices=("language", "category"), progress=progress)
    written = report(run, out=Path(run) / "report.html", slices=("language", "category"))
    return DemoResult(review=reviewed, score=scored, report=written)


@click.command("demo")
@click.option("-o", "--run", "run", default="runs/demo", show_default=True, type=click.Path(file_okay=False))
@json_option
def command(run: str, as_json: bool) -> None:
    """Review, score and report the sample that ships with ReviewBench. Needs no network and no key."""
    if not as_json:
        note(f"reviewing the sample with {', '.join(REVIEWERS)} into {run}")
    with progress_bar("demo", quiet=as_json) as progress:
        result = demo(run, progress)
    board = result.score.leaderboards[0]
    if not as_json:
        for line in counted_notes(result.review):  # which analysers were missing changes the figures
            note(line)

    def show() -> object:
        from rich.console import Group
        from rich.markup import escape

        from reviewbench.views import tables

        return Group(
            tables.leaderboard(board, next(iter(result.score.comparisons), None)),
            escape(f"report: {result.report.path} ({result.report.bytes / 1e6:.1f} MB, open it in a browser)"),
            escape(f"next: reviewbench review sample 'replay(path=\"my-tool.sarif\")' -o {run}"),
        )

    emit(result, as_json, show)
