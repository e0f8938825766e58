"""What the proposer is told of a case: what was missed and why, what was noise, what broke; short, and fenced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import CommentState, Matching, Outcome
from reviewgauge.evolution.reward import Worth
from reviewgauge.models.request.messages import fence

_DIFF, _TEXT, _MOST = 1_500, 400, 5  # characters of a diff, of a comment; comments of a kind


def feedback(case: Case, outcome: Outcome, worth: Worth) -> str:
    """The evidence on one case."""
    lines = [f"Reward {worth.reward:.3f}.", "The change:", fence(_shown(case))]
    if worth.failed:
        lines += ["It failed, and counts as the worst there is:", fence(_cut(worth.failed, _TEXT))]
    elif worth.silent:
        lines += ["It has no value, and counts as the worst there is:", fence(_cut(worth.silent, _TEXT))]
    matchings = [score.matching for score in worth.scores if score.matching is not None]
    review = outcome.review
    if review is not None:
        for matching in matchings[:1]:
            lines += _matched(case, review, matching)
        if not matchings:
            lines += _plain(case, review)
    return "\n".join(lines)


def _shown(case: Case) -> str:
    patches = [f"+++ {file.path}\n{file.patch or ''}" for file in case.change.files]
    return f"{case.change.title}\n{_cut(chr(10).join(patches), _DIFF)}"


def _matched(case: Case, review: Review, matching: Matching) -> Iterator[str]:
    """Missed findings, then comments that raise none, then how many were right."""
    references: Mapping[str, Comment] = {comment.id: comment for comment in case.references}
    said: Mapping[str, Comment] = {comment.id: comment for comment in review.comments}
    missed = [group for group in matching.groups if not group.hit]
    for group in missed[:_MOST]:
        if group.group in references:
            yield from (
                f"Missed, {group.reason or 'nothing raised it'}:",
                fence(_cut(references[group.group].body, _TEXT)),
            )
    noise = [one for one in matching.comments if one.state is CommentState.FALSE and one.comment in said]
    for one in noise[:_MOST]:
        yield from (f"Noise, {one.reason or 'it raises no known problem'}:", fence(_cut(said[one.comment].body, _TEXT)))
    right = sum(one.state is CommentState.MATCHED for one in matching.comments)
    more = max(0, len(missed) - _MOST) + max(0, len(noise) - _MOST)
    yield f"Right: {right} of {len(matching.comments)} comments." + (f" {more} more are not shown." if more else "")


def _plain(case: Case, review: Review) -> Iterator[str]:
    """What was said beside what would have been right, for metrics without a matching."""
    if review.verdict is not None and case.verdict is not None:
        yield f"It said that the change {_can(review.verdict)} be merged; it {_can(case.verdict)}."
    yield from _bodies("It said:", review.comments)
    if review.ranked_lines:
        ranked = ", ".join(f"{span.path}:{span.start}" for span in review.ranked_lines[:_MOST])
        yield from ("Lines that it ranked highest:", fence(ranked))
    yield from _bodies("People said:", case.references)


def _bodies(head: str, comments: Sequence[Comment]) -> Iterator[str]:
    for comment in comments[:_MOST]:
        place = f"{comment.span.path}:{comment.span.start}\n" if comment.span else ""
        yield from (head, fence(place + _cut(comment.body, _TEXT)))


def _can(verdict: bool) -> str:
    return "can" if verdict else "cannot"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most].rstrip() + " [...]"
