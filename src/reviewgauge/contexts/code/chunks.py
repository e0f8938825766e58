"""A file in chunks for retrieval: by its definitions, and by windows of lines where it has none or they are long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewgauge.repo.syntax.functions import Enclosing, definitions
from reviewgauge.repo.syntax.lines import line_count

LONGEST = 60  # lines of a chunk
_SHORT = 5  # lines; what is shorter is joined to the next chunk, such as a comment above a function
_DEEPEST = 20  # definitions within each other
Lines = tuple[int, int]  # the first and the last line


def chunks(source: bytes, path: str) -> list[Lines]:
    """Chunks of at most LONGEST lines that cover a file but for blank lines.

    A definition that is short enough is one chunk; a longer one is cut at the definitions in it.
    """
    lines = source.split(b"\n")
    whole = (1, line_count(source))
    cut = list(_cut(whole, definitions(source, path), 0))
    return [trimmed for one in _joined(cut) if (trimmed := _trimmed(one, lines)) is not None]


def _cut(lines: Lines, scopes: Sequence[Enclosing], depth: int) -> Iterator[Lines]:
    """`lines` in parts: the outermost of `scopes`, which lie in them, and what is between those."""
    at, last = lines
    for scope in scopes:
        start = max(scope.start, at)
        if scope.end < start or scope.end > last:  # within the one before
            continue
        yield from _windows(at, start - 1)
        if scope.end - start < LONGEST or depth == _DEEPEST:
            yield from _windows(start, scope.end)
        else:
            inner = [one for one in scopes if one.start > scope.start and one.end <= scope.end]
            yield from _cut((start, scope.end), inner, depth + 1)
        at = scope.end + 1
    yield from _windows(at, last)


def _windows(start: int, end: int) -> Iterator[Lines]:
    for at in range(start, end + 1, LONGEST):
        yield at, min(at + LONGEST - 1, end)


def _joined(parts: Sequence[Lines]) -> Iterator[Lines]:
    """The parts, a short one joined to the next where both fit into a chunk."""
    held: Lines | None = None
    for start, end in parts:
        if held is not None and held[1] - held[0] + 1 < _SHORT and end - held[0] < LONGEST:
            held = held[0], end
            continue
        if held is not None:
            yield held
        held = start, end
    if held is not None:
        yield held


def _trimmed(part: Lines, lines: Sequence[bytes]) -> Lines | None:
    """Without blank lines at both ends; None where all are."""
    start, end = part
    while start <= end and not lines[start - 1].strip():
        start += 1
    while end >= start and not lines[end - 1].strip():
        end -= 1
    return (start, end) if start <= end else None
