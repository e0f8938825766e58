"""The location axis: is a comment where the reference is?

The rule is AACR-Bench's (appendix on evaluation): same path if both have one, same side if both have one, and lines
that overlap or lie at most `tolerance` apart if both have lines. What is not there cannot contradict.
"""

from __future__ import annotations

from reviewgauge.core.records import Anchoring, Comment, Span
from reviewgauge.core.results import Pair


def gap(a: Span, b: Span) -> int | None:
    """Lines between two spans: 0 when they overlap, 1 when they touch; None when one has no lines."""
    if a.start is None or a.end is None or b.start is None or b.end is None:
        return None
    return max(0, a.start - b.end, b.start - a.end)


def locate(comment: Comment, reference: Comment, tolerance: int) -> Pair:
    """The location evidence on a pair. An invalid anchor is a claim that failed: it is located nowhere."""
    here, there = comment.span, reference.span
    if there is None or (here is None and comment.anchoring is not Anchoring.INVALID):
        return Pair(comment=comment.id, reference=reference.id)
    if here is None:
        return Pair(comment=comment.id, reference=reference.id, located=False)
    same_path, same_side = here.path == there.path, here.side == there.side
    lines = here.start is not None and there.start is not None
    distance = gap(here, there) if same_path and (same_side or not lines) else None
    if not same_path:
        located: bool | None = False
    elif not lines:
        located = None  # the right file, and nothing finer to go by
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
    """Where the comment stands, seen from the reference."""
    if pair.same_path is None:
        return "place not valid" if pair.located is False else ""
    if not pair.same_path:
        return "another file"
    if pair.same_side is False:
        return "the other side of the diff"
    if pair.distance is None:
        return "same file"
    if pair.distance == 0:
        return "same lines"
    return f"{pair.distance} line{'s' if pair.distance != 1 else ''} away"
