"""Claims by the lines of a hunk, for what no grammar reads: a line is changed, added or removed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher

from reviewgauge.claims.sides import HunkSide, Pair
from reviewgauge.claims.wording import Statement, from_to, quoted

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
    said = bool(old_done or new_done)
    moved = _moved(pair)
    for block in pair.blocks:
        olds, news = (
            [row for row in rows if row not in gone and _tells(side.rows[row])]
            for side, rows, gone in zip((pair.old, pair.new), block, moved, strict=True)
        )
        for before, after in _matched(pair, olds, news):
            if after in new_done or (after is None and before in old_done):
                continue
            said = True
            yield from _line(pair, before, after, code)
    if not said and pair.blocks:
        yield _only_space(pair)


def _moved(pair: Pair) -> tuple[set[int], set[int]]:
    """The rows whose text is both removed and added: moved, or indented anew."""
    old, new = (Counter(_squeezed(side.rows[row]) for row in side.changed) for side in (pair.old, pair.new))
    found: list[set[int]] = []
    for side in (pair.old, pair.new):
        left = old & new
        rows = set[int]()
        for row in sorted(side.changed):
            if left[_squeezed(side.rows[row])] > 0:
                left[_squeezed(side.rows[row])] -= 1
                rows.add(row)
        found.append(rows)
    return found[0], found[1]


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _tells(text: str) -> bool:
    return _EMPTY.fullmatch(text.strip()) is None


def _matched(pair: Pair, olds: Sequence[int], news: Sequence[int]) -> Iterator[tuple[int | None, int | None]]:
    """Rows that are forms of one line, in order; the rest alone."""
    left = list(news)
    for row in olds:
        rated = [(similarity(pair.old.rows[row], pair.new.rows[other]), -other) for other in left[:_MOST_PAIRS]]
        best, other = max(rated, default=(0.0, 0))
        if best > _ALIKE:
            left.remove(-other)
        yield row, -other if best > _ALIKE else None
    yield from ((None, row) for row in left)


def similarity(old: str, new: str) -> float:
    """How much of two texts is the same, 0 to 1."""
    return SequenceMatcher(None, old.strip()[:300], new.strip()[:300], autojunk=False).ratio()


def _line(pair: Pair, before: int | None, after: int | None, code: bool) -> Iterator[Statement]:
    """A line that is changed, removed (no `after`) or added (no `before`)."""
    old = None if before is None else pair.old.rows[before]
    new = None if after is None else pair.new.rows[after]
    comment = code and all(_COMMENT.match(text) for text in (old, new) if text is not None)
    rank, what = (RANK_COMMENTS, "The comment") if comment else (RANK_LINES, "The line")
    line = pair.old.lines[before or 0] if after is None else pair.new.lines[after]
    if old is None or new is None:
        text = f"{what} {quoted(old or new or '')} is {'added' if old is None else 'removed'}."
    elif old.split() == new.split():
        return
    else:
        text = f"{what} changes from {from_to(old.strip(), new.strip())}."
    rows = (tuple(row for row in (one,) if row is not None) for one in (before, after))
    yield Statement(rank, line, text, *rows)


def _only_space(pair: Pair) -> Statement:
    """What can be said of a hunk without a telling line."""
    texts = ([_squeezed(side.rows[row]) for row in side.changed] for side in (pair.old, pair.new))
    old, new = (sorted(filter(None, some)) for some in texts)
    if not old and not new:
        text = "Blank lines are changed."
    elif all(_joined(pair.old, removed) == _joined(pair.new, added) for removed, added in pair.blocks):
        text = "Only white space and line breaks are changed."
    else:
        text = "Lines are moved." if old == new else "Only punctuation is changed."
    side = pair.new if pair.new.changed else pair.old
    return Statement(RANK_SPACE, side.lines[min(side.changed)], text)


def _joined(side: HunkSide, rows: Sequence[int]) -> str:
    return _squeezed("".join(side.rows[row] for row in rows))
