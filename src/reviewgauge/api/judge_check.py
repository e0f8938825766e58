"""`reviewgauge judge-check`: a judge as an instrument, with its errors measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.judge_check.agreement import Resamples
from reviewgauge.analysis.judge_check.correction import correct_grades, correct_pairs
from reviewgauge.analysis.judge_check.instrument import Asker, Instrument
from reviewgauge.analysis.judge_check.report import PARTS, Wanted, check_judge
from reviewgauge.api.judge_bench import Held, find_instrument, read_calibration, reference_labels, write_calibration
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Dataset, Judge, Metric, Progress
from reviewgauge.core.reports.judge_check import CalibrationItem, Corrected, JudgeCost, JudgeReport
from reviewgauge.engine.run.journal import write_error, write_whole
from reviewgauge.engine.run.model_options import ModelOptions
from reviewgauge.engine.run.spending import spending


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
        held = reference_labels(
            on, instrument, source=source, labels=labels, authors=authors or {}, dimension=dimension
        )
        before = []
    asker = Asker(instrument, models.in_flight, progress)
    with models.client() as client:
        corrected = _corrected(held, asker) if correct else ()
        checked = check_judge(held.bench, asker, wanted, before=before, corrected=corrected)
        said = spending(client).sentence
    warnings = [*checked.report.warnings, *([said] if said else [])]
    if min_kappa is not None and instrument.kind == "grades" and not instrument.models:
        warnings.append("a metric whose readings are not grades has no kappa, and does not pass the gate")
    report = checked.report.model_copy(update={"warnings": tuple(warnings)})
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
        spent=JudgeCost(questions=0, decisions=0),
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
    from reviewgauge.views.report.page import judge_page

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, judge_page(report).encode("utf-8", "replace"))
    except OSError as error:
        raise write_error(file, error) from None
