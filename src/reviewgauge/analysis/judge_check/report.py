"""The whole check of a judge: agreement first, then the chosen probes on a few questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reviewgauge.analysis.judge_check.agreement import (
    FAILED,
    JudgedRows,
    grade_agreement,
    pair_agreement,
    signed_error,
    undefined,
)
from reviewgauge.analysis.judge_check.instrument import Asker, Decisions
from reviewgauge.analysis.judge_check.probes import Probes
from reviewgauge.analysis.judge_check.questions import Item, QuestionSet, drawn, probe_items
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import Resamples
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
)
from reviewgauge.models.request.model_spec import family

PARTS = ("agreement", "repeats", "order", "length", "self", "rewording", "irrelevant", "framing", "injection")
MOST_FAILED = 0.1  # largest share of rows without an answer for a gate to pass


@dataclass(frozen=True)
class JudgeOptions:
    """What is asked of a judge, and what is made of its answers.

    `only` keeps some of `PARTS`. `limit` bounds the rows of the agreement, `probes` the questions that are edited.
    `authors` says which model a system is (`{"tool": "gpt-5"}`). `correct` also corrects each system's scores, with the
    reviews that people checked. `min_kappa` is a gate, with `lower` on the lower end of the interval.
    """

    probes: int = 30
    repeats: int = 3
    only: tuple[str, ...] = ()
    limit: int | None = None
    authors: Mapping[str, str] = field(default_factory=dict)
    correct: bool = False
    min_kappa: float | None = None
    lower: bool = False
    resamples: Resamples = field(default_factory=Resamples)

    def __post_init__(self) -> None:
        """Raises UserError."""
        for part in self.only:
            if part not in PARTS:
                raise UserError(f"{part!r} is not a part of the check", remedy=f"parts: {', '.join(PARTS)}")
        limit = 1 if self.limit is None else self.limit
        for name, value, least in (("repeats", self.repeats, 2), ("probes", self.probes, 1), ("limit", limit, 1)):
            if value < least:
                raise UserError(f"{name} must be at least {least}, got {value}")
        if self.lower and self.min_kappa is None:
            raise UserError("--lower belongs to a gate", remedy="--min-kappa .7 --lower")
        if self.min_kappa is not None and "agreement" not in self.parts:
            raise UserError("a gate needs the agreement, which --only leaves out", remedy="add agreement to --only")

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the check that are made."""
        return self.only or PARTS


def check_judge(
    questions: QuestionSet, asker: Asker, options: JudgeOptions, corrected: Sequence[Corrected] = ()
) -> JudgeReport:
    """Ask the judge. Raises UserError where there is nothing to ask."""
    if not questions.items:
        raise UserError(f"{questions.name} has no question with a reference answer")
    instrument, resamples = asker.instrument, options.resamples
    items, out = drawn(questions.items, options.limit, resamples.seed)
    replies = asker.ask([item.ask for item in items], what="agreement") if "agreement" in options.parts else []
    answered = list(zip(items, replies, strict=False))
    by_rater: defaultdict[str, list[tuple[Item, Decisions | None]]] = defaultdict(list)
    for item, reply in answered:
        by_rater[item.rater].append((item, reply))
    agreement = []
    for rater, own in by_rater.items():
        rows = JudgedRows.of(own, resamples)
        pairs = questions.kind == "pairs"
        agreement.append(
            pair_agreement(rows, rater) if pairs else grade_agreement(rows, rater, questions.lowest, instrument.sign)
        )
    everything = JudgedRows.of(answered, resamples)
    update: dict[str, object] = {}
    warnings = list(questions.warnings)
    if "self" in options.parts and everything.n:
        update["self_preference"] = self_preference(questions, everything, asker)
    if instrument.reads_labels:
        warnings.append("no probes: its verdicts are recorded, so edited questions have no answer")
    else:
        update |= _probed(questions, items, everything, asker, options)
    if options.min_kappa is not None:
        if instrument.kind == "grades" and not instrument.models:
            warnings.append("a metric whose measures are not grades has no kappa, and does not pass the gate")
        found = gate(agreement, options.min_kappa, options.lower)
        update["gate"] = found.model_copy(update={"passed": found.passed and not asker.stopped})
    report = JudgeReport(
        judge=instrument.spec,
        signature=instrument.signature,
        kind=questions.kind,
        on=questions.name,
        models=instrument.models,
        pins=instrument.pins,
        estimate_note=instrument.estimate_note,
        fake=asker.fake,
        agreement=tuple(agreement),
        corrected=tuple(corrected),
        spent=asker.spent,
        left_out={**questions.left_out, **({"rows beyond --limit": out} if out else {})},
        stopped=asker.stopped,
        resamples=resamples.resamples,
        seed=resamples.seed,
        warnings=tuple(warnings),
    )
    return report.model_copy(update=update)


def _probed(
    questions: QuestionSet, items: Sequence[Item], lines: JudgedRows, asker: Asker, options: JudgeOptions
) -> dict[str, object]:
    """The probes' parts of the report."""
    asked = set(options.parts) - {"agreement", "self"}
    single = probe_items(questions, options.probes, options.resamples.seed) if asked else []
    if not single or asker.stopped:
        return {}
    probes = Probes(asker, single, options.resamples)
    found: dict[str, object] = {"probed": len(single), "flip_is": probes.flip_is}
    parts: Mapping[str, Callable[[], object]] = {
        "repeats": lambda: probes.repeats(options.repeats),
        "length": lambda: LengthBias(correlation=length_correlation(questions, lines, asker), padding=probes.padding()),
        "order": lambda: probes.order(drawn(items, options.probes, options.resamples.seed + 2)[0]),
        "rewording": probes.rewording,
        "irrelevant": probes.irrelevant,
        "framing": probes.framing,
        "injection": lambda: probes.injection(probes.padding()),
    }
    for name, probe in parts.items():
        if name in asked and not asker.stopped:
            found[name] = probe()
    return found


def length_correlation(questions: QuestionSet, lines: JudgedRows, asker: Asker) -> Value:
    """Spearman's rho of the judge's signed error with the length in words; above 0 it prefers long comments."""
    spoken = lines.rows(lines.words > 0)
    if spoken.n < 3:
        return undefined("too few rows with an answer", spoken.n)
    error = signed_error(spoken, questions.kind, asker.instrument.sign)
    return spearman_only(error, spoken.words, *spoken.clusters)


def self_preference(questions: QuestionSet, lines: JudgedRows, asker: Asker) -> SelfPreference:
    """The judge's signed error on its own family's reviews, and on others' of a known family."""
    own_families = tuple(sorted({family(model) for model in asker.instrument.models}))
    if not own_families:
        return SelfPreference(reason="the judge asks no model, so it has no family")
    if not questions.authors:
        return SelfPreference(families=own_families, reason="the authors' models are not known: --author SYSTEM=MODEL")
    known = lines.rows(np.array([system in questions.authors for system in lines.system], dtype=bool))
    own = np.array([questions.authors[system] in own_families for system in known.system], dtype=bool)
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


def gate(agreement: Sequence[JudgeAgreement], least: float, lower: bool) -> JudgeGate:
    """Whether the lowest kappa over all raters reaches `least`.

    An undefined kappa does not pass, and neither does a judge that failed on more than a tenth of the rows.
    """
    kappas = [(row.kappa.low if lower else row.kappa.value, row.rater) for row in agreement]
    value, rater = min(kappas, key=lambda one: -2.0 if one[0] is None else one[0])
    failed = max(map(_failed_share, agreement))
    return JudgeGate(
        least=least,
        of="lower end of the interval" if lower else "kappa",
        kappa=value,
        rater=rater,
        passed=value is not None and value >= least and failed <= MOST_FAILED,
        failed=failed,
        most_failed=MOST_FAILED,
    )


def _failed_share(row: JudgeAgreement) -> float:
    """The share of rows with a truth that have no answer."""
    failed = sum(n for why, n in row.left_out.items() if why.startswith(FAILED))
    return failed / (failed + row.rows) if failed else 0.0
