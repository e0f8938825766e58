"""`reviewgauge judge-check`: a judge as an instrument, with its errors measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from reviewgauge.analysis.judge_check.report import PARTS
from reviewgauge.api.judge_check import judge_check
from reviewgauge.api.points_study import points_check
from reviewgauge.cli.options import from_option, json_option, model_options, seed_option, verb
from reviewgauge.cli.output import emit, progress_bar
from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.model_options import ModelOptions
from reviewgauge.views.terminal.agreement_tables import agreement
from reviewgauge.views.terminal.judge_tables import judge_report


def _authors(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in given:
        system, equals, model = word.partition("=")
        if not equals or not system or not model:
            raise UserError(f"--author {word} names no model", remedy="--author SYSTEM=MODEL")
        found[system] = model
    return found


@verb("judge-check")
@click.argument("judge")
@click.option("--on", help="martian, graded_reviews, another data set with labels, or a run folder.")
@from_option
@click.option("--labels", type=click.Path(exists=True), help="Judgements of your own that count instead.")
@click.option("--calibration", type=click.Path(exists=True, dir_okay=False), help="A stored calibration set.")
@click.option("--save-calibration", type=click.Path(dir_okay=False), help="Store questions, truths and answers here.")
@click.option("--correct", is_flag=True, help="Correct each system's scores by what people checked.")
@click.option("--author", "authors", multiple=True, metavar="SYSTEM=MODEL", help="Which model a system is; repeatable.")
@click.option("--dimension", default="", help="The dimension of the grades, where there are several.")
@click.option("--limit", type=click.IntRange(min=1), help="Rows of the agreement, drawn at random.")
@click.option("--probes", default=30, show_default=True, type=click.IntRange(min=1), help="Questions that are edited.")
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(min=2), help="How often each is asked.")
@click.option("--only", multiple=True, type=click.Choice(PARTS), help="Only this part; may be given again.")
@click.option("--min-kappa", type=click.FloatRange(-1, 1), help="Exit 1 where a kappa is below this.")
@click.option("--lower", is_flag=True, help="The gate looks at the lower end of the interval.")
@click.option("-o", "--out", type=click.Path(dir_okay=False), help="Also write an HTML page.")
@click.option("--resamples", default=1_000, show_default=True, help="Bootstrap resamples.")
@seed_option
@json_option
@model_options
@click.pass_context
def command(ctx: click.Context, /, judge: str, models: ModelOptions, as_json: bool, **options: Any) -> None:
    """Measure JUDGE: agreement, repeats, order, length, self-preference, rewording, injection, cost.

    JUDGE is a judge of pairs (lexical, same_concern(model="openai:gpt-5"), or the model alone) or a grader (grade(...),
    any metric). points(model="openai:gpt-5") is compared with people's sheets (agree --sheets) in place of all that.
    Exit code 1 when a kappa is below --min-kappa, 2 when the check was stopped before its end.
    """
    if judge.partition("(")[0] == "points":
        wanted = {name: options.pop(name) for name in ("on", "labels", "resamples", "seed")}
        for name in options:
            if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise UserError(f"--{name.replace('_', '-')} does not go with points: it is compared with sheets alone")
        with progress_bar("judging", quiet=as_json) as progress:
            found = points_check(judge, models=models, progress=progress, **wanted)
        emit(found, as_json, lambda: agreement(found))
        return
    authors = _authors(options.pop("authors"))
    with progress_bar("judging", quiet=as_json) as progress:
        report = judge_check(judge, authors=authors, models=models, progress=progress, **options)
    emit(report, as_json, lambda: judge_report(report))
    if report.stopped:
        raise UserError(report.stopped)
    if report.gate is not None and not report.gate.passed:
        ctx.exit(1)
