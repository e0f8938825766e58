"""Where a comment stands: beside a reference, and in the diff.

The rule is AACR-Bench's (appendix on evaluation): same path if both have one, same side if both have one, and lines
that overlap or lie at most `tolerance` apart if both have lines. What is missing cannot contradict.
"""

from __future__ import annotations

from reviewgauge.core.records import Anchoring, Change, Comment, Side, Span
from reviewgauge.core.results import Pair
from reviewgauge.repo.diff.diffs import Hunk, parse_patch


def gap(a: Span, b: Span) -> int | None:
    """Lines between two spans: 0 when they overlap, 1 when they touch; None when one has no lines."""
    if a.start is None or a.end is None or b.start is None or b.end is None:
        return None
    return max(0, a.start - b.end, b.start - a.end)


def locate(comment: Comment, reference: Comment, tolerance: int, strict: bool = False) -> Pair:
    """The location evidence on a pair. An invalid anchor is a claim that failed: it is located nowhere.

    `strict`: nor is a comment that lacks the path or the lines that its reference has.
    """
    here, there = comment.span, reference.span
    if there is None or (here is None and comment.anchoring is not Anchoring.INVALID and not strict):
        return Pair(comment=comment.id, reference=reference.id)
    if here is None:
        return Pair(comment=comment.id, reference=reference.id, located=False)
    same_path, same_side = here.path == there.path, here.side == there.side
    lines = here.start is not None and there.start is not None
    distance = gap(here, there) if same_path and (same_side or not lines) else None
    if not same_path:
        located: bool | None = False
    elif not lines:
        located = False if strict and there.start is not None else None  # the right file, and nothing finer to go by
    else:
        located = same_side and distance is not None and distance <= tolerance
    return Pair(
        comment=comment.id,
        reference=reference.id,
        located=located,
        same_path=same_path,
        same_side=same_side if lines else None,
        distance=distance,
    )


def in_words(pair: Pair) -> str:
    """The place of the comment relative to the reference, in words."""
    if pair.same_path is None:
        return "no valid place" if pair.located is False else ""
    if not pair.same_path:
        return "another file"
    if pair.same_side is False:
        return "the other side of the diff"
    if pair.distance is None:
        return "same file"
    if pair.distance == 0:
        return "same lines"
    return f"{pair.distance} line{'s' if pair.distance != 1 else ''} away"


NO_DIFF = "(The diff is not at hand.)"
NO_PLACE = "(The comments name no line of the diff.)"
NO_HUNK = "(The comment stands on a line that the diff does not show.)"


def hunk_of(change: Change, reference: Comment, comment: Comment) -> tuple[str, bool]:
    """(the hunk of the reference, else of the comment; True), or (why there is none, False)."""
    if not change.has_diff:
        return NO_DIFF, False
    places = [one.span for one in (reference, comment) if one.span is not None and one.span.start is not None]
    for span in places:
        patches = (file.patch for file in change.files if span.path in (file.path, file.old_path))
        for hunk in parse_patch(next((patch for patch in patches if patch is not None), "")):
            if _covers(hunk, span):
                head = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@ {hunk.heading}"
                return "\n".join([head.rstrip(), *(f"{line.kind}{line.text}" for line in hunk.lines)]), True
    return (NO_HUNK if places else NO_PLACE), False


def _covers(hunk: Hunk, span: Span) -> bool:
    numbers = (line.new if span.side is Side.NEW else line.old for line in hunk.lines)
    return any(number is not None and (span.start or 0) <= number <= (span.end or 0) for number in numbers)
