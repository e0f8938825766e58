"""`reviewgauge report`: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.compare.leaderboard import leaderboard, worst_cases
from reviewgauge.analysis.compare.slices import FEWEST, telling_slices
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import check_page, write_named
from reviewgauge.core.records import ARM, PAIR, Arm, Case
from reviewgauge.core.stored import chained
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import ScoredRun, read_scored_runs

MOST_REVIEWS = 2_000  # on the page: 9 MB of reviews of one hunk, more with diffs of many files


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
    changes: int | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> ReportResult:
    """Write the report of one or more runs of one benchmark to `out`.

    `slices` are facts and facets to break down by; by default those with two to twelve values. It shows at most
    `changes` changes, those that cost the systems the most; by default as many as have 2,000 reviews.
    """
    from reviewgauge.views.report.report import ReportData, render
    from reviewgauge.views.verdict import verdict

    if changes is not None and changes < 0:
        raise UserError(f"changes must be 0 or more, got {changes}")
    path = Path(out)
    if path.is_dir():
        raise UserError(f"{path} is a folder", remedy="give a file name such as report.html")
    check_page(path)
    entries = read_scored_runs(runs, metric)
    boards, tables, verdicts = [], [], []
    for scored in entries:
        cuts = list(slices) or telling_slices(scored)
        boards.append(leaderboard(scored, slices=cuts, least=FEWEST, resamples=resamples, seed=seed))
        several = sum(row.scored > 0 for row in boards[-1].systems) > 1
        tables += [compare(scored, resamples=resamples, seed=seed)] if several else []
        verdicts.append(verdict(scored, boards[-1], tables[-1] if several else None))
    manifests = [RunFolder.open(run).manifest for run in runs]
    manifest = manifests[0]
    facts = {
        "data set": manifest.dataset,
        **{name: str(getattr(manifest, name)) for name in ("benchmark", "cases", "reviewgauge", "python", "seed")},
        **{f"system {name}": entry.signature for one in manifests for name, entry in one.systems.items()},
        **{f"library {name}": version for name, version in manifest.libraries.items()},
    }
    first = entries[0]
    pieces = render(
        ReportData(
            title=title or f"Code review on {manifest.dataset}",
            created=manifest.created.strftime("%Y-%m-%d %H:%M UTC"),
            leaderboards=boards,
            comparisons=tables,
            verdicts=verdicts,
            cases=first.cases,
            outcomes=first.outcomes,
            scores=chained([scored.scores for scored in entries]),
            facts=facts,
            shown=_shown(first, changes),
        )
    )
    size = write_named(path, (piece.encode() for piece in pieces))
    return ReportResult(path=str(path), bytes=size, systems=len(boards[0].systems), cases=len(first.cases))


def _shown(run: ScoredRun, changes: int | None) -> list[int] | None:
    """The positions of the cases to show; None for all."""
    cases = len(run.cases)
    if changes is None:
        changes = MOST_REVIEWS * cases // max(1, len(run.outcomes))
    shown = None if changes >= cases else worst_cases(run, changes)
    return _by_host(run.cases, shown) if any(PAIR in case.facts for case in run.cases) else shown


def _by_host(cases: Sequence[Case], shown: Sequence[int] | None) -> list[int]:
    """The positions of these cases and of all others of their hosts: a host's together, the twin beside a defect."""
    hosts: dict[object, list[int]] = {}
    for at, case in enumerate(cases):
        hosts.setdefault((case.change.repo, case.facts.get(PAIR, case.id)), []).append(at)
    wanted = range(len(cases)) if shown is None else set(shown)
    found: list[int] = []
    for own in hosts.values():
        arms = {at: cases[at].facts.get(ARM) for at in own}
        first = next((at for at in own if arms[at] == Arm.DEFECT), own[0])
        ordered = sorted(own, key=lambda at: (at != first, arms[at] != Arm.TWIN, arms[at] != Arm.DEFECT))
        found += ordered if any(at in wanted for at in own) else []
    return found
