"""`reviewgauge validate`: metrics, judges and thresholds compared with human labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import partial, reduce
from pathlib import Path
from typing import Any

import click

from reviewgauge.analysis.judge_check.report import PARTS, JudgeOptions
from reviewgauge.api.validate import REPORT, ValidateResult, validate
from reviewgauge.cli.options import (
    from_option,
    json_option,
    model_options,
    retry_option,
    seed_option,
    stage_option,
    verb,
)
from reviewgauge.cli.output import note, note_reasons, run_stoppable
from reviewgauge.core.errors import UserError
from reviewgauge.core.specs import in_shell
from reviewgauge.views.judge_check import judge_document
from reviewgauge.views.terminal.closing import after_measuring, measuring_line
from reviewgauge.views.terminal.documents import document_view
from reviewgauge.views.validity.document import fit_document, validity_summary
from reviewgauge.views.validity.thresholds import thresholds


def _authors(_: click.Context, __: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in given:
        system, equals, model = word.partition("=")
        if not equals or not system or not model:
            raise UserError(f"--author {word} names no model", remedy="--author SYSTEM=MODEL")
        found[system] = model
    return found


class JudgeOption(click.Option):
    """What is asked of a judge."""

    group = "Judges, and metrics with any of these"


_judge = partial(click.option, cls=JudgeOption)
_JUDGE_OPTIONS = (
    _judge("--probes", type=click.IntRange(min=1), help="Questions that are edited.  [30]"),
    _judge("--repeats", type=click.IntRange(min=2), help="How often each is asked again.  [3]"),
    _judge("--only", multiple=True, type=click.Choice(PARTS), help="Only this part; repeatable."),
    _judge("--limit", type=click.IntRange(min=1), help="Rows of the agreement, drawn at random."),
    _judge(
        "--author", "authors", multiple=True, callback=_authors, metavar="SYSTEM=MODEL", help="Which model a system is."
    ),
    _judge("--correct", is_flag=True, help="Correct each system's scores by what people checked."),
    _judge("--min-kappa", type=click.FloatRange(-1, 1), help="Exit 1 where a kappa is below this."),
    _judge("--lower", is_flag=True, help="That gate looks at the lower end of the interval."),
)


def _judge_options(command: Any) -> Any:
    return reduce(lambda made, option: option(made), reversed(_JUDGE_OPTIONS), command)


@verb("validate")
@click.argument("dataset")
@click.argument("metrics", nargs=-1, required=True)
@from_option
@click.option(
    "-o", "--out", type=click.Path(file_okay=False), help="The folder for run and report.  [validity-DATASET]"
)
@click.option(
    "--labels",
    help="A table of your own that counts instead (id, rater, dimension, value), or a metric of a run that ran tests.",
)
@click.option("--dimension", "dimensions", multiple=True, help="Only this dimension; may be given again.")
@click.option("--slice", "slices", multiple=True, help="Also break down by this fact; may be given again.")
@click.option(
    "--round",
    "of_round",
    help="Only labels of this round, or `last`: what reviews ended with. Default: those without one, or the first.",
)
@stage_option
@click.option("--resamples", default=1_000, show_default=True, help="Bootstrap resamples.")
@click.option("--folds", default=10, show_default=True, help="Folds of what is fitted to labels, by reference text.")
@click.option("--report/--no-report", default=True, help="Whether to write report.html and the tables.")
@click.option("--fit", type=click.Path(dir_okay=False), help="Make METRICS into one grade in this file.")
@click.option("--sweep", is_flag=True, help="Fit the threshold of crscore(model=...), and show what others give.")
@click.option("--system", default="", help="With --sweep: whose reviews it is fitted on.  [people's best]")
@_judge_options
@seed_option
@retry_option
@model_options
@json_option
def command(dataset: str, metrics: Sequence[str], as_json: bool, **options: Any) -> int:
    """Compare METRICS or judges with human judgements of the recorded reviews of DATASET.

    DATASET is a data set that came with reviews and human labels, or a run folder. Prints which metric agrees best with
    people, beside trivial baselines and what was published, and writes report.html and its tables as CSV. Killed or
    interrupted while it measures, the same command goes on where it stopped.

    Judges of pairs (lexical, same_concern(model="openai:gpt-5"), or the model alone) are measured as instruments:
    agreement, repeats, order, length, self-preference, rewording, framing, injection, cost.

    --labels useful_suggestions takes a run's own tests for the truth: was what hits found repaired?

    --fit writes a file for combined(file=...) and prints what that grade gives on references that it has not seen.
    --sweep takes CRScore's rule: the mean similarity of the best system's sentences to the closest claim.

    The exit code is 1 when all measurements of a metric failed, a kappa is below --min-kappa, or a fit to shuffled
    labels reaches anything (then the labels leak); 2 when a check was stopped before its end.
    """
    names = [one.name for one in fields(JudgeOptions) if one.name != "resamples"]
    given = {name: value for name in names if (value := options.pop(name))}
    judging = JudgeOptions(**given) if given else None
    work = partial(validate, dataset, *metrics, judging=judging, **options)
    result = run_stoppable(
        "validating", work, as_json, _shown, note_first=lambda done: note_reasons(done.totals, done.notes)
    )
    for report in result.judges:
        if report.stopped:
            raise UserError(report.stopped)
    if result.fit is not None and result.fit.leaks:
        note("a fit to shuffled labels reaches more than chance: the folds do not keep apart what belongs together")
        return 1
    closed = any(report.gate is not None and not report.gate.passed for report in result.judges)
    return int(closed or any(totals.all_failed for totals in result.totals))


def _shown(result: ValidateResult) -> list[object]:
    parts = list(_found(result))
    if result.judges or result.sweep:
        page = [f"{Path(result.folder) / result.files[0]} has all of it and the plots"] if result.files else []
        return [*parts, *page]
    if result.fit is None:
        parts.append(_closing(result))
    parts += [result.spending.sentence] if result.spending.sentence else []
    return [*parts, *after_measuring(result.totals)]


def _found(result: ValidateResult) -> Iterator[object]:
    if result.report is not None:
        yield document_view(validity_summary(result.report))
    yield from (document_view(judge_document(one)) for one in result.judges)
    if result.sweep is not None:
        yield document_view(thresholds(result.sweep))
    if (fit := result.fit) is not None:
        use = f"use it as {in_shell(fit.spec)}; {result.seconds:.1f} s"
        yield document_view(fit_document(fit))
        yield f"{fit.file} was fitted to all {fit.rows:,} rows; {use}"


def _closing(result: ValidateResult) -> str:
    line = measuring_line(result.totals, result.seconds, result.spending.estimated)
    if not result.files:
        return line
    tables = sum(name.endswith(".csv") for name in result.files)
    return f"{line}\n{Path(result.folder) / REPORT} has every figure and plot, beside it {tables} CSV tables"
