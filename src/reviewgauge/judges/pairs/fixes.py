"""What a judge reads of a reference that is the message of a fix: that, the issue that it closes, and its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from reviewgauge.core.records import Change, Comment, Origin, Span
from reviewgauge.models.text.words import NEGATIONS, STOP_WORDS, prose, raw_words, stem, without
from reviewgauge.repo.diff.diffs import parse_patch

T = TypeVar("T")
_NAME = re.compile(r"[A-Za-z_]\w+")
_WORD = re.compile(r"\w+")
_QUOTE = 4  # words in a row with which a comment quotes a line of code; of a shorter line all
FIXING = "fix fixes fixed fixing bug bugs issue closes resolves revert reverts commit"  # of every fix's message
MOST_LINES, AROUND = 10, 30  # of a comment that stands somewhere, and above and below it: the lines that it may name
LEAST_ADDED = 0.35  # of the words of such a comment; a template that names the change has fewer, or is padded
LONGEST_DIFF = 3_000  # characters of a fix that a model is shown


class FixText(NamedTuple):
    """A reference that is a fix: what it `said`, the words that it `brought` into the code, and what was `there`.

    `there` holds the runs of words on the lines that the fix took out, or that stand beside.
    """

    said: str
    brought: str
    there: frozenset[tuple[str, ...]]

    def own_words(self, comment: str) -> str:
        """A comment without the code that it quotes: every comment on a line can quote it, whatever it says."""
        words = list(_WORD.finditer(comment))
        kept = list(comment)
        for run in (run for size in {len(one) for one in self.there} for run in _runs(words, size)):
            if tuple(word[0].lower() for word in run) in self.there:
                for word in run:
                    kept[word.start() : word.end()] = " " * len(word[0])
        return "".join(kept)


def added_words(comment: Comment, reference: Comment, change: Change) -> str:
    """What a comment says beyond the change: its text without the words of the title, description, paths and diff.

    Every reviewer is given those, so whoever repeats them has said nothing yet. A comment that stands where the finding
    does may name what stands there, if it does not mostly repeat: a `LEAST_ADDED` share of its words must be its own.
    The whole text counts for a reference that is no fix, and where the diff is not at hand: nobody can tell then what
    is repeated.
    """
    if reference.origin is not Origin.FIX or not change.has_diff:
        return comment.body
    texts = [text for file in change.files for text in (file.path, file.old_path, file.patch) if text]
    held = stems_of(FIXING, change.title, change.description, *texts)
    said, around = stems_of(prose(comment.body)), _around(comment.span)
    if around and _meets(around, reference.span) and len(said - held) >= LEAST_ADDED * len(said):
        own = (file.patch or "" for file in change.files if around.path in (file.path, file.old_path))
        held -= _near(tuple(own), around)
    return without(comment.body, held)


def _around(span: Span | None) -> Span | None:
    """The lines that a comment there may name; None if it stands on no line, or on too many."""
    if span is None or span.start is None or span.end is None or span.end - span.start >= MOST_LINES:
        return None
    return span.model_copy(update={"start": max(span.start - AROUND, 1), "end": span.end + AROUND})


def _meets(around: Span, place: Span | None) -> bool:
    if place is None or place.start is None or place.end is None or around.start is None or around.end is None:
        return False
    same = (around.path, around.side) == (place.path, place.side)
    return same and around.start <= place.end and place.start <= around.end


@lru_cache(maxsize=4096)
def _near(patches: tuple[str, ...], place: Span) -> frozenset[str]:
    """The stems of a diff on these lines."""
    lines = (line for patch in patches for hunk in parse_patch(patch) for line in hunk.lines)
    first, last = place.start or 0, place.end or 0
    return stems_of(*(line.text for line in lines if first <= (line.number(place.side) or 0) <= last))


@lru_cache(maxsize=1024)
def stems_of(*texts: str) -> frozenset[str]:
    """The stems of the words in the texts, without stop words and negations."""
    words = {word for text in texts for word in raw_words(text)}
    return frozenset(map(stem, words - STOP_WORDS - NEGATIONS))


def fix_text(reference: Comment) -> FixText | None:
    """What an offline judge reads of a reference; None for one that is not the message of a fix."""
    if reference.origin is not Origin.FIX:
        return None
    return _read_fix(message(reference), _diff(reference))


@lru_cache(maxsize=1024)
def _read_fix(said: str, diff: str) -> FixText:
    lines = diff.split("\n")
    out, put_in = ([word for line in lines if line[:1] == kind for word in _NAME.findall(line)] for kind in "-+")
    before = {word.lower() for word in out}
    brought = " ".join(word for word in put_in if word.lower() not in before)
    code = (_WORD.findall(line[1:].lower()) for line in lines if line[:1] in ("-", " "))
    there = frozenset(tuple(run) for words in code if len(words) > 1 for run in _runs(words, min(_QUOTE, len(words))))
    return FixText(said, brought, there)


def _runs(words: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Each run of so many neighbours."""
    return (words[at : at + size] for at in range(len(words) - size + 1))


def message(reference: Comment) -> str:
    """Its text, with the issue that its fix closes."""
    issue = (reference.resolution.explanation if reference.resolution else None) or ""
    return f"{reference.body}\n\n{issue}" if issue and reference.origin is Origin.FIX else reference.body


def with_fix(reference: Comment) -> str:
    """Its text for a model; for the message of a fix with what the fix changed."""
    if reference.origin is not Origin.FIX:
        return reference.body
    diff = _diff(reference)
    told = f"A later fix of this change says:\n{message(reference)}"
    return f"{told}\n\nIt changed:\n{diff[:LONGEST_DIFF]}" if diff else told


def _diff(reference: Comment) -> str:
    return (reference.resolution.diff if reference.resolution else None) or ""
