"""Can this benchmark and this metric be trusted? Probes, reviews of known quality, are scored by the metric."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence

from reviewgauge.analysis.doctor import probe_checks as checks
from reviewgauge.analysis.doctor.lint import lint
from reviewgauge.analysis.doctor.trials import Trial
from reviewgauge.core.errors import NeedsCode
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.reports.leaderboard import DoctorReport, LintFinding, ProbeCheck
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import short_spec
from reviewgauge.engine import probes
from reviewgauge.engine.run.manifest import benchmark_hash

_PLACED = (*checks.READINGS, "line_precision", "line_recall", "line_f1")
TIMES = 3  # repetitions of the spam probes


def doctor(name: str, cases: Sequence[Case], metrics: Sequence[Metric], notes: Sequence[Drop] = ()) -> DoctorReport:
    """Score the probes with each metric on these cases, and lint the cases.

    `name` is the data set's, and `notes` of its reader are listed among the lint findings. A metric that needs code
    that is missing gives an untried check, not an error.
    """
    found = [*lint(cases), *(_noted(note) for note in notes)]
    found_checks: list[ProbeCheck] = []
    for metric in metrics:
        spec = short_spec(metric)
        before = f"{spec}: " if len(metrics) > 1 else ""
        for check in examine(metric, cases):
            found_checks.append(check.model_copy(update={"name": before + check.name, "metric": spec}))
    return DoctorReport(
        dataset=name,
        benchmark=benchmark_hash(cases),
        cases=len(cases),
        metrics=tuple(short_spec(metric) for metric in metrics),
        checks=tuple(found_checks),
        lint=tuple(found),
        lint_counts=dict(sorted(Counter(finding.rule for finding in found).items())),
    )


def examine(metric: Metric, cases: Sequence[Case]) -> list[ProbeCheck]:
    """Every check of one metric on these cases. Raises UserError for an unusable metric."""
    try:
        return _examine(metric, cases)
    except NeedsCode as error:
        return [checks.untried("the probes", "to run", str(error))]


def _examine(metric: Metric, cases: Sequence[Case]) -> list[ProbeCheck]:
    def trial(probe: Callable[[Case], Review]) -> Trial:
        return Trial(metric, [(case, probe(case)) for case in cases])

    oracle, silent, parrot = trial(probes.oracle), trial(probes.silent), trial(probes.parrot)
    if not oracle.answers and not oracle.failures:
        return [checks.untried("the probes", "to run", "the metric applies to none of these cases")]
    spam, wrong_line = trial(lambda case: probes.duplicate_spam(case, TIMES)), trial(probes.wrong_line)
    shuffled, in_place = trial(probes.shuffled(cases)), trial(probes.shuffled_in_place(cases))
    mixed, mixed_spam = trial(probes.mixed(cases)), trial(probes.mixed_spam(cases, TIMES))
    turned = Trial(metric, [_turned(case, review) for case, review in mixed_spam.items])
    everything = [oracle, silent, parrot, spam, wrong_line, shuffled, in_place, mixed, mixed_spam]
    found = [
        checks.no_failure(everything),
        checks.is_one(oracle, "oracle: recall", "recall"),
        checks.is_one(oracle, "oracle: precision", "precision"),
    ]
    if _has_phrasings(cases):
        every = trial(probes.oracle_all)
        everything.append(every)
        found.append(checks.is_one(every, "all phrasings: recall", "recall"))
    found += checks.silence(silent)
    found += [
        checks.identities(everything),
        checks.in_range(everything, metric),
        checks.order(metric, mixed_spam, turned),
        checks.spam_never_gains("spam never gains", mixed_spam, mixed),
        checks.never_above("repeating the oracle", spam, oracle, checks.READINGS),
        _lines(wrong_line, oracle, cases),
        *_others(shuffled, in_place, oracle, cases),
        checks.below("parrot", parrot, oracle, ("recall", "precision", "f1")),
        _reworded(metric, cases, shuffled),
    ]
    return found


def _turned(case: Case, review: Review) -> tuple[Case, Review]:
    """The same case and review with all comments in another order."""
    rng = random.Random(case.id)

    def mix(comments: tuple[Comment, ...]) -> tuple[Comment, ...]:
        return tuple(rng.sample(comments, len(comments)))

    known = {field: mix(getattr(case, field)) for field in ("references", "neutral", "rejected")}
    return case.model_copy(update=known), review.model_copy(update={"comments": mix(review.comments)})


def _has_phrasings(cases: Sequence[Case]) -> bool:
    return any(reference.same_as is not None for case in cases for reference in case.references)


def _lines(wrong: Trial, right: Trial, cases: Sequence[Case]) -> ProbeCheck:
    if not any(r.span is not None and r.span.start is not None for case in cases for r in case.references):
        return checks.untried("wrong lines", "never above oracle", "no reference has lines")
    return checks.never_above("wrong lines", wrong, right, _PLACED)


def _others(shuffled: Trial, in_place: Trial, oracle: Trial, cases: Sequence[Case]) -> list[ProbeCheck]:
    if sum(bool(case.references) for case in cases) < 2:
        why = "no other change has findings"
        return [checks.untried("another change's findings", "well below oracle", why)]
    return [
        checks.below("another change's findings", shuffled, oracle, ("recall",), checks.WELL_BELOW),
        checks.below("... on the right lines", in_place, oracle, ("recall",), checks.WELL_BELOW),
    ]


def _reworded(metric: Metric, cases: Sequence[Case], shuffled: Trial) -> ProbeCheck:
    name, expected = "other phrasings", "above another change's findings"
    items = [item for case in cases if (item := probes.reworded(case)) is not None]
    if not items:
        return checks.untried(name, expected, "the data holds no finding in two phrasings")
    trial = Trial(metric, items)
    recall = trial.value("recall")
    if recall is None:
        return checks.untried(name, expected, "the metric has no reading called recall on this data")
    total = sum(len(review.comments) for _, review in items)
    floor = shuffled.value("recall") or 0.0
    found = f"recall {checks.shown(recall)} over {total} findings, against {checks.shown(floor)}"
    return ProbeCheck(name=name, expected=expected, found=found, ok=recall > floor)


def _noted(note: Drop) -> LintFinding:
    return LintFinding(level="note", rule="noted_when_read", case=note.item, message=f"{note.by}: {note.reason}")
