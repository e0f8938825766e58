"""Checks that must hold for any metric on any benchmark: ProbeChecks with the smallest case that breaks them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from reviewgauge.analysis.doctor.trials import Trial, TrialResult
from reviewgauge.core.errors import one_line
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.doctor import ProbeCheck
from reviewgauge.core.results import CommentState, Matching, Parts

EPSILON = 1e-9
WHOLE = 1e-6  # tolerance of a 1 from single-precision vectors
MEASURES = ("precision", "recall", "f1")
WELL_BELOW = 0.5  # largest share of the oracle's measure for another change's findings
TOLD_BACK = 1 / 3  # the same for a comment that tells the change back
NEXT_TO_NOTHING = 0.1  # the same for words without content or place
_SILENT = "undefined"


def shown(value: float | None) -> str:
    """A measure with four digits."""
    if value is None or math.isnan(value):
        return _SILENT
    text = f"{value:.4f}"
    return text if text not in ("1.0000", "0.0000") or value in (0.0, 1.0) else f"{value:.3g}"


def untried(name: str, expected: str, why: str) -> ProbeCheck:
    """A check that does not apply to this data or metric."""
    return ProbeCheck(name=name, expected=expected, found=why, ok=None)


def _check(name: str, expected: str, found: str, holds: bool, bad: Sequence[tuple[TrialResult, str]]) -> ProbeCheck:
    """A check with the smallest of the `bad` results."""
    ok = holds and not bad
    if not bad:
        return ProbeCheck(name=name, expected=expected, found=found, ok=ok)
    result, detail = min(bad, key=lambda pair: (pair[0].size, pair[0].case.id))
    found += f" ({len(bad)} cases)" if len(bad) > 1 else ""
    return ProbeCheck(
        name=name, expected=expected, found=found, ok=ok, case=result.case.id, detail=one_line(detail, 300)
    )


# --- one probe against a number ------------------------------------------------------------------------------------


def is_one(trial: Trial, name: str, measure: str) -> ProbeCheck:
    """The measure is 1 overall, and on every case where it is defined."""
    if measure not in trial.measures:
        return untried(name, "1", f"the metric has no measure called {measure}")
    total = trial.value(measure)
    if total is None:
        return untried(name, "1", f"{measure} is undefined on this data")
    bad = [
        (answer, f"{measure} is {shown(value)}: {_why_short(answer, measure)}")
        for answer, value in trial.of_cases(measure)
        if abs(value - 1) > WHOLE
    ]
    return _check(name, "1", shown(total) + _out_of(trial, measure), abs(total - 1) <= WHOLE, bad)


def _out_of(trial: Trial, measure: str) -> str:
    part, whole = {"recall": ("hit", "references"), "precision": ("right", "said")}.get(measure, ("", ""))
    sums = trial.parts
    return f" ({sums[part]:,.0f} of {sums[whole]:,.0f})" if part in sums and whole in sums else ""


def _why_short(answer: TrialResult, measure: str) -> str:
    """The first piece of evidence that keeps the measure below 1."""
    matching = answer.measured.matching
    if matching is None:
        return "the metric gives no evidence"
    if measure != "precision":
        for group in matching.groups:
            if not group.hit:
                return f"finding {group.group} counts as missed" + (f", {group.reason}" if group.reason else "")
    for comment in matching.comments:
        if comment.state is not CommentState.MATCHED:
            body = next((c.body for c in answer.review.comments if c.id == comment.comment), "")
            reason = f", {comment.reason}" if comment.reason else ""
            return f'"{one_line(body, 60)}" counts as {comment.state}{reason}'
    return "the evidence does not say why"


def silence(trial: Trial) -> list[ProbeCheck]:
    """An empty review has recall 0 and no precision."""
    checks = [_silent_is(trial, measure) for measure in ("recall", "f1") if measure in trial.measures]
    if not checks:
        checks = [untried("silence: recall", "0", "the metric has no measure called recall")]
    name, expected = "silence: precision", "undefined, not 1"
    if "precision" not in trial.measures:
        return [*checks, untried(name, expected, "the metric has no measure called precision")]
    # A text metric without a matching may give 0.
    nothing = EPSILON if all(answer.measured.matching is None for answer in trial.answers) else -math.inf
    bad = [
        (answer, f"precision of no comments is {shown(value)}")
        for answer, value in trial.of_cases("precision")
        if value > nothing
    ]
    value = trial.value("precision")
    return [*checks, _check(name, expected, shown(value), value is None or value <= nothing, bad)]


def _silent_is(trial: Trial, measure: str) -> ProbeCheck:
    bad = [
        (answer, f"{measure} of no comments is {shown(value)}")
        for answer, value in trial.of_cases(measure)
        if value > EPSILON and answer.case.references
    ]
    value, expected = trial.value(measure), "0"
    if value is None:
        if any(answer.case.references for answer in trial.answers) and measure == "recall":
            return ProbeCheck(name=f"silence: {measure}", expected=expected, found=_SILENT, ok=False)
        return untried(f"silence: {measure}", expected, f"{measure} is undefined on this data")
    return _check(f"silence: {measure}", expected, shown(value), value <= EPSILON, bad)


def in_range(trials: Sequence[Trial], metric: Metric) -> ProbeCheck:
    """Every share is within 0 and 1, or -1 and 1 if it is signed."""
    name, expected = "shares are shares", "within 0 and 1"
    shares = [
        (answer, measure, value)
        for trial in trials
        for measure in trial.measures
        if metric.units.get(measure, "share") == "share"
        for answer, value in trial.of_cases(measure)
        if not math.isnan(value)
    ]
    bad = [
        (answer, f"{measure} of the {answer.review.system} probe is {shown(value)}")
        for answer, measure, value in shares
        if not (-1.0 if measure in metric.signed else 0.0) - EPSILON <= value <= 1 + EPSILON
    ]
    if not shares:
        return untried(name, expected, "the metric has no measure that is a share")
    return _check(name, expected, "outside" if bad else "all within", not bad, bad)


# --- one probe against another -------------------------------------------------------------------------------------


def never_above(name: str, lower: Trial, upper: Trial, measures: Sequence[str]) -> ProbeCheck:
    """No measure of `lower` exceeds that of `upper`, overall and on each case."""
    expected = f"never above {_system(upper)}"
    shared = _shared(lower, upper, measures)
    if not shared:
        return untried(name, expected, f"the metric has none of {', '.join(measures)} on this data")
    bad: dict[str, tuple[TrialResult, str]] = {}
    for measure in shared:
        best = {answer.case.id: value for answer, value in upper.of_cases(measure)}
        for answer, value in lower.of_cases(measure):
            if value > best.get(answer.case.id, math.nan) + EPSILON:
                detail = f"{measure} rises from {shown(best[answer.case.id])} to {shown(value)}"
                bad.setdefault(answer.case.id, (answer, detail))
    holds = all(_number(lower, measure) <= _number(upper, measure) + EPSILON for measure in shared)
    return _check(name, expected, _versus(lower, upper, shared), holds, list(bad.values()))


def _system(trial: Trial) -> str:
    return trial.items[0][1].system if trial.items else "the other"


def _shared(lower: Trial, upper: Trial, measures: Sequence[str]) -> list[str]:
    """The measures that both trials define."""
    return [r for r in measures if lower.value(r) is not None and upper.value(r) is not None]


def spam_never_gains(name: str, spam: Trial, once: Trial) -> ProbeCheck:
    """Repeating right comments gains no precision and no F1 when duplicates count as false.

    Counted from the parts where the metric has them, otherwise as the metric counts. The metric's own measures are
    reported too: a profile that sets duplicates apart may gain.
    """
    expected = "no gain, duplicates counted as false"
    if not all(strict(answer.measured.parts) for trial in (spam, once) for answer in trial.answers):
        return never_above(name, spam, once, ("precision", "f1"))
    before = {answer.case.id: strict(answer.measured.parts) for answer in once.answers}
    bad: list[tuple[TrialResult, str]] = []
    for answer in spam.answers:
        for measure, value in strict(answer.measured.parts).items():
            start = before.get(answer.case.id, {}).get(measure, math.nan)
            if value > start + EPSILON:
                bad.append((answer, f"{measure} rises from {shown(start)} to {shown(value)}"))
                break
    lower, upper = (strict(trial.parts) for trial in (spam, once))
    if all(math.isnan(value) for value in (*lower.values(), *upper.values())):
        return untried(name, expected, "precision and F1 are undefined on this data")
    holds = all(not lower[r] > upper[r] + EPSILON for r in lower)
    found = ", ".join(f"{r} {shown(lower[r])} against {shown(upper[r])}" for r in lower)
    if own := _shared(spam, once, ("precision", "f1")):
        found += f"; as the metric counts: {_versus(spam, once, own)}"
    return _check(name, expected, found, holds, bad)


def strict(parts: Parts) -> dict[str, float]:
    """Precision and F1 with duplicates counted as false; empty without the parts, NaN where undefined."""
    if not {"matched", "duplicate", "false", "hit", "references"} <= set(parts):
        return {}
    unsure = parts.get("unsure", 0.0)
    comments = parts["matched"] + parts["duplicate"] + parts["false"] + unsure
    right = parts["right"] if unsure else parts["matched"]  # an unsure comment counts as its probability
    precision = right / comments if comments else math.nan
    recall = parts["hit"] / parts["references"] if parts["references"] else math.nan
    both = precision + recall
    return {"precision": precision, "f1": 0.0 if both == 0 else 2 * precision * recall / both}


def below(name: str, lower: Trial, upper: Trial, measures: Sequence[str], share: float = 1.0) -> ProbeCheck:
    """Overall, each measure of `lower` is below `share` of that of `upper`."""
    expected = f"below {_system(upper)}" if share == 1.0 else f"at most {share:.2g} of {_system(upper)}"
    shared = _shared(lower, upper, measures)
    if not shared:
        return untried(name, expected, f"the metric has none of {', '.join(measures)} on this data")
    holds = all(_number(lower, r) <= share * _number(upper, r) + (EPSILON if share < 1 else -EPSILON) for r in shared)
    above = [] if holds else [pair for pair in lower.of_cases(shared[0]) if pair[1] > EPSILON]
    smallest = sorted(above, key=lambda pair: (pair[0].size, pair[0].case.id))[:1]
    bad = [(answer, f"{shared[0]} is {shown(value)}") for answer, value in smallest]
    return _check(name, expected, _versus(lower, upper, shared), holds, bad)


def _number(trial: Trial, measure: str) -> float:
    value = trial.value(measure)
    return math.nan if value is None else value


def _versus(lower: Trial, upper: Trial, measures: Sequence[str]) -> str:
    return ", ".join(f"{r} {shown(lower.value(r))} against {shown(upper.value(r))}" for r in measures)


# --- identities ---------------------------------------------------------------------------------------------------


def identities(trials: Sequence[Trial]) -> ProbeCheck:
    """Every comment and finding counts once, and the parts agree with the matching."""
    name, expected = "accounts add up", "each comment and finding counted once"
    bad: list[tuple[TrialResult, str]] = []
    declared: set[str] = set()
    excused = held = 0
    for answer in (answer for trial in trials for answer in trial.answers):
        if answer.measured.matching is None:
            continue
        held += 1
        problem = broken_identity(answer)
        if problem and answer.measured.matching.broken:
            excused += 1
            declared.update(answer.measured.matching.broken)
        elif problem:
            bad.append((answer, f"{answer.review.system} probe: {problem}"))
    if not held:
        return untried(name, expected, "the metric gives no matching")
    if excused and not bad:
        reason = f"broken in {excused} of {held:,} reviews, as this variant declares: {'; '.join(sorted(declared))}"
        return untried(name, expected, reason)
    return _check(name, expected, "broken" if bad else f"in {held:,} reviews", not bad, bad)


def broken_identity(answer: TrialResult) -> str:
    """The first broken identity between a matching and the parts, in words; empty if all hold."""
    matching = answer.measured.matching
    assert matching is not None
    comments = Counter(comment.id for comment in answer.review.comments)
    counted = Counter(outcome.comment for outcome in matching.comments)
    if counted != comments:
        odd = min((counted - comments) + (comments - counted))
        return f"comment {odd} is counted {counted[odd]} times"
    references = Counter(reference.id for reference in answer.case.references)
    members = Counter(member for group in matching.groups for member in group.members)
    if members != references:
        odd = min((members - references) + (references - members))
        return f"reference {odd} is counted {members[odd]} times"
    groups = {group.group: group for group in matching.groups}
    if len(groups) != len(matching.groups):
        return "a finding is counted twice"
    for outcome in matching.comments:
        if outcome.rejected and outcome.state is not CommentState.FALSE:
            return f"comment {outcome.comment} is known to be wrong and counts as {outcome.state}"
        if outcome.state is CommentState.MATCHED and not (outcome.group in groups and groups[outcome.group].hit):
            return f"comment {outcome.comment} is matched to {outcome.group}, which is not hit"
    for group in matching.groups:
        if group.hit and not group.comments:
            return f"finding {group.group} is hit by no comment"
    return _broken_part(answer, matching)


def _broken_part(answer: TrialResult, matching: Matching) -> str:
    hits = sum(group.credit for group in matching.groups)
    states = Counter(outcome.state for outcome in matching.comments)
    truth = {
        "comments": len(answer.review.comments),
        **{state.value: states[state] for state in CommentState},
        "rejected": sum(outcome.rejected for outcome in matching.comments),
        "references": len(matching.groups),
        "hit": hits,
        "missed": len(matching.groups) - hits,
        "line_hits": matching.line_hits,
    }
    for name, right in truth.items():
        found = answer.measured.parts.get(name)
        if found is not None and abs(found - right) > EPSILON:
            return f"the part {name} is {found:g}, the matching says {right:g}"
    return ""


def order(metric: Metric, first: Trial, second: Trial) -> ProbeCheck:
    """Both trials, whose items differ in order only, have the same parts, unless the metric reads order."""
    name, expected = "order does not matter", "the same parts"
    if metric.reads_order:
        return untried(name, expected, "the metric reads the comments in their order")
    if not first.answers:
        return untried(name, expected, "nothing was measured")
    others = {answer.case.id: answer.measured.parts for answer in second.answers}
    bad = []
    for answer in first.answers:
        a, b = answer.measured.parts, others.get(answer.case.id)
        if b is None:
            bad.append((answer, "measured in one order only"))
        elif odd := [k for k in sorted({*a, *b}) if abs(a.get(k, 0.0) - b.get(k, 0.0)) > EPSILON]:
            one, other = (parts.get(odd[0], 0.0) for parts in (a, b))
            bad.append((answer, f"{odd[0]} is {one:.6g} in one order and {other:.6g} in another"))
    found = "differ" if bad else f"in {len(first.answers):,} reviews"
    return _check(name, expected, found, not bad, bad)


def no_failure(trials: Sequence[Trial]) -> ProbeCheck:
    """The metric fails on no probe."""
    broken = [failure for trial in trials for failure in trial.failures]
    tried = sum(len(trial.items) for trial in trials)
    if not broken:
        return ProbeCheck(name="nothing breaks", expected="no failure", found=f"in {tried:,} reviews", ok=True)
    case, review, failure = min(broken, key=lambda b: (len(b[1].comments) + len(b[0].references), b[0].id))
    return ProbeCheck(
        name="nothing breaks",
        expected="no failure",
        found=f"{len(broken):,} of {tried:,} reviews fail",
        ok=False,
        case=case.id,
        detail=one_line(f"{review.system} probe: {failure.kind}: {failure.message}", 300),
    )
