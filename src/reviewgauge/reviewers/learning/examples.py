"""Reviewed changes as examples to learn from, and a change under review as the passages that are to be commented on.

A passage is one hunk, in which a comment or the focus of a small task lies. Where the place is not known, it is all
hunks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.records import Case, Change, ChangedFile, Span
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.same_change import identity_marks
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.reviewers.reading.change_text import with_patches
from reviewgauge.reviewers.reading.placing import changed_lines

MOST = 500  # hunks of a change that are read
LONGEST = 20_000  # characters of a passage that are read; the longest method of GradedReviews has 2,000


class Passage(NamedTuple):
    """A part of a change: its lines with their markers, and where a comment on it belongs."""

    text: str
    span: Span | None


class PassagesRead(NamedTuple):
    """The passages of a change that are read, and a remark on those that are not."""

    passages: Sequence[Passage]
    remark: str | None


class Example(NamedTuple):
    """A passage that was reviewed: with a comment, a verdict (mergeable or not), or both."""

    text: str
    comment: str | None
    verdict: bool | None
    case: str
    marks: frozenset[str]


def passages(change: Change) -> list[Passage]:
    """The hunks that a review is asked about: those of the focus, if there is one and it is found, else all."""
    hunks = [(file, hunk) for file in change.files for hunk in parse_patch(file.patch or "")]
    focus = change.focus
    if focus is not None and (within := _covered(hunks, focus)):
        return [Passage(_text([hunk]), focus) for _, hunk in within]
    return [Passage(_text([hunk]), changed_lines(file, hunk)) for file, hunk in hunks]


def read_passages(change: Change, who: str) -> PassagesRead:
    """The first `MOST` passages; the patches may come from the commits. Raises Failed where there are none."""
    try:
        found = passages(with_patches(change, who))
    except NeedsCode as error:
        raise Failed(FailureKind.REQUEST, error.problem, remedy=error.remedy) from None
    if not found:
        raise Failed(FailureKind.REQUEST, "the change has no hunk of text")
    left = len(found) - MOST
    return PassagesRead(found[:MOST], f"{left:,} hunks were not read, only the first {MOST:,}" if left > 0 else None)


def _covered(hunks: Sequence[tuple[ChangedFile, Hunk]], span: Span) -> list[tuple[ChangedFile, Hunk]]:
    of_file = [(file, hunk) for file, hunk in hunks if span.path in (file.path, file.old_path)]
    return [(file, hunk) for file, hunk in of_file if hunk.covers(span)] if span.start is not None else of_file


def _text(hunks: Iterable[Hunk]) -> str:
    return "\n".join(line.kind + line.text for hunk in hunks for line in hunk.lines)[:LONGEST]


def examples(cases: Iterable[Case]) -> Iterator[Example]:
    """One example per reference comment, and one per verdict without a comment. Cases without a diff give none."""
    for case in cases:
        change = case.change
        hunks = [(file, hunk) for file in change.files for hunk in parse_patch(file.patch or "")]
        marks = identity_marks(case.id, change)
        comments = [(comment.body.strip(), comment.span or change.focus) for comment in case.references]
        known: list[tuple[str | None, Span | None]] = [(body, span) for body, span in comments if body]
        for body, span in known or [(None, change.focus)]:
            around = (_covered(hunks, span) if span is not None else []) or hunks
            text = _text(hunk for _, hunk in around)
            if text.strip() and (body is not None or case.verdict is not None):
                yield Example(text, body, case.verdict, case.id, marks)


def read_examples(cases: Iterable[Case], who: str) -> tuple[Example, ...]:
    """All examples. Raises UserError where there are none."""
    found = tuple(examples(cases))
    if not found:
        raise UserError(
            f"{who} finds nothing to learn from: no training case has a diff with a reference comment or a verdict",
            remedy="reviewgauge info DATASET shows what a data set holds",
        )
    return found


def examples_hash(found: Sequence[Example]) -> str:
    """The SHA-256 of what can be learnt, in the order in which it was read."""
    digest = hashlib.sha256()
    for example in found:
        parts = (example.text, example.comment or "", str(example.verdict))
        digest.update("\x1f".join(parts).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()
