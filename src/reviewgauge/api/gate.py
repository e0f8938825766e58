"""`reviewgauge gate`: may this candidate replace the baseline?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from reviewgauge.analysis.compare.gate import gate as rule
from reviewgauge.api.runs import ScoredRun, read_runs
from reviewgauge.core.errors import UserError
from reviewgauge.core.plugin import short_spec
from reviewgauge.core.reports.gate import Gate
from reviewgauge.core.specs import names


def gate(
    run: str | Path,
    *,
    baseline: str | Path | None = None,
    metric: str = "",
    margin: float,
    system: str = "",
    against: str = "",
    resamples: int = 10_000,
    seed: int = 0,
) -> Gate:
    """Whether the system of `run` is at most `margin` worse than that of `baseline`.

    `metric` is a metric spec with the reading after a dot (`hits.f1`, `hits(policy="any").recall`); the reading may
    be left out, and the metric where the runs were scored with one alone. `system` and `against` name the two where a
    run holds several; without `baseline` both are systems of `run`.
    """
    spec, reading = split_reading(metric)
    paths = [run] if baseline is None else [run, baseline]
    measured = _one(read_runs(paths, spec or None))
    mine = _systems(run, measured, paths)
    theirs = mine if baseline is None else _systems(baseline, measured, paths)
    candidate = _chosen(mine, system, "--system", run)
    if baseline is None and not against:
        raise UserError(
            "no baseline given", remedy="name a run with --baseline, or a system of this run with --against"
        )
    return rule(
        measured.scores,
        measured.cases,
        measured.metric,
        candidate=candidate,
        baseline=_chosen(theirs, against, "--against", baseline or run),
        margin=margin,
        reading=reading,
        dataset=measured.dataset,
        benchmark=measured.benchmark,
        resamples=resamples,
        seed=seed,
    )


def split_reading(word: str) -> tuple[str, str]:
    """`hits.f1` as metric and reading; a dotted path to a class of one's own stays whole."""
    ends = re.fullmatch(r"(.+\))\.([A-Za-z0-9_.]+)", word, re.DOTALL)
    if ends:
        return ends[1], ends[2]
    name, dot, reading = word.partition(".")
    return (name, reading) if dot and name in names("metrics") else (word, "")


def _one(entries: Sequence[ScoredRun]) -> ScoredRun:
    if len(entries) > 1:
        specs = ", ".join(short_spec(entry.metric) for entry in entries)
        raise UserError("the runs were scored with several metrics", remedy=f"name one with --metric: {specs}")
    return entries[0]


def _systems(path: str | Path, measured: ScoredRun, paths: Sequence[str | Path]) -> dict[str, str]:
    """The scored systems of one run: their own names, and those that they have among all the runs."""
    if len(paths) == 1:
        return {system: system for system in measured.systems}
    own = _one(read_runs([path], short_spec(measured.metric)))
    label = Path(path).resolve().name
    twins = [Path(p).resolve().name for p in paths].count(label) > 1
    prefix = f"{label}-{1 + list(paths).index(path)}" if twins else label
    return {s: f"{prefix}:{s}" if f"{prefix}:{s}" in measured.systems else s for s in own.systems}


def _chosen(systems: dict[str, str], wanted: str, option: str, run: str | Path) -> str:
    if wanted:
        if wanted not in systems:
            raise UserError(f"{run} holds no scored system {wanted!r}", remedy=f"there are: {', '.join(systems)}")
        return systems[wanted]
    if len(systems) != 1:
        raise UserError(f"{run} holds {len(systems)} systems", remedy=f"name one with {option}: {', '.join(systems)}")
    return next(iter(systems.values()))
