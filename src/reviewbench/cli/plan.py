"""`reviewbench plan`: how many changes, attempts and raters a study takes, from a pilot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from reviewbench.analysis.plan import dollars_per_attempt
from reviewbench.analysis.plan import plan as make_plan
from reviewbench.analysis.raters import rater_plans
from reviewbench.analysis.study import Question
from reviewbench.cli._output import emit, json_option, seed_option
from reviewbench.cli._runs import Measured, read_runs
from reviewbench.cli.agree import labels_from
from reviewbench.core.errors import UserError
from reviewbench.core.labels import Label
from reviewbench.core.plans import ChangePlan, Plan, RaterPlan
from reviewbench.engine.store import RunFolder


def plan(
    *runs: str | Path,
    detect: float | None = None,
    metric: str | None = None,
    reading: str | None = None,
    systems: Sequence[str] = (),
    labels: str | Path | None = None,
    data: str | Path | None = None,
    power: float = 0.8,
    level: float = 0.05,
    comparisons: int = 1,
    attempt_cost: float | None = None,
    change_cost: float = 0.0,
    margin: float | None = None,
    resamples: int = 2_000,
    seed: int = 0,
) -> Plan:
    """Plan a study from pilot runs, from human labels, or from both.

    `runs` are scored pilots of one benchmark: the plan says how many changes and attempts find a difference of
    `detect`. `labels` (a file, a run folder, or a data set whose files are in `data`) say how many raters it takes;
    where it is left out, the labels of the runs do. `comparisons` share the level (Holm). Costs are in dollars; what
    an attempt cost is taken from the runs where they recorded it.
    """
    if not runs and labels is None:
        raise UserError("nothing to plan from", remedy="reviewbench plan --from RUN --detect .03, or --labels FILE")
    if runs and detect is None:
        raise UserError("how small a difference should the study find?", remedy="--detect .03")
    if data is not None and labels is None:
        raise UserError("--data goes with --labels", remedy="--from names a run")
    if margin is not None and not margin > 0:
        raise UserError(f"a margin of {margin:g} is no margin", remedy="--margin .1 asks for ±.1")
    costs = {"attempt cost": attempt_cost or 0.0, "change cost": change_cost}
    for name, cost in costs.items():
        if not 0 <= cost < float("inf"):
            raise UserError(f"a {name} of {cost:g} dollars is no price")
    asked = {"power": power, "level": level, "comparisons": comparisons, "dollars_per_change": change_cost}
    changes = []
    for entry in read_runs(runs, metric) if runs else ():
        prices = _prices(entry, attempt_cost)
        question = Question(detect or 0.0, dollars_per_attempt=prices, **asked)  # type: ignore[arg-type]
        changes.append(_change_plan(entry, question, systems=systems, reading=reading, resamples=resamples, seed=seed))
    found: list[RaterPlan] = []
    wanted = Question(detect, **asked) if detect is not None and labels is not None else None  # type: ignore[arg-type]
    notes: list[str] = []
    for source, judged, said in _judged(runs, labels, data):
        found += rater_plans(judged, source=source, question=wanted, margin=margin, resamples=resamples, seed=seed)
        notes += said
    return Plan(changes=tuple(changes), raters=tuple(found), notes=(*notes, *_notes(runs, labels, found)))


def _prices(entry: Measured, attempt_cost: float | None) -> Mapping[str, float]:
    if attempt_cost is not None:
        return dict.fromkeys(entry.systems, attempt_cost)
    return dollars_per_attempt(entry.outcomes)


def _change_plan(
    entry: Measured, question: Question, *, systems: Sequence[str], reading: str | None, resamples: int, seed: int
) -> ChangePlan:
    made = make_plan(
        entry.scores,
        entry.cases,
        entry.metric,
        question,
        dataset=entry.dataset,
        benchmark=entry.benchmark,
        systems=systems,
        reading=reading,
        resamples=resamples,
        seed=seed,
    )
    return made.model_copy(update={"warnings": (*entry.warnings, *made.warnings)})


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
        return ["raters: cannot be told, these runs hold no item that two raters judged (--labels FILE)"]
    if labels is not None and not found:
        return [f"raters: cannot be told, {labels} holds no labels"]
    return []


@click.command("plan")
@click.option(
    "--from",
    "runs",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="A scored pilot run; may be given again for more runs of the same benchmark.",
)
@click.option("--detect", type=float, help="The smallest difference that the study should find, such as .03.")
@click.option("--metric", help="The metric to plan for (default: all that the runs were scored with).")
@click.option("--reading", help="The reading to plan for, such as recall (default: the metric's headline).")
@click.option("--system", "systems", multiple=True, help="Plan for this system; give two for one pair.")
@click.option("--labels", help="Human labels to plan raters from: a CSV or JSON lines file, a run, or a data set.")
@click.option("--data", type=click.Path(exists=True), help="The files of the data set that --labels names.")
@click.option("--power", default=0.8, show_default=True, help="How often a study should find the difference.")
@click.option("--level", default=0.05, show_default=True, help="How often it may find one that is not there.")
@click.option(
    "--comparisons", default=1, show_default=True, type=click.IntRange(min=1), help="Comparisons made together (Holm)."
)
@click.option("--attempt-cost", type=float, help="Dollars that one review costs (default: as the runs recorded).")
@click.option("--change-cost", default=0.0, help="Dollars that a further change costs, such as its references.")
@click.option("--margin", type=float, help="Say how many items pin the mean of the labels down to ± so much.")
@click.option("--resamples", default=2_000, show_default=True, type=click.IntRange(min=1), help="Bootstrap resamples.")
@seed_option
@json_option
def command(
    runs: Sequence[str],
    detect: float | None,
    metric: str | None,
    reading: str | None,
    systems: Sequence[str],
    labels: str | None,
    data: str | None,
    power: float,
    level: float,
    comparisons: int,
    attempt_cost: float | None,
    change_cost: float,
    margin: float | None,
    resamples: int,
    seed: int,
    as_json: bool,
) -> None:
    """Say how many changes, attempts and raters a study takes, from the variance that a pilot run shows."""
    result = plan(
        *runs,
        detect=detect,
        metric=metric,
        reading=reading,
        systems=systems,
        labels=labels,
        data=data,
        power=power,
        level=level,
        comparisons=comparisons,
        attempt_cost=attempt_cost,
        change_cost=change_cost,
        margin=margin,
        resamples=resamples,
        seed=seed,
    )

    def show() -> object:
        from reviewbench.views import plan_tables

        return plan_tables.plan(result)

    emit(result, as_json, show)
