"""A score as inspect_ai has it: one value, an explanation in words, and what went wrong as its `reason`."""

from __future__ import annotations

import math
from collections.abc import Iterator

from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.core.errors import one_line
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import CommentState, FailureKind, Matching, Score
from reviewgauge.views import figures
from reviewgauge.views.report.answers import numbers, outcome_words, place_of

UNDEFINED, NOT_APPLICABLE = "undefined", "not_applicable"  # reasons of our own, beside inspect_ai's
_REVIEWER = {FailureKind.UNREADABLE: "invalid_response_format", FailureKind.REFUSAL: "refusal"}


def measures_of_one(metric: Metric, score: Score) -> dict[str, float]:
    """The measures of one score alone, without those that one review leaves undefined."""
    if score.parts is None:
        return {}
    found = measures_of(metric, MatrixAggregate.of([score.parts]))
    return {name: float(values[0]) for name, values in found.items() if math.isfinite(values[0])}


def inspect_score(metric: Metric, score: Score, case: Case, review: Review | None) -> dict[str, object]:
    """The fields of an inspect_ai `Score`. A value that there is not is NaN, which inspect_ai leaves out, never 0."""
    measures = measures_of_one(metric, score)
    parts = dict(score.parts or {})
    metadata: dict[str, object] = {"metric": score.metric, "measures": measures, "parts": parts}
    if score.failure is not None:
        metadata["failure"] = str(score.failure.kind)
        reason: str | None = _reason(metric, score, of_review=review is None)
    else:
        reason = NOT_APPLICABLE if score.parts is None else UNDEFINED
    value = measures.get(metric.headline, math.nan)
    return {
        "value": value,
        "explanation": "\n".join(_explained(metric, score, case, review)),
        "reason": reason if math.isnan(value) else None,
        "metadata": metadata,
    }


def _reason(metric: Metric, score: Score, *, of_review: bool) -> str:
    """Whose fault a failure is: the reviewer's, the judge's or the instrument's, in inspect_ai's words."""
    kind = score.failure.kind if score.failure else FailureKind.CRASH
    if kind is FailureKind.UNREADABLE and of_review and score.failure and not score.failure.raw:
        return "no_response"  # there was nothing to read
    if of_review:
        return _REVIEWER.get(kind, "no_response")
    return "grader_failed" if metric.models and kind is not FailureKind.CRASH else "scoring_failed"


def _explained(metric: Metric, score: Score, case: Case, review: Review | None) -> Iterator[str]:
    if score.failure is not None:
        yield f"{score.reason or 'it failed'} ({score.failure.kind}): {score.failure.message}"
    elif score.parts is None:
        yield score.reason or "does not apply"
    else:
        measures = measures_of_one(metric, score)
        told = {name: value for name, value in measures.items() if not name.endswith(("_least", "_most"))}
        shown = (f"{figures.label(name)} {figures.number(value)}" for name, value in told.items())
        yield ", ".join(shown) or "no measure is defined for this review alone"
        if score.coverage is not None:
            yield numbers(score.coverage, score.parts)
        if score.matching is not None:
            yield from _matched(score.matching, case, review)


def _matched(matching: Matching, case: Case, review: Review | None) -> Iterator[str]:
    """One line on each finding, then one on each comment that is not a hit."""
    said = {comment.id: comment for comment in (review.comments if review else ())}
    known = {comment.id: comment for comment in case.references}
    for group in matching.groups:
        by = group.comments[0] if group.comments else group.nearest
        closest = "" if by is None else f" | {'by' if group.hit else 'closest'}: {_words(said, by)}"
        why = f" ({group.reason})" if group.reason else ""
        yield f"{'matched' if group.hit else 'missed'}: {_words(known, group.group)}{closest}{why}"
    for one in matching.comments:
        if one.state is not CommentState.MATCHED:
            why = f" ({one.reason})" if one.reason else ""
            yield f"{'rejected' if one.rejected else one.state.value}: {_words(said, one.comment)}{why}"


def _words(known: dict[str, Comment], name: str) -> str:
    comment = known.get(name) or known.get(name.rpartition("#")[0])  # `comment#2`: a point of it
    return f"{place_of(comment.span, comment)} {one_line(comment.body, 200)}".strip() if comment else name


def review_text(review: Review) -> str:
    """A review as people read it."""
    lines = [f"{place_of(comment.span, comment)}: {comment.body}".removeprefix(": ") for comment in review.comments]
    lines += [outcome_words(review.verdict)] * (review.verdict is not None)
    lines += [", ".join(place_of(span) for span in review.ranked_lines)] * bool(review.ranked_lines)
    return "\n\n".join(lines) or "No comment."
