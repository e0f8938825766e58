"""Claims by the lines of a hunk, for what no grammar reads: a line is changed, added or removed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher

from reviewgauge.claims.sides import HunkSide, Pair
from reviewgauge.claims.statements import Statement, from_to, quoted
from reviewgauge.core.records import Side

RANK_LINES, RANK_COMMENTS, RANK_SPACE = 80, 90, 95
MOST_BY_LINE = 40  # sentences about the lines of a hunk
_ALIKE = 0.5  # from which on one line is another form of the other
_MOST_PAIRS = 12  # lines of a block that are compared with each other
_EMPTY = re.compile(r"[\W_]*(?:(?:else|try|finally|do|begin|end|done|fi|then|esac|endif)\b[\W_]*)*")
_COMMENT = re.compile(
    r"\s*(?:#(?!!|\s*(?:include|if|ifdef|ifndef|endif|define|else|pragma)\b)"
    r"|//|/\*|\*(?:[\s/]|$)|--\s|;;|<!--|\"\"\"|''')"
)


def line_statements(
    pair: Pair, old_done: AbstractSet[int] = frozenset(), new_done: AbstractSet[int] = frozenset(), *, code: bool = True
) -> Iterator[Statement]:
    """A sentence for each changed line that no other sentence speaks of (`old_done`, `new_done`: rows).

    `code`: the file is code, so that some lines may be comments.
    """
    said = False
    old_moved, new_moved = _moved(pair)
    for removed, added in pair.blocks:
        olds = [row for row in removed if row not in old_moved and _tells(pair.old.rows[row])]
        news = [row for row in added if row not in new_moved and _tells(pair.new.rows[row])]
        for before, after in _matched(pair, olds, news):
            if after is not None and after not in new_done:
                said = True
                if before is None:
                    yield _one(pair.new, after, "is added", code)
                else:
                    yield from _changed(pair, before, after, code)
            elif after is None and before is not None and before not in old_done:
                said = True
                yield _one(pair.old, before, "is removed", code)
    if not said and not old_done and not new_done:
        yield from _only_space(pair)


def _moved(pair: Pair) -> tuple[set[int], set[int]]:
    """The rows whose text is both removed and added: moved, or indented anew."""
    texts = [Counter("".join(side.rows[row].split()) for row in side.changed) for side in (pair.old, pair.new)]
    both = texts[0] & texts[1]
    found: list[set[int]] = []
    for side in (pair.old, pair.new):
        left, rows = both.copy(), set()
        for row in sorted(side.changed):
            text = "".join(side.rows[row].split())
            if left[text] > 0:
                left[text] -= 1
                rows.add(row)
        found.append(rows)
    return found[0], found[1]


def _tells(text: str) -> bool:
    return _EMPTY.fullmatch(text.strip()) is None


def _matched(pair: Pair, olds: Sequence[int], news: Sequence[int]) -> Iterator[tuple[int | None, int | None]]:
    """Rows that are forms of one line, in order; the rest alone."""
    left = list(news)
    for row in olds:
        best, found = _ALIKE, None
        for other in left[:_MOST_PAIRS]:
            ratio = similarity(pair.old.rows[row], pair.new.rows[other])
            if ratio > best:
                best, found = ratio, other
        if found is not None:
            left.remove(found)
        yield row, found
    yield from ((None, row) for row in left)


def similarity(old: str, new: str) -> float:
    """How much of two texts is the same, 0 to 1."""
    return SequenceMatcher(None, old.strip()[:300], new.strip()[:300], autojunk=False).ratio()


def _changed(pair: Pair, before: int, after: int, code: bool) -> Iterator[Statement]:
    old, new = pair.old.rows[before], pair.new.rows[after]
    if old.split() == new.split():
        return
    rank, what = (
        (RANK_COMMENTS, "The comment") if code and is_comment(old) and is_comment(new) else (RANK_LINES, "The line")
    )
    text = f"{what} changes from {from_to(old.strip(), new.strip())}."
    yield Statement(rank, pair.new.line(after), text, (before,), (after,))


def _one(side: HunkSide, row: int, verb: str, code: bool) -> Statement:
    text = side.rows[row]
    rank, what = (RANK_COMMENTS, "The comment") if code and is_comment(text) else (RANK_LINES, "The line")
    rows = ((), (row,)) if side.side is Side.NEW else ((row,), ())
    return Statement(rank, side.line(row), f"{what} {quoted(text)} {verb}.", *rows)


def is_comment(text: str) -> bool:
    """Whether a line looks like one that only holds a comment."""
    return _COMMENT.match(text) is not None


def _only_space(pair: Pair) -> Iterator[Statement]:
    """What can be said of a hunk without a telling line."""
    if not pair.old.changed and not pair.new.changed:
        return
    blocks = [(_squeezed(pair.old, removed), _squeezed(pair.new, added)) for removed, added in pair.blocks]
    old, new = ([line for block in blocks for line in block[side]] for side in (0, 1))
    line = pair.new.line(min(pair.new.changed)) if pair.new.changed else pair.old.line(min(pair.old.changed))
    if not any(old) and not any(new):
        text = "Blank lines are changed."
    elif all("".join(before) == "".join(after) for before, after in blocks):
        text = "Only white space and line breaks are changed."
    elif sorted(filter(None, old)) == sorted(filter(None, new)):
        text = "Lines are moved."
    else:
        text = "Only punctuation is changed."
    yield Statement(RANK_SPACE, line, text)


def _squeezed(side: HunkSide, rows: Sequence[int]) -> list[str]:
    return ["".join(side.rows[row].split()) for row in rows]
