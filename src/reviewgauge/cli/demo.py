"""`reviewgauge demo`: the main job on the shipped sample, offline: history, benchmark, leaderboard, report."""

from __future__ import annotations

from collections.abc import Iterator

import click

from reviewgauge.api.build import CARD_MD
from reviewgauge.api.demo import REPOSITORY, REVIEWERS, DemoResult, demo
from reviewgauge.cli.options import json_option
from reviewgauge.cli.output import emit, note, progress_bar
from reviewgauge.cli.review import all_drops
from reviewgauge.core.reports.build_card import BuildCard
from reviewgauge.views.markdown import funnel_table
from reviewgauge.views.terminal import leaderboards
from reviewgauge.views.terminal.closing import drop_notes

NOISE = "What a history can show"  # the part of the card that says how sure the labels are
SHOWN = ("observed", "half-life", "rewritten")  # words in its figures that are shown here


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
    if not as_json:
        for line in drop_notes(all_drops(result.review)):  # which analysers were missing changes the figures
            note(line)

    def show() -> list[object]:
        card, board = result.build.card, result.score.leaderboards[0]
        built = [] if card is None else [funnel_table(card.funnel), *_about(result, card), ""]
        table = leaderboards.leaderboard(board, next(iter(result.score.comparisons), None))
        return [*built, table, *_end(result)]

    emit(result, as_json, show)


def _about(result: DemoResult, card: BuildCard) -> Iterator[str]:
    """What was built, what its own card says of its labels, and how far the recorded review reaches."""
    counts = card.counts
    yield (
        f"{result.build.folder}: {card.cases} cases ({counts.get('changed', 0)} changed, {counts.get('clean', 0)} "
        f"clean), {counts.get('findings', 0)} findings, benchmark {card.benchmark[:12]}"
    )
    yield f"card: {result.build.folder}/{CARD_MD}, which says of the labels, among others:"
    for section in card.sections:
        if section.title == NOISE:
            figures = {name: value for name, value in section.figures.items() if any(word in name for word in SHOWN)}
            yield from (f"  {name}: {value}" for name, value in figures.items())
    recorded = sorted({name for totals in result.review.totals[:1] for name in totals.systems})
    yield f"{', '.join(recorded)} was recorded on {result.recorded} of the {card.cases} cases"


def _end(result: DemoResult) -> Iterator[str]:
    yield "! a label is a later fix: a true remark on code that was never fixed counts as false"
    yield f"report: {result.report.path} ({result.report.bytes / 1e6:.1f} MB, open it in a browser)"
    yield f"next: reviewgauge review {result.build.folder} 'replay(path=\"my-tool.sarif\")' -o {result.review.run}"
