"""Can this benchmark and this metric be trusted? Probes, reviews of known quality, are scored, and the data is read."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

from reviewgauge.analysis.doctor import probe_checks as checks
from reviewgauge.analysis.doctor.limits import label_noise, size_of_labels, unsure
from reviewgauge.analysis.doctor.trials import Trial
from reviewgauge.analysis.doctor.twin_checks import examine_twins, twin_flaws
from reviewgauge.core.errors import NeedsCode, one_line
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Change, Comment, Review, Side, Span
from reviewgauge.core.reports.doctor import DoctorReport, LintFinding, ProbeCheck
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import short_spec
from reviewgauge.engine import probes
from reviewgauge.engine.run.manifest import benchmark_hash
from reviewgauge.metrics.twins import Twins
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.stages.sampling.balance import (
    MORE_TRAITS,
    TRAITS,
    balance,
    changed_and_clean,
    stated_by_all,
    telling,
)

Level = Literal["error", "warning", "note"]
MANY_CASES = 3  # one text as a reference of so many cases is generic
_SHORT_WORDS = 12  # characters; short texts such as "Nit." recur in good data
_GARBLED = re.compile(
    "\ufffd|Ã[\u0080-\u00bf]|Â[\u0080-\u00bf]|â€[\u0098-\u00a6™œ\u009d\u0093\u0094]|ï»¿|â\u0080[\u0090-\u00bf]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_LEVELS: tuple[Level, ...] = ("error", "warning", "note")
_PLACED = (*checks.MEASURES, "line_precision", "line_recall", "line_f1")
TIMES = 3  # repetitions of the spam probes


def doctor(name: str, cases: Sequence[Case], metrics: Sequence[Metric], notes: Sequence[Drop] = ()) -> DoctorReport:
    """Score the probes with each metric on these cases, and lint the cases.

    `name` is the data set's, and `notes` of its reader are listed among the lint findings. A metric that needs code
    that is missing gives an untried check, not an error.
    """
    found = lint(cases)
    found += [
        LintFinding(level="note", rule="noted_when_read", case=note.item, message=f"{note.by}: {note.reason}")
        for note in notes
    ]
    found_checks: list[ProbeCheck] = []
    limits: list[str] = []
    size = size_of_labels(cases)
    if size is not None and size.problem:
        found.insert(0, LintFinding(level="error", rule="too_small", case="", message=size.problem))
    for metric in metrics:
        spec = short_spec(metric)
        before = f"{spec}: " if len(metrics) > 1 else ""
        examined, undecided = examine(metric, cases)
        for check in examined:
            found_checks.append(check.model_copy(update={"name": before + check.name, "metric": spec}))
        limits += [before + undecided] if undecided else []
    return DoctorReport(
        dataset=name,
        benchmark=benchmark_hash(cases),
        cases=len(cases),
        metrics=tuple(short_spec(metric) for metric in metrics),
        checks=tuple(found_checks),
        limits=(*limits, *([f"labels: {size.words}"] if size else []), *label_noise(cases)),
        lint=tuple(found),
        lint_counts=dict(sorted(Counter(finding.rule for finding in found).items())),
    )


def examine(metric: Metric, cases: Sequence[Case]) -> tuple[list[ProbeCheck], str]:
    """Every check of one metric on these cases, and what it is unsure of. Raises UserError for an unusable metric."""
    try:
        return _examine(metric, cases)
    except NeedsCode as error:
        return [checks.untried("the probes", "to run", str(error))], ""


def _examine(metric: Metric, cases: Sequence[Case]) -> tuple[list[ProbeCheck], str]:
    def trial(probe: Callable[[Case], Review]) -> Trial:
        return Trial(metric, [(case, probe(case)) for case in cases])

    if isinstance(metric, Twins):
        return examine_twins(metric, cases), ""
    oracle, silent, parrot = trial(probes.oracle), trial(probes.silent), trial(probes.parrot)
    if not oracle.answers and not oracle.failures:
        return [checks.untried("the probes", "to run", "the metric applies to none of these cases")], ""
    wrong_line = trial(probes.wrong_line)
    shuffled, in_place = trial(probes.shuffled(cases)), trial(probes.shuffled_in_place(cases))
    wordless, suggesting = trial(probes.wordless), trial(probes.suggesting)
    reworded = Trial(metric, [item for case in cases if (item := probes.reworded(case)) is not None])
    mixed, mixed_spam = trial(probes.mixed(cases)), trial(probes.mixed_spam(cases, TIMES))
    turned = Trial(metric, [_turned(case, review) for case, review in mixed_spam.items])
    everything = [oracle, silent, parrot, wrong_line, shuffled, in_place, mixed, mixed_spam]
    found = [
        checks.no_failure(everything),
        checks.is_one(oracle, "oracle: recall", "recall"),
        checks.is_one(oracle, "oracle: precision", "precision"),
    ]
    if any(reference.same_as is not None for case in cases for reference in case.references):
        every = trial(probes.oracle_all)
        everything.append(every)
        found.append(checks.is_one(every, "all phrasings: recall", "recall"))
    found += checks.silence(silent)
    found += [
        checks.identities(everything),
        checks.in_range(everything, metric),
        checks.order(metric, mixed_spam, turned),
        checks.spam_never_gains("spam never gains", mixed_spam, mixed),
        _lines(wrong_line, oracle, cases),
        *_others(shuffled, in_place, oracle, cases),
        *_placed_words(wordless, suggesting, oracle),
        checks.below("a greeting", trial(probes.greeting), oracle, ("recall",), checks.NEXT_TO_NOTHING),
        _told_back(trial(probes.restating), oracle),
        checks.below("parrot", parrot, oracle, ("recall", "precision", "f1")),
        _other_phrasings(reworded, shuffled),
    ]
    told = suggesting if any(review.comments for _, review in suggesting.items) else reworded
    return found, unsure(told)


def _turned(case: Case, review: Review) -> tuple[Case, Review]:
    """The same case and review with all comments in another order."""
    rng = random.Random(case.id)

    def mix(comments: tuple[Comment, ...]) -> tuple[Comment, ...]:
        return tuple(rng.sample(comments, len(comments)))

    known = {field: mix(getattr(case, field)) for field in ("references", "neutral", "rejected")}
    return case.model_copy(update=known), review.model_copy(update={"comments": mix(review.comments)})


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
        checks.below("... on the right lines", in_place, oracle, (_sure(oracle),), checks.WELL_BELOW),
    ]


def _sure(trial: Trial) -> str:
    """The recall of what the metric is sure of, where it tells."""
    return "recall_least" if "recall_least" in trial.measures else "recall"


def _placed_words(wordless: Trial, suggesting: Trial, oracle: Trial) -> list[ProbeCheck]:
    """Empty words on the right lines are not surely right, and the fix itself is not surely wrong there."""
    sure = _sure(oracle)
    found = checks.below("empty words on the right lines", wordless, oracle, (sure,), checks.WELL_BELOW)
    name, expected = "the fix, proposed on its lines", f"at least {checks.WELL_BELOW:g} of the findings may be raised"
    measure = sure.replace("_least", "_most")
    told = [item for item in suggesting.items if item[1].comments]
    if not told:
        return [found, checks.untried(name, expected, "no finding comes with the lines of its fix")]
    recall = Trial(suggesting.metric, told).value(measure)
    if recall is None:
        return [found, checks.untried(name, expected, f"the metric has no {measure} on this data")]
    shown = f"{measure} {checks.shown(recall)} in {len(told)} changes"
    return [found, ProbeCheck(name=name, expected=expected, found=shown, ok=recall >= checks.WELL_BELOW)]


def _told_back(restating: Trial, oracle: Trial) -> ProbeCheck:
    """Words that the change holds are no findings: not even by the headline of a metric that needs no references."""
    name, measure = "the change, told back", oracle.metric.headline
    if "recall" in oracle.measures:
        return checks.below(name, restating, oracle, ("recall",), checks.TOLD_BACK)
    if measure in oracle.metric.lower_is_better:
        return checks.untried(name, "below oracle", f"a lower {measure} is better")
    return checks.below(name, restating, oracle, (measure,))


def _other_phrasings(trial: Trial, shuffled: Trial) -> ProbeCheck:
    name, expected = "other phrasings", "above another change's findings"
    if not trial.items:
        return checks.untried(name, expected, "the data holds no finding in two phrasings")
    recall = trial.value("recall")
    if recall is None:
        return checks.untried(name, expected, "the metric has no measure called recall on this data")
    total = sum(len(review.comments) for _, review in trial.items)
    floor = shuffled.value("recall") or 0.0
    found = f"recall {checks.shown(recall)} over {total} findings, against {checks.shown(floor)}"
    return ProbeCheck(name=name, expected=expected, found=found, ok=recall > floor)


# --- lint ----------------------------------------------------------------------------------------------------------


def lint(cases: Sequence[Case]) -> list[LintFinding]:
    """Findings in these cases, errors first. The documentation of doctor describes each rule."""
    found = [*_across(cases), *_sizes(cases)]
    found += [_remark("error", flaw.rule, flaw.case, "", flaw.message) for flaw in twin_flaws(cases)]
    for case in cases:
        for comment in (*case.references, *case.neutral, *case.rejected):
            found += _texts(case, comment)
        found += [*_repeated(case), *_contradictory(case), *_locations(case)]
    return sorted(found, key=lambda finding: _LEVELS.index(finding.level))


def _remark(level: Level, rule: str, case: str, item: str, message: str) -> LintFinding:
    return LintFinding(level=level, rule=rule, case=one_line(case), item=one_line(item), message=one_line(message))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _across(cases: Sequence[Case]) -> Iterator[LintFinding]:
    """Remarks on ids, texts and facts of several cases, each with the first case that it is about."""
    for name, count in Counter(case.id for case in cases).items():
        if count > 1:
            yield _remark("error", "duplicate_id", name, "", f"{count} cases have this id")
    where: dict[str, list[tuple[str, Comment]]] = defaultdict(list)
    for case in cases:
        for body, comment in {_plain(comment.body): comment for comment in case.references}.items():
            where[body].append((case.id, comment))
    for body, uses in where.items():
        if len(uses) >= MANY_CASES and len(body) > _SHORT_WORDS:
            message = f'"{one_line(body, 80)}" is a reference of {len(uses)} cases'
            yield _remark("warning", "duplicate_everywhere", uses[0][0], uses[0][1].id, message)
    for fact in sorted({fact for case in cases for fact in case.facts}):  # slices by incomplete facts are incomplete
        if without := [case.id for case in cases if fact not in case.facts]:
            message = f"{len(without):,} of {len(cases):,} cases lack it"
            yield _remark("warning", "missing_fact", without[0], fact, message)


def _sizes(cases: Sequence[Case]) -> Iterator[LintFinding]:
    """A remark on each number by which changed cases can be told from clean ones without reading them."""
    known = [case for case in cases if case.clean or case.references]
    names = stated_by_all(known, (*TRAITS, *MORE_TRAITS))
    for one in telling(balance(names, *changed_and_clean(known, names)[:2])):
        message = f"tells changed from clean cases with an AUC of {one.auc:.2f}: commenting on large changes pays"
        yield _remark("warning", "size_tells", known[0].id, one.name, message)


def _texts(case: Case, comment: Comment) -> Iterator[LintFinding]:
    body = comment.body
    if not body.strip():
        yield _remark("error", "empty_body", case.id, comment.id, "is empty")
    if _SURROGATE.search(body):
        message = "has half a surrogate pair, which cannot be stored"
        yield _remark("error", "encoding", case.id, comment.id, message)
    elif found := _GARBLED.search(body):
        message = f"has {found[0]!r}: lost characters, or UTF-8 decoded as another encoding"
        yield _remark("warning", "encoding", case.id, comment.id, message)


def _repeated(case: Case) -> Iterator[LintFinding]:
    """The same text at the same location twice: no review can distinguish the two findings."""
    for kind in ("references", "rejected", "neutral"):
        seen: dict[tuple[str, Span | None], Comment] = {}
        for comment in getattr(case, kind):
            first = seen.setdefault((_plain(comment.body), comment.span), comment)
            if first is not comment and first.id not in (comment.same_as, comment.id):
                message = f"repeats {first.id} at the same location ({kind})"
                yield _remark("warning", "duplicate", case.id, comment.id, message)


def _contradictory(case: Case) -> Iterator[LintFinding]:
    """One text as a reference and as a rejected comment: an error at the same location, else a warning."""
    for reference in case.references:
        for other in case.rejected:
            if _plain(other.body) == _plain(reference.body):
                same = other.span == reference.span
                message = f"is a reference, and rejected as {other.id}{'' if same else ' at another location'}"
                yield _remark("error" if same else "warning", "contradictory", case.id, reference.id, message)


def _locations(case: Case) -> Iterator[LintFinding]:
    """References on files and lines outside the diff, where no reader of the diff can find them."""
    paths = {path for file in case.change.files for path in (file.path, file.old_path) if path}
    for reference in case.references:
        span = reference.span
        if span is None or not paths:
            continue
        if span.path not in paths:
            yield _remark("warning", "path_not_in_change", case.id, reference.id, f"{span.path} is not changed")
        elif span.start is not None and span.end is not None:
            ranges = _shown_lines(case.change, span.path, span.side)
            if ranges is not None and not any(span.start <= end and start <= span.end for start, end in ranges):
                where = f"{span.path}:{span.start}-{span.end} ({span.side} side)"
                yield _remark("warning", "outside_diff", case.id, reference.id, f"{where} is outside all hunks")


def _shown_lines(change: Change, path: str, side: Side) -> list[tuple[int, int]] | None:
    """The line ranges of a file in the diff on one side; None without its patch."""
    files = [file for file in change.files if path in (file.path, file.old_path)]
    if not files or any(file.patch is None for file in files):
        return None
    return [pair for file in files for pair in _ranges_of(file.patch or "", side)]


@lru_cache(maxsize=256)
def _ranges_of(patch: str, side: Side) -> tuple[tuple[int, int], ...]:
    places = (hunk.place(side) for hunk in parse_patch(patch))
    return tuple((start, start + max(0, count - 1)) for start, count in places)
