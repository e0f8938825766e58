"""What a candidate says otherwise than its baseline: findings that only one of them hit, and comments beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from reviewgauge.core.errors import one_line
from reviewgauge.core.records import Comment, Review, Span
from reviewgauge.core.reports.gate import GateComment, GateFinding
from reviewgauge.core.results import CommentState, Score
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.judges.pairs.location import gap

WORDS = 160  # characters of a text that are shown
NEAR = 3  # lines between two comments that still are about one place: models do not repeat their words
_BESIDE = (CommentState.FALSE, CommentState.UNSURE, CommentState.NEUTRAL)
_Measured = tuple[Score, Review]


def changed_comments(run: ScoredRun, pair: Sequence[str], cases: Collection[str]) -> Mapping[str, Any]:
    """The fields of a `Gate` about what was lost and gained by `pair`, candidate and baseline, on these cases."""
    said: dict[str, tuple[list[_Measured], list[_Measured]]] = {case: ([], []) for case in cases}
    reviews = {one.key: one.review for one in run.outcomes if one.review is not None}
    for score in run.scores:
        if score.system in pair and score.case in said and score.matching is not None and score.key in reviews:
            said[score.case][pair.index(score.system)].append((score, reviews[score.key]))
    found: dict[str, list[GateFinding | GateComment]] = {
        name: [] for name in ("lost", "gained", "comments_lost", "comments_gained")
    }
    for case in run.cases:
        new, old = said.get(case.id, ([], []))
        for one in case.references:
            often = [2 * sum(_hits(score, one.id) for score, _ in own) > len(own) for own in (new, old)]
            if often[0] != often[1]:
                words = next(_words(new if often[0] else old, one.id), "")
                finding = GateFinding(case=case.id, place=_place(one.span), text=_short(one.body), comment=words)
                found["gained" if often[0] else "lost"].append(finding)
        found["comments_gained"] += _only(case.id, new, old)
        found["comments_lost"] += _only(case.id, old, new)
    return {name: tuple(entries) for name, entries in found.items()}


def _hits(score: Score, finding: str) -> bool:
    return score.matching is not None and any(one.hit and one.group == finding for one in score.matching.groups)


def _words(own: Sequence[_Measured], finding: str) -> Iterator[str]:
    """What hit the finding, of each attempt that did."""
    for score, review in own:
        groups = score.matching.groups if score.matching is not None else ()
        ids = {comment for one in groups if one.hit and one.group == finding for comment in one.comments}
        yield from (_short(comment.body) for comment in review.comments if comment.id in ids)


def _only(case: str, own: Sequence[_Measured], others: Sequence[_Measured]) -> Iterator[GateComment]:
    """The comments of the first attempt that hit nothing, and that no attempt of the other makes."""
    for score, review in own[:1] if others else ():
        states = {one.comment: one.state for one in (score.matching.comments if score.matching is not None else ())}
        for comment in review.comments:
            state = states.get(comment.id)
            if state in _BESIDE and not any(_alike(comment, o) for _, other in others for o in other.comments):
                yield GateComment(case=case, place=_place(comment.span), text=_short(comment.body), state=state)


def _alike(one: Comment, other: Comment) -> bool:
    """The same words, or the same place."""
    if one.body.split() == other.body.split():
        return True
    here, there = one.span, other.span
    if here is None or there is None or (here.path, here.side) != (there.path, there.side):
        return False
    between = gap(here, there)
    return between is not None and between <= NEAR


def _place(span: Span | None) -> str:
    return "" if span is None else one_line(span.path + (f":{span.start}" if span.start else ""), WORDS)


def _short(text: str) -> str:
    return one_line(text, WORDS)
