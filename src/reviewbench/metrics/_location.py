"""The location axis: is a comment where the reference is?

The rule is AACR-Bench's (appendix on evaluation): same path if both have one, same side if both have one, and lines
that overlap or lie at most `tolerance` apart if both have lines. What is not there cannot contradict.
"""

from __future__ import annotations

from reviewbench.core.records import Anchoring, Comment, Span
from reviewbench.core.results import Pair


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


ON_THE_LINES = 0.54
"""P(same concern | the comment stands on the reference's lines): AACR-Bench, Table 9, semantic over line recall.

Mean of its 20 settings of five models, from .34 to .77 (arXiv:2601.19494). Their judge was a model.
"""


def weigh(probability: float, pair: Pair, base_rate: float | None) -> float | None:
    """`probability` with the place weighed in by Bayes' rule: odds times (odds on the lines / odds of the base rate).

    None where nothing is to be weighed: not on the reference's lines, or a judge without a base rate. Never lower
    than `probability`, whatever base rate a judge was fitted with: wrong lines must not beat right ones.
    """
    if pair.located is not True or base_rate is None or not 0 < probability < 1 or not 0 < base_rate < 1:
        return None
    ratio = (ON_THE_LINES / (1 - ON_THE_LINES)) / (base_rate / (1 - base_rate))
    odds = probability / (1 - probability) * max(1.0, ratio)
    return odds / (1 + odds)


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
