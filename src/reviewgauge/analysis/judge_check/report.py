"""The whole check of a judge: agreement first, then the chosen probes on a few questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
from reviewgauge.analysis.judge_check.questions import Item, QuestionSet, drawn, probe_items
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.correlation import spearman_only
from reviewgauge.core.document import Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.judge_check import (
    Corrected,
    JudgeAgreement,
    JudgeGate,
    JudgeReport,
    LengthBias,
    SelfPreference,
    StoredQuestion,
)
from reviewgauge.models.request.model_spec import family

PARTS = ("agreement", "repeats", "order", "length", "self", "rewording", "irrelevant", "injection")
DRIFT = "itself, when the questions were stored"
MOST_FAILED = 0.1  # largest share of rows without an answer for a gate to pass


@dataclass(frozen=True)
class JudgeOptions:
    """What is asked of a judge, and what is made of its answers.

    `only` keeps some of `PARTS`. `limit` bounds the rows of the agreement, `probes` the questions that are edited.
    `authors` says which model a system is (`{"tool": "gpt-5"}`). `correct` also corrects each system's scores, with the
    reviews that people checked. `min_kappa` is a gate, with `lower` on the lower end of the interval. `save_questions`
    is the file for the questions with the answers.
    """

    probes: int = 30
    repeats: int = 3
    only: tuple[str, ...] = ()
    limit: int | None = None
    authors: Mapping[str, str] = field(default_factory=dict)
    correct: bool = False
    min_kappa: float | None = None
    lower: bool = False
    save_questions: str | Path | None = None
    resamples: Resamples = field(default_factory=Resamples)

    def __post_init__(self) -> None:
        """Raises UserError."""
        for part in self.only:
            if part not in PARTS:
                raise UserError(f"{part!r} is not a part of the check", remedy=f"parts: {', '.join(PARTS)}")
        if self.repeats < 2:
            raise UserError(f"repeats must be at least 2, got {self.repeats}", remedy="3 is the default")
        if self.probes < 1:
            raise UserError(f"probes must be at least 1, got {self.probes}", remedy="30 is the default")
        if self.limit is not None and self.limit < 1:
            raise UserError(f"limit must be at least 1, got {self.limit}")
        if self.lower and self.min_kappa is None:
            raise UserError("--lower belongs to a gate", remedy="--min-kappa .7 --lower")

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the check that are made."""
        return self.only or PARTS


def check_judge(
    questions: QuestionSet,
    asker: Asker,
    options: JudgeOptions,
    *,
    before: Sequence[StoredQuestion] = (),
    corrected: Sequence[Corrected] = (),
) -> tuple[JudgeReport, tuple[StoredQuestion, ...]]:
    """Ask the judge: the report, and the questions with its answers.

    `before` are its earlier answers to the same questions, for the drift.
    """
    instrument, resamples = asker.instrument, options.resamples
    items, out = drawn(questions.items, options.limit, resamples.seed)
    replies = asker.ask([item.ask for item in items], what="agreement") if "agreement" in options.parts else []
    by_rater: defaultdict[str, list[tuple[Item, Decisions | None]]] = defaultdict(list)
    for item, reply in zip(items, replies, strict=False):
        by_rater[item.rater].append((item, reply))
    agreement = tuple(
        _agreement(questions, JudgedRows.of(own, resamples), rater, instrument.sign) for rater, own in by_rater.items()
    )
    everything = JudgedRows.of(list(zip(items, replies, strict=False)), resamples)
    report = JudgeReport(
        judge=instrument.spec,
        signature=instrument.signature,
        kind=questions.kind,
        on=questions.name,
        models=instrument.models,
        pins=instrument.pins,
        estimate_note=instrument.estimate_note,
        agreement=agreement,
        drift=_drift(questions, before, asker, resamples) if before else None,
        corrected=tuple(corrected),
        spent=asker.spent,
        left_out={**questions.left_out, **({"rows beyond --limit": out} if out else {})},
        resamples=resamples.resamples,
        seed=resamples.seed,
        warnings=questions.warnings,
    )
    if "self" in options.parts and everything.n:
        report = report.model_copy(update={"self_preference": self_preference(questions, everything, asker)})
    report = _probed(report, questions, (items, everything), asker, options)
    update: dict[str, object] = {"spent": asker.spent, "fake": asker.fake, "stopped": asker.stopped}
    if options.min_kappa is not None:
        if asker.instrument.kind == "grades" and not asker.instrument.models:
            no_kappa = "a metric whose measures are not grades has no kappa, and does not pass the gate"
            update["warnings"] = (*report.warnings, no_kappa)
        found = gate(agreement, options.min_kappa, options.lower, report.drift)
        update["gate"] = found.model_copy(update={"passed": False}) if asker.stopped else found
    stored = tuple(
        stored_question(questions, item, asker, reply.decisions, reply.values)
        for item, reply in zip(items, replies, strict=False)
        if reply is not None and reply.failure is None
    )
    return report.model_copy(update=update), stored


def _agreement(questions: QuestionSet, lines: JudgedRows, rater: str, sign: float) -> JudgeAgreement:
    if questions.kind == "pairs":
        return pair_agreement(lines, rater)
    return grade_agreement(lines, rater, questions.lowest, sign)


def _probed(
    report: JudgeReport,
    questions: QuestionSet,
    answered: tuple[Sequence[Item], JudgedRows],
    asker: Asker,
    options: JudgeOptions,
) -> JudgeReport:
    """The report with its probes."""
    items, lines = answered
    if asker.instrument.reads_labels:
        why = "its verdicts are recorded, so edited questions have no answer"
        return report.model_copy(update={"warnings": (*report.warnings, f"no probes: {why}")})
    asked = set(options.parts) - {"agreement", "self"}
    single = probe_items(questions, options.probes, options.resamples.seed) if asked else []
    if not single or asker.stopped:
        return report
    probes = Probes(asker, single, options.resamples)
    update: dict[str, object] = {"probed": len(single), "flip_is": probes.flip_is}
    parts: Mapping[str, Callable[[], object]] = {
        "repeats": lambda: probes.repeats(options.repeats),
        "length": lambda: LengthBias(correlation=length_correlation(questions, lines, asker), padding=probes.padding()),
        "order": lambda: probes.order(drawn(items, options.probes, options.resamples.seed + 2)[0]),
        "rewording": probes.rewording,
        "irrelevant": probes.irrelevant,
        "injection": lambda: probes.injection(probes.padding()),
    }
    for name, probe in parts.items():
        if name in asked and not asker.stopped:
            update[name] = probe()
    return report.model_copy(update=update)


def length_correlation(questions: QuestionSet, lines: JudgedRows, asker: Asker) -> Value:
    """Spearman's rho of the judge's signed error with the length in words; above 0 it prefers long comments."""
    spoken = chosen(lines, [row.words > 0 for row in lines.rows])
    if spoken.n < 3:
        return undefined("too few rows with an answer", spoken.n)
    cluster, resampler = spoken.clusters
    error = signed_error(spoken, questions.kind, asker.instrument.sign)
    return spearman_only(error, spoken.column("words"), cluster, resampler)


def self_preference(questions: QuestionSet, lines: JudgedRows, asker: Asker) -> SelfPreference:
    """The judge's signed error on its own family's reviews, and on others' of a known family."""
    own_families = tuple(sorted({family(model) for model in asker.instrument.models}))
    if not own_families:
        return SelfPreference(reason="the judge asks no model, so it has no family")
    if not questions.authors:
        return SelfPreference(families=own_families, reason="the authors' models are not known: --author SYSTEM=MODEL")
    known = chosen(lines, [row.system in questions.authors for row in lines.rows])
    own = np.array([questions.authors[row.system] in own_families for row in known.rows], dtype=bool)
    if not own.any() or own.all():
        which = "all" if own.size and own.all() else "none"
        return SelfPreference(families=own_families, reason=f"{which} of the known authors are of the judge's family")
    error = signed_error(known, questions.kind, asker.instrument.sign)

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


# --- gate, drift and stored questions ------------------------------------------------------------------------------


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


def stored_question(
    questions: QuestionSet, item: Item, asker: Asker, decisions: Sequence[float], values: Sequence[float]
) -> StoredQuestion:
    """One line of a stored set; undecided rows are None."""
    return StoredQuestion(
        kind=questions.kind,
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
    questions: QuestionSet, before: Sequence[StoredQuestion], asker: Asker, resamples: Resamples
) -> JudgeAgreement | None:
    """The judge now against its stored answers; None where another judge gave them."""
    own = [one for one in before if one.said and one.judge == asker.instrument.signature]
    if not own:
        return None
    then = [Item(Ask(one.case, one.review, one.rows), DRIFT, one.said, one.cluster) for one in own]
    replies = asker.ask([item.ask for item in then], what="drift")
    lines = JudgedRows.of(list(zip(then, replies, strict=True)), resamples)
    return _agreement(questions, lines, DRIFT, asker.instrument.sign)
