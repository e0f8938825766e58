"""`reviewgauge plan`: how many changes, attempts and raters a study takes, from a pilot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reviewgauge.analysis.compare.caveats import caveats
from reviewgauge.analysis.costs import dollars_per_attempt
from reviewgauge.analysis.plan import Question, rater_plans
from reviewgauge.analysis.plan import plan as make_plan
from reviewgauge.api.agree import labels_from
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label
from reviewgauge.core.reports.plan import Plan, RaterPlan
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import ScoredRun, read_scored_runs


def plan(
    *runs: str | Path,
    detect: float | None = None,
    metric: str | None = None,
    measure: str | None = None,
    systems: Sequence[str] = (),
    labels: str | Path | None = None,
    source: str | Path | None = None,
    power: float = 0.8,
    attempt_cost: float | None = None,
    resamples: int = 2_000,
    seed: int = 0,
) -> Plan:
    """Plan a study from pilot runs, from human labels, or from both.

    `runs` are scored pilots of one benchmark: the plan says how many changes and attempts find a difference of
    `detect`. `labels` (a file, a run folder, or a data set whose files are in `source`) say how many raters it takes;
    where it is left out, the labels of the runs do. What an attempt costs is taken from the runs
    where they recorded it.
    """
    if not runs and labels is None:
        raise UserError("nothing to plan from", remedy="reviewgauge plan RUN --detect .03, or --labels FILE")
    if runs and detect is None:
        raise UserError("--detect is required: the smallest difference to find", remedy="--detect .03")
    if detect is not None and not runs:
        raise UserError("--detect goes with a run", remedy="--labels alone plans raters")
    if source is not None and labels is None:
        raise UserError("--from goes with --labels", remedy="a run is named without it: reviewgauge plan RUN")
    if not 0 <= (attempt_cost or 0.0) < float("inf"):
        raise UserError(f"the attempt cost must be a valid price, got {attempt_cost:g}")
    changes = []
    for entry in read_scored_runs(runs, metric) if runs else ():
        prices = _prices(entry, attempt_cost)
        question = Question(detect or 0.0, power, prices)
        plan = make_plan(entry, question, systems=systems, measure=measure)
        changes.append(plan.model_copy(update={"warnings": (*caveats(entry), *plan.warnings)}))
    found: list[RaterPlan] = []
    notes: list[str] = []
    for name, judged, found_notes in _judged(runs, labels, source):
        found += rater_plans(judged, source=name, resamples=resamples, seed=seed)
        notes += found_notes
    return Plan(changes=tuple(changes), raters=tuple(found), notes=(*notes, *_notes(runs, labels, found)))


def _prices(entry: ScoredRun, attempt_cost: float | None) -> Mapping[str, float]:
    if attempt_cost is not None:
        return dict.fromkeys(entry.systems, attempt_cost)
    return dollars_per_attempt(entry.outcomes)


def _judged(
    runs: Sequence[str | Path], labels: str | Path | None, data: str | Path | None
) -> list[tuple[str, Sequence[Label], Sequence[str]]]:
    """(name, labels, notes): of what was named, else of each run that holds labels of several raters."""
    if labels is not None:
        found = labels_from(str(labels), data)
        return [(found.source, found.labels, found.notes)]
    judged = [(str(run), RunFolder.open(run).cases()) for run in runs]
    of_runs = [(name, [label for case in cases for label in case.labels]) for name, cases in judged]
    return [(name, own, ()) for name, own in of_runs if len({one.rater for one in own if not one.consensus}) > 1]


def _notes(runs: Sequence[str | Path], labels: str | Path | None, found: Sequence[RaterPlan]) -> list[str]:
    if labels is None and runs and not any(plan.judged_twice for plan in found):
        return ["raters: not known, as no item of these runs was judged by two raters (--labels FILE)"]
    if labels is not None and not found:
        return [f"raters: not known, as {labels} holds no labels"]
    return []
