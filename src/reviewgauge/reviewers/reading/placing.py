"""Comments that models made of the pieces of a change, at their places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from reviewgauge.core.base import content_id
from reviewgauge.core.records import Anchoring, ChangedFile, Comment, Side, Span, Task
from reviewgauge.core.results import Failed
from reviewgauge.models.chat.ask import Reading
from reviewgauge.repo.diff.anchors import anchor
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.reviewers.reading.change_text import Piece
from reviewgauge.reviewers.reading.review_files import unique

R = TypeVar("R")


def all_answered(pieces: Sequence[Piece], answers: Sequence[Reading[R] | Failed]) -> list[R]:
    """What was read of each piece. Raises Failed for the first piece without an answer: half a review is none."""
    failed = sum(isinstance(answer, Failed) for answer in answers)
    for piece, answer in zip(pieces, answers, strict=True):
        if isinstance(answer, Failed):
            of = f"{failed} of {len(pieces)} pieces have no answer, first {piece.place}: "
            problem = (of if len(pieces) > 1 else "") + answer.problem
            raise Failed(answer.kind, problem, remedy=answer.remedy, raw=answer.raw)
    return [answer.value for answer in answers if not isinstance(answer, Failed)]


def placed(comment: Comment, piece: Piece) -> Comment:
    """`comment` at its place in the piece: the one that it claims, else the piece itself or the change's focus."""
    if comment.claimed is None:
        span = _span(piece)
        return comment.model_copy(update={"span": span, "anchoring": Anchoring.AS_GIVEN if span else Anchoring.NONE})
    found = anchor(comment, piece.change)
    if found.anchoring is Anchoring.INVALID:  # no place of its own, but it is known what it was said about
        found = found.model_copy(update={"extra": {**found.extra, "about": piece.place}})
    return found


def _span(piece: Piece) -> Span | None:
    change = piece.change
    if change.task is Task.COMMENT and change.focus is not None:
        return change.focus
    if len(change.files) != 1:
        return None
    file = change.files[0]
    hunks = parse_patch(file.patch or "")
    return hunks[0].span(file.path) if len(hunks) == 1 else Span(path=file.path)


def changed_lines(file: ChangedFile, hunk: Hunk) -> Span:
    """The lines that a hunk adds, from the first to the last, or those that it deletes where it adds none."""
    for kind, side in (("+", Side.NEW), ("-", Side.OLD)):
        numbers = [n for line in hunk.lines if line.kind == kind and (n := line.number(side)) is not None]
        if numbers:
            path = file.path if side is Side.NEW else file.old_path or file.path
            return Span(path=path, start=numbers[0], end=numbers[-1], side=side)
    return Span(path=file.path)


def numbered(comments: Iterable[Comment]) -> tuple[Comment, ...]:
    """With ids made from place and words, the same in every attempt; a comment that says the same again is numbered."""
    found = []
    for comment in comments:
        claim = comment.claimed
        path = comment.span.path if comment.span else str(comment.extra.get("about", ""))
        key = content_id(path, claim.hunk if claim else None, claim.side if claim else None, comment.body)
        found.append(comment.model_copy(update={"id": key}))
    return unique(found)
