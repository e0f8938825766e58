"""`reviewbench judge-check`: a judge as an instrument, with its errors measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from reviewbench.analysis.judge_agreement import Resamples
from reviewbench.analysis.judge_asks import Asker, Instrument
from reviewbench.analysis.judge_correction import correct_grades, correct_pairs
from reviewbench.analysis.judge_report import PARTS, Wanted, check_judge
from reviewbench.analysis.leaderboard import check_settings
from reviewbench.cli._judge_bench import Held, find_instrument, held_against, read_calibration, write_calibration
from reviewbench.cli._model_options import ModelOptions, model_options, spending
from reviewbench.cli._output import Progress, emit, from_option, json_option, note, progress_bar, seed_option
from reviewbench.core.errors import UserError
from reviewbench.core.judging import CalibrationItem, Corrected, JudgeReport, Spent
from reviewbench.core.protocols import Dataset, Judge, Metric
from reviewbench.engine.journal import write_error, write_whole


def judge_check(
    judge: str | Judge | Metric,
    *,
    on: str | Dataset | None = None,
    source: str | Path | None = None,
    labels: str | Path | None = None,
    calibration: str | Path | None = None,
    save_calibration: str | Path | None = None,
    correct: bool = False,
    authors: Mapping[str, str] | None = None,
    dimension: str = "",
    limit: int | None = None,
    probes: int = 30,
    repeats: int = 3,
    only: Sequence[str] = (),
    min_kappa: float | None = None,
    lower: bool = False,
    resamples: int = 1_000,
    seed: int = 0,
    out: str | Path | None = None,
    models: ModelOptions | None = None,
    progress: Progress | None = None,
) -> JudgeReport:
    """Measure a judge of pairs or a grader, and say how far it can be trusted.

    `on` is `martian`, `graded_reviews`, another data set with recorded reviews, or a run folder; `labels` a file of
    people's judgements that count instead of those of the data. `calibration` is a stored set, alone or instead of
    `on`; `save_calibration` writes one. `correct` also corrects each system's scores for the judge's errors, with the
    reviews that people checked. `authors` says which model a system is (`{"tool": "gpt-5"}`). `limit` draws that many
    rows for the agreement, `probes` that many questions to be edited, `only` keeps some parts. `min_kappa` is a gate,
    with `lower` on the lower end of the interval. `out` is an HTML page.
    """
    check_settings(resamples, 0.95)
    if lower and min_kappa is None:
        raise UserError("--lower belongs to a gate", remedy="--min-kappa .7 --lower")
    wanted = Wanted(
        tuple(dict.fromkeys(only)) or PARTS, limit, probes, repeats, Resamples(resamples, seed), min_kappa, lower
    )
    models = models or ModelOptions()
    instrument = find_instrument(judge)
    if calibration is not None:
        if on is not None or labels is not None:
            raise UserError("--calibration is what the judge is held against", remedy="leave --on and --labels out")
        held, before = _stored(Path(calibration), instrument, authors or {})
    elif on is None:
        raise UserError("what is the judge held against?", remedy="--on martian, graded_reviews or a run folder")
    else:
        held = held_against(on, instrument, source=source, labels=labels, authors=authors or {}, dimension=dimension)
        before = []
    if min_kappa is not None and instrument.kind == "grades" and not instrument.models:
        note("note: a metric whose readings are no grades has no kappa, and does not pass the gate")
    asker = Asker(instrument, models.in_flight, progress)
    with models.door() as door:
        corrected = _corrected(held, asker) if correct else ()
        checked = check_judge(held.bench, asker, wanted, before=before, corrected=corrected)
        said = spending(door).sentence
    report = checked.report.model_copy(update={"warnings": (*checked.report.warnings, *([said] if said else []))})
    if models.dry_run:
        return _rehearsed(report)
    if save_calibration is not None:
        write_calibration(Path(save_calibration), checked.calibration)
    if out is not None:
        _write_page(Path(out), report)
    return report


def _stored(file: Path, instrument: Instrument, authors: Mapping[str, str]) -> tuple[Held, list[CalibrationItem]]:
    bench, before = read_calibration(file, instrument, authors)
    return Held(bench), before


def _rehearsed(report: JudgeReport) -> JudgeReport:
    """What a dry run tells: how much would be asked. Its answers were a stand-in's, so no figure is left of them."""
    blank = JudgeReport(
        judge=report.judge,
        signature=report.signature,
        kind=report.kind,
        on=report.on,
        models=report.models,
        pins=report.pins,
        agreement=(),
        spent=Spent(questions=0, decisions=0),
        left_out=report.left_out,
        resamples=report.resamples,
        seed=report.seed,
    )
    asked = f"{report.spent.questions:,} questions to ask"
    return blank.model_copy(update={"warnings": (asked, *report.warnings)})


def _corrected(held: Held, asker: Asker) -> Sequence[Corrected]:
    if held.material is None:
        raise UserError("--correct needs a run, or a data set, with labels by people", remedy="--on RUN --correct")
    by_kind = correct_pairs if asker.instrument.kind == "pairs" else correct_grades
    return by_kind(held.material, asker)


def _write_page(file: Path, report: JudgeReport) -> None:
    from reviewbench.views.judge_page import render

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, render(report).encode("utf-8", "replace"))
    except OSError as error:
        raise write_error(file, error) from None


def _authors(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in given:
        system, equals, model = word.partition("=")
        if not equals or not system or not model:
            raise UserError(f"--author {word} names no model", remedy="--author SYSTEM=MODEL")
        found[system] = model
    return found


@click.command("judge-check")
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
    any metric). Exit code 1 when a kappa is below --min-kappa, 2 when the check was stopped before its end.
    """
    authors = _authors(options.pop("authors"))
    with progress_bar("judging", quiet=as_json) as progress:
        report = judge_check(judge, authors=authors, models=models, progress=progress, **options)

    def show() -> object:
        from reviewbench.views.judge_tables import judge_report

        return judge_report(report)

    emit(report, as_json, show)
    if report.stopped:
        raise UserError(report.stopped)
    if report.gate is not None and not report.gate.passed:
        ctx.exit(1)
