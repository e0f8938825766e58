"""The whole check of a judge: agreement first, then the chosen probes on a few questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reviewgauge.analysis.judge_check.agreement import (
    FAILED,
    JudgedRows,
    Resamples,
    chosen,
    grade_agreement,
    pair_agreement,
    signed_error,
    undefined,
)
from reviewgauge.analysis.judge_check.instrument import Ask, Asker, Decisions
from reviewgauge.analysis.judge_check.probes import Probes
from reviewgauge.analysis.judge_check.reference_labels import Item, JudgeBench, drawn, probe_items
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.correlation import spearman_only
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.judge_check import (
    CalibrationItem,
    Corrected,
    JudgeAgreement,
    JudgeGate,
    JudgeReport,
    LengthBias,
    SelfPreference,
)
from reviewgauge.core.reports.validity import Figure
from reviewgauge.models.request.model_spec import family

PARTS = ("agreement", "repeats", "order", "length", "self", "rewording", "irrelevant", "injection")
DRIFT = "itself, when the calibration was stored"
MOST_FAILED = 0.1  # largest share of rows without an answer for a gate to pass


@dataclass(frozen=True)
class Wanted:
    """The parts of the check. `limit` bounds the rows of the agreement, `probes` the questions that are edited."""

    parts: tuple[str, ...] = PARTS
    limit: int | None = None
    probes: int = 30
    repeats: int = 3
    resamples: Resamples = field(default_factory=Resamples)
    least_kappa: float | None = None
    lower: bool = False

    def __post_init__(self) -> None:
        """Raises UserError."""
        for part in self.parts:
            if part not in PARTS:
                raise UserError(f"{part!r} is not a part of the check", remedy=f"parts: {', '.join(PARTS)}")
        if self.repeats < 2:
            raise UserError(f"repeats must be at least 2, got {self.repeats}", remedy="3 is the default")
        if self.probes < 1:
            raise UserError(f"probes must be at least 1, got {self.probes}", remedy="30 is the default")
        if self.limit is not None and self.limit < 1:
            raise UserError(f"limit must be at least 1, got {self.limit}")


@dataclass(frozen=True)
class CheckedJudge:
    """The report, and the questions with the judge's answers for a calibration set."""

    report: JudgeReport
    calibration: tuple[CalibrationItem, ...]


def check_judge(
    bench: JudgeBench,
    asker: Asker,
    wanted: Wanted,
    *,
    before: Sequence[CalibrationItem] = (),
    corrected: Sequence[Corrected] = (),
) -> CheckedJudge:
    """Ask the judge and report. `before` are its earlier answers to the same questions, for the drift."""
    instrument, resamples = asker.instrument, wanted.resamples
    items, out = drawn(bench.items, wanted.limit, resamples.seed)
    replies = asker.ask([item.ask for item in items], what="agreement") if "agreement" in wanted.parts else []
    by_rater: defaultdict[str, list[tuple[Item, Decisions | None]]] = defaultdict(list)
    for item, reply in zip(items, replies, strict=False):
        by_rater[item.rater].append((item, reply))
    agreement = tuple(
        _agreement(bench, JudgedRows.of(own, resamples), rater, instrument.sign) for rater, own in by_rater.items()
    )
    everything = JudgedRows.of(list(zip(items, replies, strict=False)), resamples)
    report = JudgeReport(
        judge=instrument.spec,
        signature=instrument.signature,
        kind=bench.kind,
        on=bench.label,
        models=instrument.models,
        pins=instrument.pins,
        estimate_note=instrument.estimate_note,
        agreement=agreement,
        drift=_drift(bench, before, asker, resamples) if before else None,
        corrected=tuple(corrected),
        spent=asker.spent,
        left_out={**bench.left_out, **({"rows beyond --limit": out} if out else {})},
        resamples=resamples.resamples,
        seed=resamples.seed,
        warnings=bench.warnings,
    )
    if "self" in wanted.parts and everything.n:
        report = report.model_copy(update={"self_preference": self_preference(bench, everything, asker)})
    report = _probed(report, bench, (items, everything), asker, wanted)
    update: dict[str, object] = {"spent": asker.spent, "fake": asker.fake, "stopped": asker.stopped}
    if wanted.least_kappa is not None:
        if asker.instrument.kind == "grades" and not asker.instrument.models:
            no_kappa = "a metric whose measures are not grades has no kappa, and does not pass the gate"
            update["warnings"] = (*report.warnings, no_kappa)
        found = gate(agreement, wanted.least_kappa, wanted.lower, report.drift)
        update["gate"] = found.model_copy(update={"passed": False}) if asker.stopped else found
    stored = tuple(
        calibration_item(bench, item, asker, reply.decisions, reply.values)
        for item, reply in zip(items, replies, strict=False)
        if reply is not None and reply.failure is None
    )
    return CheckedJudge(report.model_copy(update=update), stored)


def _agreement(bench: JudgeBench, lines: JudgedRows, rater: str, sign: float) -> JudgeAgreement:
    if bench.kind == "pairs":
        return pair_agreement(lines, rater)
    return grade_agreement(lines, rater, bench.lowest, sign)


def _probed(
    report: JudgeReport, bench: JudgeBench, answered: tuple[Sequence[Item], JudgedRows], asker: Asker, wanted: Wanted
) -> JudgeReport:
    """The report with its probes."""
    items, lines = answered
    if asker.instrument.reads_labels:
        why = "its verdicts are recorded, so edited questions have no answer"
        return report.model_copy(update={"warnings": (*report.warnings, f"no probes: {why}")})
    asked = set(wanted.parts) - {"agreement", "self"}
    questions = probe_items(bench, wanted.probes, wanted.resamples.seed) if asked else []
    if not questions or asker.stopped:
        return report
    probes = Probes(asker, questions, wanted.resamples)
    update: dict[str, object] = {"probed": len(questions), "flip_is": probes.flip_is}
    parts: Mapping[str, Callable[[], object]] = {
        "repeats": lambda: probes.repeats(wanted.repeats),
        "length": lambda: LengthBias(correlation=length_correlation(bench, lines, asker), padding=probes.padding()),
        "order": lambda: probes.order(drawn(items, wanted.probes, wanted.resamples.seed + 2)[0]),
        "rewording": probes.rewording,
        "irrelevant": probes.irrelevant,
        "injection": lambda: probes.injection(probes.padding()),
    }
    for name, probe in parts.items():
        if name in asked and not asker.stopped:
            update[name] = probe()
    return report.model_copy(update=update)


def length_correlation(bench: JudgeBench, lines: JudgedRows, asker: Asker) -> Figure:
    """Spearman's rho of the judge's signed error with the length in words; above 0 it prefers long comments."""
    spoken = chosen(lines, [row.words > 0 for row in lines.rows])
    if spoken.n < 3:
        return undefined("too few rows with an answer", spoken.n)
    cluster, resampler = spoken.clusters
    error = signed_error(spoken, bench.kind, asker.instrument.sign)
    return spearman_only(error, spoken.column("words"), cluster, resampler)


def self_preference(bench: JudgeBench, lines: JudgedRows, asker: Asker) -> SelfPreference:
    """The judge's signed error on its own family's reviews, and on others' of a known family."""
    own_families = tuple(sorted({family(model) for model in asker.instrument.models}))
    if not own_families:
        return SelfPreference(reason="the judge asks no model, so it has no family")
    if not bench.authors:
        return SelfPreference(families=own_families, reason="the authors' models are not known: --author SYSTEM=MODEL")
    known = chosen(lines, [row.system in bench.authors for row in lines.rows])
    own = np.array([bench.authors[row.system] in own_families for row in known.rows], dtype=bool)
    if not own.any() or own.all():
        which = "all" if own.size and own.all() else "none"
        return SelfPreference(families=own_families, reason=f"{which} of the known authors are of the judge's family")
    error = signed_error(known, bench.kind, asker.instrument.sign)

    def difference(weights: Numbers) -> Numbers:
        with np.errstate(all="ignore"):
            parts = [(weights * keep) @ error / (weights * keep).sum(axis=1) for keep in (own, ~own)]
        return np.asarray(parts[0] - parts[1], dtype=np.float64)

    value = float(difference(np.ones((1, known.n)))[0])
    return SelfPreference(
        families=own_families,
        own=known.mean(error, own),
        others=known.mean(error, ~own),
        difference=known.figure(value, difference),
    )


# --- gate, drift and calibration -----------------------------------------------------------------------------------


def gate(agreement: Sequence[JudgeAgreement], least: float, lower: bool, drift: JudgeAgreement | None) -> JudgeGate:
    """Whether the lowest kappa over all raters, and over the judge's earlier self, reaches `least`.

    An undefined kappa does not pass, and neither does a judge that failed on more than a tenth of the rows.
    """
    rows = [*agreement, *([drift] if drift is not None else [])]
    if not rows:
        raise UserError("a gate needs the agreement, which --only leaves out", remedy="add agreement to --only")

    def of(row: JudgeAgreement) -> float | None:
        return row.kappa.low if lower else row.kappa.value

    worst = min(rows, key=lambda row: value if (value := of(row)) is not None else -2.0)
    value = of(worst)
    failed = max(_failed_share(row) for row in rows)
    return JudgeGate(
        least=least,
        of="lower end of the interval" if lower else "kappa",
        kappa=value,
        rater=worst.rater,
        passed=value is not None and value >= least and failed <= MOST_FAILED,
        failed=failed,
        most_failed=MOST_FAILED,
    )


def _failed_share(row: JudgeAgreement) -> float:
    """The share of rows with a truth that have no answer."""
    failed = sum(n for why, n in row.left_out.items() if why.startswith(FAILED))
    return failed / (failed + row.rows) if failed else 0.0


def calibration_item(
    bench: JudgeBench, item: Item, asker: Asker, decisions: Sequence[float], values: Sequence[float]
) -> CalibrationItem:
    """One line of a calibration set; undecided rows are None."""
    return CalibrationItem(
        kind=bench.kind,
        rater=item.rater,
        cluster=item.cluster,
        case=item.ask.case,
        review=item.ask.review,
        rows=item.ask.rows,
        truth=item.truth,
        judge=asker.instrument.signature,
        said=tuple(None if np.isnan(one) else float(one) for one in decisions),
        values=tuple(None if np.isnan(one) else float(one) for one in values),
    )


def _drift(
    bench: JudgeBench, before: Sequence[CalibrationItem], asker: Asker, resamples: Resamples
) -> JudgeAgreement | None:
    """The judge now against its stored answers; None where another judge gave them."""
    own = [one for one in before if one.said and one.judge == asker.instrument.signature]
    if not own:
        return None
    then = [Item(Ask(one.case, one.review, one.rows), DRIFT, one.said, one.cluster) for one in own]
    replies = asker.ask([item.ask for item in then], what="drift")
    lines = JudgedRows.of(list(zip(then, replies, strict=True)), resamples)
    return _agreement(bench, lines, DRIFT, asker.instrument.sign)
