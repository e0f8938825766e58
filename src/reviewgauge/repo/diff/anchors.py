"""The anchor engine: from the place that a tool claims to the place in the change that it means.

Models cite lines of the diff text instead of the file, quote code that moved, name a file's old path, or invent
places. The order of trust: a quoted fragment, then GitHub's diff position, then a line number; a number beyond the
file's end that fits the patch is a line of the patch. What cannot be placed keeps its claim, gets no span, and is
counted as an invalid anchor: nothing is dropped, and nothing here raises on an odd claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from pydantic import ValidationError

from reviewgauge.core.records import Anchoring, Change, ChangedFile, Comment, FileStatus, Location, Side, Span
from reviewgauge.repo.diff.diffs import DiffLine, changed_lines, parse_patch
from reviewgauge.repo.diff.positions import (
    find_file,
    needles,
    occurrences,
    patch_rows,
    plain,
    plain_lines,
    relative_path,
    weight,
)

Reader = Callable[[str, Side], str | None]
TRIVIAL = 3  # letters and digits; a quote with fewer (`}`) does not beat a number
TELLING = 10  # letters and digits; a quote with fewer does not overrule the named file
LARGEST = 2**31


class Spot(NamedTuple):
    """Lines of one side of one file; `hunk`: they touch a hunk; `changed`: an added or deleted line is among them."""

    start: int
    end: int
    side: Side
    hunk: bool
    changed: bool


def anchor_all(
    comments: Iterable[Comment], change: Change, root: str | None = None, read: Reader | None = None
) -> tuple[Comment, ...]:
    """`anchor` for each comment."""
    return tuple(anchor(comment, change, root, read) for comment in comments)


def anchor(comment: Comment, change: Change, root: str | None = None, read: Reader | None = None) -> Comment:
    """`comment` with `span` and `anchoring` filled in from its `claimed` place and its quote.

    `root` is the folder that absolute paths start with. `read(path, side)` returns a file's text where the code is
    available, None where it has no such file; with it, lines that do not exist differ from lines outside the hunks.
    A comment without a claim but with a span is held to that span.
    """
    claim = comment.claimed or _as_claim(comment.span)
    try:
        span, anchoring = _place(claim, comment.quote, change, root, read)
    except (ValidationError, OverflowError):  # a path or a number that no record can hold
        span, anchoring = None, Anchoring.INVALID
    return comment.model_copy(update={"span": span, "anchoring": anchoring})


def _as_claim(span: Span | None) -> Location:
    if span is None:
        return Location()
    return Location(path=span.path, start=span.start, end=span.end, side=span.side)


Placed = tuple[Span | None, Anchoring]


def _place(claim: Location, quote: str | None, change: Change, root: str | None, read: Reader | None) -> Placed:
    fragments = [text for text in (quote, claim.hunk) if text and needles(text)]
    lines = _claimed_lines(claim)
    claims_place = bool(claim.path or claim.hunk) or lines is not None or claim.position is not None
    if not claims_place and not fragments:
        return None, Anchoring.NONE
    if not change.has_diff:
        return _unchecked(claim, lines, change, root)
    file = find_file(claim.path, change, root) if claim.path else None
    if file is None and claim.path is None and len(change.files) == 1:
        file = change.files[0]
    if file is None:
        found = _search_everywhere(fragments, claim, change, read)
        if found is not None:
            return _span(*found), Anchoring.QUOTE
        elsewhere = _untouched(claim, lines, root, read)
        if elsewhere is not None:
            return elsewhere, Anchoring.OUTSIDE
        return None, Anchoring.INVALID if claims_place else Anchoring.NONE
    other_name = _is_other_name(claim, file, root)
    if file.patch is None and not file.binary:
        return _unchecked_in(claim, lines, file)
    return _place_in(file, claim, lines, fragments, other_name=other_name, read=read)


def _untouched(claim: Location, lines: tuple[int, int] | None, root: str | None, read: Reader | None) -> Span | None:
    """A place in a file that the change does not touch: real when the code is available and has that line."""
    if read is None or not claim.path or _is_negative(claim):
        return None
    path, side = relative_path(claim.path, root), claim.side or Side.NEW
    if path.startswith("/") or ".." in path.split("/") or (text := read(path, side)) is None:
        return None
    if lines is None:
        return Span(path=path, side=side)
    length = len(text.splitlines())
    return Span(path=path, start=lines[0], end=min(lines[1], length), side=side) if lines[0] <= length else None


def _place_in(
    file: ChangedFile,
    claim: Location,
    lines: tuple[int, int] | None,
    fragments: list[str],
    *,
    other_name: bool,
    read: Reader | None,
) -> Placed:
    given = Anchoring.RENAMED if other_name else Anchoring.AS_GIVEN
    for fragment in fragments:
        if lines is not None and weight(fragment) < TRIVIAL:
            continue
        spot = _find_quote(fragment, file, claim.side, lines[0] if lines else None, read)
        if spot is None:
            continue
        if lines and claim.side in (None, spot.side) and lines[0] <= spot.start and spot.end <= lines[1]:
            break  # number and quote agree
        return _span(file, spot), Anchoring.QUOTE if spot.hunk else Anchoring.OUTSIDE
    if lines is None and claim.position is not None:
        row = _row(file, claim.position)
        return (_span(file, row), given) if row is not None else (None, Anchoring.INVALID)
    if lines is None:
        if _is_negative(claim) or (claim.hunk and not claim.path):
            return None, Anchoring.INVALID
        whole = Span(path=_name(file, claim.side or Side.NEW), side=_side(claim, file))
        return whole, Anchoring.RENAMED if other_name else Anchoring.FILE_ONLY
    return _place_number(file, _side(claim, file), lines, given, read)


def _place_number(
    file: ChangedFile, side: Side, lines: tuple[int, int], given: Anchoring, read: Reader | None
) -> Placed:
    start, end = lines
    if (side is Side.NEW and file.status is FileStatus.DELETED) or (
        side is Side.OLD and file.status is FileStatus.ADDED
    ):
        return None, Anchoring.INVALID
    length = _length(file, side, read)
    if length is not None and start <= length:
        end = min(end, length)
    if _touches(file, side, start, end):
        return _span(file, Spot(start, end, side, True, False)), given
    if file.binary or start > LARGEST:
        return None, Anchoring.INVALID
    known = length if length is not None else _last_line(file, side)
    if start > known:
        row = _rows_between(file, start, end)
        if row is not None:
            return _span(file, row), Anchoring.DIFF_LINE
        if length is not None:
            return None, Anchoring.INVALID
    return _span(file, Spot(start, end, side, False, False)), Anchoring.OUTSIDE


# --- claims --------------------------------------------------------------------------------------------------------


def _claimed_lines(claim: Location) -> tuple[int, int] | None:
    """The claimed range, put in order; None when no line is claimed (0 is how some tools say so)."""
    ends = [n for n in (claim.start, claim.end) if n is not None]
    if not ends or min(ends) < 0 or max(ends) == 0:
        return None
    return max(min(ends), 1), max(ends)


def _side(claim: Location, file: ChangedFile) -> Side:
    if claim.side is not None:
        return claim.side
    return Side.OLD if file.status is FileStatus.DELETED else Side.NEW


def _is_other_name(claim: Location, file: ChangedFile, root: str | None) -> bool:
    if file.old_path is None or claim.path is None:
        return False
    own = _name(file, _side(claim, file))
    other = file.path if own == file.old_path else file.old_path
    claimed = relative_path(claim.path, root)
    return claimed != own and (claimed == other or claimed.endswith(f"/{other}"))


def _unchecked(claim: Location, lines: tuple[int, int] | None, change: Change, root: str | None) -> Placed:
    if claim.path is None:
        return None, Anchoring.UNCHECKED if claim.hunk else Anchoring.NONE if lines is None else Anchoring.INVALID
    file = find_file(claim.path, change, root)
    if file is not None:
        return _unchecked_in(claim, lines, file)
    return _unverified(claim, lines, relative_path(claim.path, root), claim.side or Side.NEW)


def _unchecked_in(claim: Location, lines: tuple[int, int] | None, file: ChangedFile) -> Placed:
    side = _side(claim, file)
    return _unverified(claim, lines, _name(file, side), side)


def _unverified(claim: Location, lines: tuple[int, int] | None, path: str, side: Side) -> Placed:
    if _is_negative(claim) or path.startswith("/"):
        return None, Anchoring.INVALID
    start, end = lines or (None, None)
    return Span(path=path, start=start, end=end, side=side), Anchoring.UNCHECKED


def _is_negative(claim: Location) -> bool:
    return min(claim.start or 0, claim.end or 0) < 0


# --- spots in a file -----------------------------------------------------------------------------------------------


def _name(file: ChangedFile, side: Side) -> str:
    return file.old_path if side is Side.OLD and file.old_path is not None else file.path


def _span(file: ChangedFile, spot: Spot) -> Span:
    return Span(path=_name(file, spot.side), start=spot.start, end=spot.end, side=spot.side)


def _touches(file: ChangedFile, side: Side, start: int, end: int) -> bool:
    ranges = (hunk.place(side) for hunk in parse_patch(file.patch or ""))
    return any(start < first + count and first <= end for first, count in ranges)


def _last_line(file: ChangedFile, side: Side) -> int:
    """The last line that the patch proves to exist."""
    hunks = parse_patch(file.patch or "")
    if not hunks:
        return 0 if file.patch is None else LARGEST  # a pure rename: the patch says nothing about the lines
    return sum(hunks[-1].place(side)) - 1


def _length(file: ChangedFile, side: Side, read: Reader | None) -> int | None:
    """The number of lines of the file on that side, None when it is not known."""
    text = read(_name(file, side), side) if read is not None else None
    if text is not None:
        return text.count("\n") + (not text.endswith("\n") and text != "")
    if file.status is (FileStatus.ADDED if side is Side.NEW else FileStatus.DELETED) and file.patch is not None:
        return sum(len(hunk.lines) for hunk in parse_patch(file.patch))
    return None


def _row(file: ChangedFile, position: int) -> Spot | None:
    """GitHub's diff position: 1 is the line below the first hunk header, later headers count as lines."""
    rows = patch_rows(file.patch or "")
    line = rows[position] if 0 < position < len(rows) else None
    return _of_lines([line], None) if line is not None else None


def _rows_between(file: ChangedFile, start: int, end: int) -> Spot | None:
    """Lines `start` to `end` of the patch's text, its first hunk header being line 1."""
    rows = patch_rows(file.patch or "")
    if start > len(rows):
        return None
    return _of_lines([row for row in rows[start - 1 : end] if row is not None], None)


def _of_lines(lines: list[DiffLine], side: Side | None) -> Spot | None:
    """The lines' place on `side`, by default on the new one where they have a place there."""
    for wanted in (side,) if side is not None else (Side.NEW, Side.OLD):
        numbers = [n for line in lines if (n := line.number(wanted)) is not None]
        if numbers:
            return Spot(min(numbers), max(numbers), wanted, True, any(line.kind != " " for line in lines))
    return None


# --- quotes --------------------------------------------------------------------------------------------------------


def _search_everywhere(
    fragments: list[str], claim: Location, change: Change, read: Reader | None
) -> tuple[ChangedFile, Spot] | None:
    """The one file of the change that holds the quoted code, when the named file is not part of the change."""
    for fragment in fragments:
        if claim.path is not None and weight(fragment) < TELLING:
            continue
        found = [
            (file, spot)
            for file in change.files
            if file.patch and (spot := _find_quote(fragment, file, claim.side, None, read)) and spot.hunk
        ]
        changed = [pair for pair in found if pair[1].changed] or found
        if len(changed) == 1 or (changed and claim.path is None):
            return changed[0]
    return None


def _find_quote(quote: str, file: ChangedFile, side: Side | None, near: int | None, read: Reader | None) -> Spot | None:
    for whole in (True, False):
        for needle in needles(quote):
            spots = [
                spot
                for wanted in ((Side.NEW, Side.OLD) if side is not Side.OLD else (Side.OLD, Side.NEW))
                for spot in _side_spots(needle, file, wanted, whole, read)
                if spot.side is (side or Side.NEW) or spot.changed
            ]
            spots += _diff_spots(needle, file, side, whole)
            if side is not None:
                spots = [spot for spot in spots if spot.side is side] or spots
            if spots:
                return min(spots, key=lambda spot: _rank(spot, near))
    return None


def _rank(spot: Spot, near: int | None) -> tuple[int, bool, bool, bool, int]:
    gap = 0 if near is None else max(spot.start - near, near - spot.end, 0)
    return gap, not spot.changed, not spot.hunk, spot.side is Side.OLD, spot.start


@lru_cache(maxsize=64)  # many comments are placed in one patch
def _shown(patch: str, side: Side) -> Sequence[tuple[Sequence[int], Sequence[str]]]:
    """Each hunk's lines in one version of its file: their numbers, and their texts to compare."""
    hunks = [[(n, line) for line in hunk.lines if (n := line.number(side)) is not None] for hunk in parse_patch(patch)]
    return [([n for n, _ in lines], [plain(line.text) for _, line in lines]) for lines in hunks]


def _side_spots(needle: tuple[str, ...], file: ChangedFile, side: Side, whole: bool, read: Reader | None) -> list[Spot]:
    """The places of the quote in one version of the file: in its text where available, else in the hunks."""
    changed = changed_lines(file, side)
    text = read(_name(file, side), side) if read is not None else None
    if text is not None:
        ranges = [(a + 1, b + 1) for a, b in occurrences(needle, plain_lines(text), whole)]
    else:
        ranges = []
        for numbers, texts in _shown(file.patch or "", side):
            ranges += [(numbers[a], numbers[b]) for a, b in occurrences(needle, texts, whole)]
    return [Spot(a, b, side, _touches(file, side, a, b), any(n in changed for n in range(a, b + 1))) for a, b in ranges]


def _diff_spots(needle: tuple[str, ...], file: ChangedFile, side: Side | None, whole: bool) -> list[Spot]:
    """The places of a fragment of the diff itself, deleted and added lines together."""
    if len(needle) < 2:
        return []
    spots = []
    for hunk in parse_patch(file.patch or ""):
        for a, b in occurrences(needle, [plain(line.text) for line in hunk.lines], whole):
            lines = list(hunk.lines[a : b + 1])
            if {line.kind for line in lines} >= {"+", "-"}:
                spots.append(_of_lines(lines, side) or _of_lines(lines, None))
    return [spot for spot in spots if spot is not None]
