"""`reviewbench demo`: the main job on the shipped sample, offline: history, benchmark, leaderboard, report."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import click

from reviewbench.cli._output import Progress, emit, json_option, note, progress_bar
from reviewbench.cli.build import CARD_MD, BuildResult, build
from reviewbench.cli.report import ReportResult, report
from reviewbench.cli.review import ReviewResult, counted_notes, review
from reviewbench.cli.score import ScoreResult, score
from reviewbench.core.base import Record
from reviewbench.core.cards import BuildCard
from reviewbench.core.errors import UserError
from reviewbench.datasets.jsonl import REVIEWS, Jsonl
from reviewbench.datasets.sample import MAINTAINED, Sample
from reviewbench.engine.journal import write_whole
from reviewbench.repo.git import Repository

REPOSITORY, BENCH, RUN, REPORT = "wayside", "bench", "run", "report.html"
REVIEWERS = ("recorded", "analyser", "parrot", "silent")
NOISE = "What a history can show"  # the part of the card that says how sure the labels are
TOLD = ("observed", "half-life", "rewritten")  # words in its figures that are shown here
SLICES = ("language", "year")
# A change a month, so a fix may take a year and a half; the recipe's own horizon is a year.
SETTINGS = {"branch": MAINTAINED, "horizon": "540", "name": "example/wayside"}


class DemoResult(Record):
    """What the demo did, step by step. `recorded` is how many of the benchmark's cases the recorded review is on."""

    schema_version: int = 1
    build: BuildResult
    recorded: int
    review: ReviewResult
    score: ScoreResult
    report: ReportResult


def demo(out: str | Path = "runs/demo", progress: Progress | None = None) -> DemoResult:
    """Make a benchmark from the history of the sample's repository, and let reviewers review it.

    Real static analysers, noise and silence review every case. The review that came with the sample is of its first 24
    changes, and is put beside those that are cases. Then score and report. No network; a second call goes on where the
    first one stopped.
    """
    folder = Path(out)
    _check_out(folder / REPOSITORY)
    bench, run = folder / BENCH, folder / RUN
    built = build(folder / REPOSITORY, out=bench, settings=SETTINGS, progress=progress)
    recorded = _hand_over(bench)
    reviewed = review(str(bench), *REVIEWERS, run=run, progress=progress)
    scored = score(run, "hits", slices=SLICES, progress=progress)
    written = report(run, out=folder / REPORT, slices=SLICES, title="Code review on the history of a sample repository")
    return DemoResult(build=built, recorded=recorded, review=reviewed, score=scored, report=written)


def _check_out(folder: Path) -> None:
    """The sample's repository, with what came after its 24 changes: made now, or as an earlier call left it."""
    sample = Sample()
    if not folder.exists():
        part = folder.with_name(f".{folder.name}")  # renamed when it is whole: a killed clone is no repository
        shutil.rmtree(part, ignore_errors=True)
        sample.check_out(part, MAINTAINED)
        part.rename(folder)
    elif Repository(folder).run("rev-parse", f"refs/heads/{MAINTAINED}").decode().strip() != sample.tip(MAINTAINED):
        raise UserError(f"{folder} is not the sample as it ships", remedy="name another folder with -o")


def _hand_over(bench: Path) -> int:
    """Put the sample's recorded reviews beside the cases that are of the same commits; returns how many."""
    sample = Sample()
    reviews, _ = sample.recorded()
    heads = {case.id: case.change.head for case in sample.cases()}
    said = {heads[one.case]: one for one in reviews}
    placed = [
        said[case.change.head].model_copy(update={"case": case.id})
        for case in Jsonl(path=str(bench)).cases()
        if case.change.head in said
    ]
    write_whole(bench / REVIEWS, b"".join(one.to_line() for one in placed))
    return len(placed)


@click.command("demo")
@click.option("-o", "--out", default="runs/demo", show_default=True, type=click.Path(file_okay=False))
@json_option
def command(out: str, as_json: bool) -> None:
    """Build a benchmark from the sample's history, let reviewers review it, and report. No network, no key."""
    if not as_json:
        note(f"building a benchmark from the history of {out}/{REPOSITORY}, and reviewing it: {', '.join(REVIEWERS)}")
    with progress_bar("demo", quiet=as_json) as progress:
        result = demo(out, progress)
    if not as_json:
        for line in counted_notes(result.review):  # which analysers were missing changes the figures
            note(line)

    def show() -> object:
        from rich.console import Group
        from rich.markup import escape

        from reviewbench.views import tables
        from reviewbench.views.build_card import funnel_table

        card, board = result.build.card, result.score.leaderboards[0]
        return Group(
            *(() if card is None else (funnel_table(card.funnel), escape("\n".join(_about(result, card))), "")),
            tables.leaderboard(board, next(iter(result.score.comparisons), None)),
            escape("\n".join(_end(result))),
        )

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
            told = {name: value for name, value in section.figures.items() if any(word in name for word in TOLD)}
            yield from (f"  {name}: {value}" for name, value in told.items())
    recorded = sorted({name for totals in result.review.totals[:1] for name in totals.systems})
    yield f"{', '.join(recorded)} was recorded on {result.recorded} of the {card.cases} cases"


def _end(result: DemoResult) -> Iterator[str]:
    yield "! a label is what was mended later: a true remark on what nobody mended counts as false"
    yield f"report: {result.report.path} ({result.report.bytes / 1e6:.1f} MB, open it in a browser)"
    yield f"next: reviewbench review {result.build.folder} 'replay(path=\"my-tool.sarif\")' -o {result.review.run}"
