"""What a judge reads of a reference with the diff that mends it: the message of a fix, or an injected defect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from reviewgauge.core.records import Change, Comment, Origin, Span
from reviewgauge.judges.pairs.location import locate
from reviewgauge.models.text.words import NEGATIONS, STOP_WORDS, prose, raw_words, stem, without
from reviewgauge.repo.diff.diffs import parse_patch

Runs = frozenset[tuple[str, ...]]
_NAME = re.compile(r"[A-Za-z_]\w+")
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w+|[^\w\s]")
MENDED = (Origin.FIX, Origin.INJECTED)  # their references come with the diff that mends them
READING = b"2"  # of fixes: what was scored by another reading is scored again
QUOTE = 4  # words in a row with which a comment quotes a line of code; of a shorter line all
FIXING = "fix fixes fixed fixing bug bugs issue closes resolves revert reverts commit"  # of every fix's message
MOST_LINES, AROUND = 10, 30  # of a comment that stands somewhere, and above and below it: the lines that it may name
LEAST_ADDED = 0.35  # of the words of such a comment; a template that names the change has fewer, or is padded
LONGEST_DIFF = 3_000  # characters of a fix that a model is shown


class FixText(NamedTuple):
    """A reference that is a fix: what it `said`, and the words that it `brought` into the code."""

    said: str
    brought: str


def added_words(comment: Comment, reference: Comment, change: Change) -> str:
    """What a comment says beyond the change: its text without the words of the title, description, paths and diff.

    Every reviewer is given those, so whoever repeats them has said nothing yet. A comment that stands where a fix
    does may name what stands there, if it does not quote it or mostly repeat: a `LEAST_ADDED` share of its words must
    be its own. The whole text counts for a reference that no diff mends; where the diff is not at hand, all but quotes
    of what the fix took out: nobody can tell then what else is repeated.
    """
    if reference.origin not in MENDED:
        return comment.body
    body, span = _text(comment), comment.span
    kept = list(body)
    for word in _found(body, _code(reference, change)[0]):
        kept[word.start() : word.end()] = " " * len(word[0])
    if not change.has_diff:
        return "".join(kept)
    texts = [text for file in change.files for text in (file.path, file.old_path) if text]
    fixing = FIXING if reference.origin is Origin.FIX else ""
    held = stems_of(fixing, change.title, change.description, *texts) | _held(_patches(change), _planted(reference))
    said = stems_of(prose(body))
    at_fix = reference.origin is Origin.FIX and span and locate(comment, reference, AROUND).located
    if span and at_fix and len(said - held) >= LEAST_ADDED * len(said):
        held -= _near(tuple(file.patch or "" for file in change.files if span.path in (file.path, file.old_path)), span)
    return without("".join(kept), held)


def proposes(comment: Comment, reference: Comment, change: Change) -> bool:
    """Whether a comment proposes code that mends the defect: in a row on its new lines and nowhere in the change."""
    if reference.origin is Origin.INJECTED:
        return any(_found(_text(comment), _sound(_patches(change), _diff(reference)), _TOKEN))
    return reference.origin is Origin.FIX and any(_found(_text(comment), _code(reference, change)[1]))


def _patches(change: Change) -> tuple[str, ...]:
    return tuple(file.patch or "" for file in change.files)


def _planted(reference: Comment) -> str:
    """The diff of an injected defect, whose lines stand in the change on one side or the other; empty for a fix."""
    return _diff(reference) if reference.origin is Origin.INJECTED else ""


@lru_cache(maxsize=1024)
def _held(patches: tuple[str, ...], planted: str) -> frozenset[str]:
    """The stems of a change: of planted lines those alone that are in the defect and in the sound code.

    So the same comment has the same words left on a defect and on its twin.
    """
    if not planted:
        return stems_of(*patches)
    lines = {line[1:].strip() for line in planted.split("\n") if line[:1] in ("-", "+")}
    rest = (line for patch in patches for line in patch.split("\n") if line[1:].strip() not in lines)
    out, put_in = (" ".join(line[1:] for line in planted.split("\n") if line[:1] == kind) for kind in "-+")
    return stems_of("\n".join(rest)) | (stems_of(out) & stems_of(put_in))


@lru_cache(maxsize=1024)
def _sound(patches: tuple[str, ...], planted: str) -> Runs:
    """What the sound code has in a row, signs too, and the change nowhere: three with two words, or four."""
    new = {run for size in (3, QUOTE) for run in _rows(planted, "+", size) if sum(map(str.isalnum, run)) > 1}
    return frozenset(new) - {run for size in (3, QUOTE) for patch in patches for run in _rows(patch, "-+ ", size)}


def _rows(diff: str, kinds: str, size: int) -> Iterator[tuple[str, ...]]:
    """Words and signs in a row on a diff's lines of these kinds."""
    for row in (_TOKEN.findall(line[1:].lower()) for line in diff.split("\n") if line.startswith(tuple(kinds))):
        yield from (tuple(row[at : at + size]) for at in range(len(row) - size + 1))


def _text(comment: Comment) -> str:
    """What a comment says, with the code that it suggests."""
    return f"{comment.body}\n{comment.suggestion}" if comment.suggestion else comment.body


def _code(fix: Comment, change: Change) -> tuple[Runs, Runs]:
    """The code that was there, on the lines of a change or before its fix, and the code that the fix put in."""
    told = " ".join(f"+{change.title} {change.description}".split())
    return _read_code((told, *_patches(change), _planted(fix)), _diff(fix))


@lru_cache(maxsize=32)
def _read_code(patches: Sequence[str], fix: str) -> tuple[Runs, Runs]:
    lines = "\n".join(patches).split("\n")  # told back, they may follow each other on one line
    joined = ["+" + " ".join(line[1:] for line in lines if line.startswith(kinds)) for kinds in ("+", ("+", " "))]
    there = frozenset(run for diff in (*patches, *joined) for run in _runs(diff, "-+ ")) | frozenset(_runs(fix, "- "))
    return there, frozenset(run for run in _runs(fix, "+") if len(run) == QUOTE) - there


def _runs(diff: str, kinds: str) -> Iterator[tuple[str, ...]]:
    """The words in a row on a diff's lines of these kinds."""
    for words in (_WORD.findall(line.lower()) for line in diff.split("\n") if line.startswith(tuple(kinds))):
        size = min(max(2, len(words)), QUOTE)
        yield from (tuple(words[at : at + size]) for at in range(len(words) - size + 1))


def _found(text: str, code: Runs, form: re.Pattern[str] = _WORD) -> Iterator[re.Match[str]]:
    """The words of a text that stand in a row as in such code."""
    words = list(form.finditer(text))
    rows = (words[at : at + size] for size in range(2, QUOTE + 1) for at in range(len(words) - size + 1))
    return (word for row in rows if tuple(word[0].lower() for word in row) in code for word in row)


@lru_cache(maxsize=4096)
def _near(patches: tuple[str, ...], place: Span) -> frozenset[str]:
    """The stems of a diff on these lines and around them; none of a place with too many."""
    first, last = place.start or 0, place.end or 0
    hunks = [hunk for patch in patches for hunk in parse_patch(patch)] if last - first < MOST_LINES else []
    lines = ((line.number(place.side), line.text) for hunk in hunks for line in hunk.lines)
    return stems_of(*(text for at, text in lines if at and first - AROUND <= at <= last + AROUND))


@lru_cache(maxsize=1024)
def stems_of(*texts: str) -> frozenset[str]:
    """The stems of the words in the texts, without stop words and negations."""
    return frozenset(map(stem, {word for text in texts for word in raw_words(text)} - STOP_WORDS - NEGATIONS))


def fix_text(reference: Comment) -> FixText | None:
    """What an offline judge reads of a reference; None for one that is not the message of a fix."""
    return _read_fix(message(reference), _diff(reference)) if reference.origin is Origin.FIX else None


@lru_cache(maxsize=1024)
def _read_fix(said: str, diff: str) -> FixText:
    out, put_in = (" ".join(line for line in diff.split("\n") if line[:1] == kind) for kind in "-+")
    before = frozenset(_NAME.findall(out.lower()))
    return FixText(said, " ".join(word for word in _NAME.findall(put_in) if word.lower() not in before))


def message(reference: Comment) -> str:
    """Its text, with the issue that its fix closes."""
    issue = (reference.resolution.explanation if reference.resolution else None) or ""
    return f"{reference.body}\n\n{issue}" if issue and reference.origin is Origin.FIX else reference.body


def with_fix(reference: Comment) -> str:
    """Its text for a model; with what mends it, where that is known."""
    diff = _diff(reference)
    if reference.origin is Origin.INJECTED and diff:
        return f"{reference.body}\n\nThis would mend it:\n{diff[:LONGEST_DIFF]}"
    if reference.origin is not Origin.FIX:
        return reference.body
    told = f"A later fix of this change says:\n{message(reference)}"
    return f"{told}\n\nIt changed:\n{diff[:LONGEST_DIFF]}" if diff else told


def _diff(reference: Comment) -> str:
    return (reference.resolution.diff if reference.resolution else None) or ""
