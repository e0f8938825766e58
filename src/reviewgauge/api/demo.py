"""`reviewgauge demo`: the main job on the shipped sample, offline: history, benchmark, leaderboard, report."""

from __future__ import annotations

import shutil
from pathlib import Path

from reviewgauge.api.build import BuildResult, build
from reviewgauge.api.report import ReportResult, report
from reviewgauge.api.review import ReviewResult, review
from reviewgauge.api.score import ScoreResult, score
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import check_unnamed, write_whole
from reviewgauge.core.protocols import Progress
from reviewgauge.datasets.jsonl import REVIEWS, Jsonl
from reviewgauge.datasets.sample import MAINTAINED, Sample
from reviewgauge.repo.git.repository import Repository

REPOSITORY, BENCH, RUN, REPORT = "wayside", "bench", "run", "report.html"
TWINS, TWINS_RUN = "twins", "twins-run"
LIVE = ("analyser", "parrot", "silent")  # those that can review what nobody has seen before
REVIEWERS = ("recorded", *LIVE)
SLICES = ("language", "year")
# A change a month, so a fix may take a year and a half; the code was still young, which speaks against its labels.
RECORDED = 17  # of the cases, the oldest: the recorded reviewer saw the changes up to there
INJECTED = {"branch": MAINTAINED, "newest": "40", "name": "example/wayside"}
SETTINGS = {"branch": MAINTAINED, "clean_days": "540", "certainty": "0", "name": "example/wayside"}


class DemoResult(Record):
    """What the demo did, step by step."""

    schema_version: int = 1
    build: BuildResult
    review: ReviewResult
    score: ScoreResult
    report: ReportResult
    twins: ScoreResult


def demo(out: str | Path = "runs/demo", progress: Progress | None = None) -> DemoResult:
    """Make a benchmark from the history of the sample's repository, and let reviewers review it.

    The cases are those changes that the recorded review is of. The static analysers that came with ReviewGauge, noise
    and silence review them too. Then score and report. `twins`: the same history's newest changes with defects put in,
    beside the same changes without. No network; a second call goes on where the first one stopped.
    """
    folder = Path(out)
    check_unnamed(folder)
    _check_out(folder / REPOSITORY)
    bench, run = folder / BENCH, folder / RUN
    built = build(
        folder / REPOSITORY, out=bench, settings=SETTINGS, stages=(f"first(cases={RECORDED})",), progress=progress
    )
    _write_recorded(bench)
    reviewed = review(str(bench), *REVIEWERS, run=run, progress=progress)
    scored = score(run, "hits", slices=SLICES, progress=progress)
    written = report(run, out=folder / REPORT, slices=SLICES, title="Code review on the history of a sample repository")
    twins = folder / TWINS_RUN
    build(folder / REPOSITORY, out=folder / TWINS, recipe="injected", settings=INJECTED, progress=progress)
    review(str(folder / TWINS), *LIVE, run=twins, progress=progress)
    told = score(twins, "twins", progress=progress)
    return DemoResult(build=built, review=reviewed, score=scored, report=written, twins=told)


def _check_out(folder: Path) -> None:
    """Check out the sample's repository, with what came after its 24 changes, unless an earlier call did."""
    sample = Sample()
    if not folder.exists():
        part = folder.with_name(f".{folder.name}")  # renamed when it is whole: a killed clone is not a repository
        shutil.rmtree(part, ignore_errors=True)
        sample.check_out(part, MAINTAINED)
        part.rename(folder)
    elif Repository(folder).run("rev-parse", f"refs/heads/{MAINTAINED}").decode().strip() != sample.tip(MAINTAINED):
        raise UserError(f"{folder} is not the sample as it ships", remedy="name another folder with -o")


def _write_recorded(bench: Path) -> None:
    """Put the sample's recorded reviews beside the cases, which are of the same commits."""
    sample = Sample()
    reviews, _ = sample.recorded()
    heads = {case.id: case.change.head for case in sample.cases()}
    reviewed = {heads[one.case]: one for one in reviews}
    placed = [
        reviewed[case.change.head].model_copy(update={"case": case.id}) for case in Jsonl(path=str(bench)).cases()
    ]
    write_whole(bench / REVIEWS, b"".join(one.to_line() for one in placed))
