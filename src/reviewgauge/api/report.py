"""`reviewgauge report`: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reviewgauge.analysis.compare.compare import Pairs
from reviewgauge.analysis.stats.score_table import stated_facets
from reviewgauge.api.runs import ScoredRun, read_runs
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.leaderboard import ComparisonTable
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.journal import write_error, write_whole

MOST_PAIRED = 50  # systems: beyond, the table of all pairs alone would outgrow the rest of the page


class ReportResult(Record):
    """The file that was written."""

    schema_version: int = 1
    path: str
    bytes: int
    systems: int
    cases: int


def report(
    *runs: str | Path,
    out: str | Path,
    metric: str | None = None,
    slices: Sequence[str] = (),
    title: str = "",
    resamples: int = 10_000,
    seed: int = 0,
) -> ReportResult:
    """Write the report of one or more runs of one benchmark to `out`.

    `slices` are facts and facets to break down by; by default those with two to twelve values.
    """
    from reviewgauge.views.report.report import ReportData, render

    entries = read_runs(runs, metric)
    boards, tables = [], []
    for measured in entries:
        boards.append(measured.leaderboard(list(slices) or telling_slices(measured), resamples, seed))
        tables += _comparisons(measured, resamples, seed)
    manifests = [RunFolder.open(run).manifest for run in runs]
    manifest = manifests[0]
    facts = {
        "data set": manifest.dataset,
        "benchmark": manifest.benchmark,
        "cases": str(manifest.cases),
        "reviewgauge": manifest.reviewgauge,
        "python": manifest.python,
        "seed": str(manifest.seed),
        **{f"system {name}": entry.signature for one in manifests for name, entry in one.systems.items()},
        **{f"library {name}": version for name, version in manifest.libraries.items()},
    }
    first = entries[0]
    page = render(
        ReportData(
            title=title or f"Code review on {manifest.dataset}",
            created=manifest.created.strftime("%Y-%m-%d %H:%M UTC"),
            leaderboards=boards,
            comparisons=tables,
            cases=first.cases,
            outcomes=first.outcomes,
            scores=[score for measured in entries for score in measured.scores],
            facts=facts,
        )
    ).encode("utf-8", "replace")
    path = Path(out)
    if path.is_dir():
        raise UserError(f"{path} is a folder", remedy="give a file name such as report.html")
    _write(path, page)
    return ReportResult(path=str(path), bytes=len(page), systems=len(boards[0].systems), cases=len(first.cases))


def _write(path: Path, page: bytes) -> None:
    """The whole page or, on a full disk, none of it; a pipe or a device is written to as it is."""
    if path.exists() and not path.is_file():
        path.write_bytes(page)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(path, error) from None
    write_whole(path, page)


def telling_slices(measured: ScoredRun) -> list[str]:
    """The facts and facets worth a picture: two to twelve values, and not a value for nearly every case."""
    values: dict[str, set[str]] = {}
    for case in measured.cases:
        for fact, value in case.facts.items():
            values.setdefault(fact, set()).add(str(value))
    for facet, stated in stated_facets(measured.scores).items():
        values.setdefault(facet, set()).update(stated)
    most = max(2, min(12, len(measured.cases) // 2))
    return [name for name, found in values.items() if 2 <= len(found) <= most]


def _comparisons(measured: ScoredRun, resamples: int, seed: int) -> list[ComparisonTable]:
    """Every pair; of more systems than a page can hold pairs of, each against the leader."""
    systems = measured.systems
    if len(systems) < 2:
        return []
    pairs: Pairs = "all" if len(systems) <= MOST_PAIRED else None
    return [measured.comparison(pairs, resamples, seed)]
