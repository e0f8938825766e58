"""The part of the diff that a comment stands in, as text for a prompt."""

from __future__ import annotations

from reviewgauge.core.records import Change, Comment, Side, Span
from reviewgauge.repo.diff.diffs import Hunk, parse_patch

NO_DIFF = "(The diff is not at hand.)"
NO_PLACE = "(The comments name no line of the diff.)"
NO_HUNK = "(The comment stands on a line that the diff does not show.)"


def hunk_of(change: Change, reference: Comment, comment: Comment, around: int = 0) -> tuple[str, bool]:
    """(the hunk that the reference, else the comment, stands in; True), or (why there is none, False).

    `around` > 0 keeps so many lines before and after the place, and says how many were left out.
    """
    if not change.has_diff:
        return NO_DIFF, False
    places = [one.span for one in (reference, comment) if one.span is not None and one.span.start is not None]
    for span in places:
        for hunk in _hunks(change, span):
            if covered := _lines(hunk, span):
                return _text(hunk, covered, around), True
    return (NO_HUNK if places else NO_PLACE), False


def _hunks(change: Change, span: Span) -> tuple[Hunk, ...]:
    for file in change.files:
        if span.path in (file.path, file.old_path) and file.patch is not None:
            return parse_patch(file.patch)
    return ()


def _lines(hunk: Hunk, span: Span) -> range:
    """Which of the hunk's lines lie in the span; empty where none does."""
    numbers = [line.new if span.side is Side.NEW else line.old for line in hunk.lines]
    start, end = span.start or 0, span.end or 0
    inside = [at for at, number in enumerate(numbers) if number is not None and start <= number <= end]
    return range(inside[0], inside[-1] + 1) if inside else range(0)


def _text(hunk: Hunk, place: range, around: int) -> str:
    head = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@ {hunk.heading}".rstrip()
    lines = [f"{line.kind}{line.text}" for line in hunk.lines]
    first, last = 0, len(lines)
    if around:
        first, last = max(0, place.start - around), min(len(lines), place.stop + around)
    before = [f"(left out: {first} lines)"] if first else []
    after = [f"(left out: {len(lines) - last} lines)"] if last < len(lines) else []
    return "\n".join([head, *before, *lines[first:last], *after])
