"""Whether a fix changed in a line what the change under review had put there: the two diffs compared word by word.

SZZ blames whoever touched a line last, also who only renamed a variable in it. Here the words that the change brought
into the line are held against the words that the fix took out of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache

from reviewgauge.core.records import ChangedFile, Side
from reviewgauge.repo.diff.diffs import DiffLine, parse_patch

_TOKEN = re.compile(r"\w+|==|!=|<=|>=|&&|\|\||[^\w\s]")
_SIGNS = frozenset("()[]{},;:.'\"`\\")  # say nothing by themselves
_ALIKE = 0.75  # from which on a line is an edit of another one (share of tokens that both have, in order)
_ENOUGH = 3  # different words from which on a line can be recognised
_OWN = 0.5  # of a line's words from which on it is the change's own
_MOST = 3000  # tokens on one side of a block; in a larger one every token counts as changed


@dataclass(slots=True)
class TouchedLine:
    """One line of a block of a diff: its tokens, which of them the diff changed, and which stand beside something new.

    All are indexes into `tokens`. Signs such as brackets are in `tokens` and never in the sets. `inserted` is how many
    words were put between those of the line.
    """

    tokens: tuple[str, ...]
    changed: set[int] = field(default_factory=set)
    beside: set[int] = field(default_factory=set)
    inserted: int = 0

    @property
    def words(self) -> int:
        """The number of tokens that are not mere signs."""
        return sum(token not in _SIGNS for token in self.tokens)

    @property
    def share(self) -> float:
        """How much of the line was changed, by words; 1 for a line without any."""
        return len(self.changed) / self.words if self.words else 1.0


def origin_problem(change: TouchedLine, fix: TouchedLine) -> str:
    """Why the change is not the origin of what the fix changed in a line, empty when it is.

    `change` is the line as the change under review left it, `fix` the same line as the fix found it.
    """
    if not fix.changed and not fix.beside:
        return "only moved or wrapped by the fix"
    if change.tokens != fix.tokens or change.share >= _OWN:  # it wrote the line, or the line differs in form
        return ""
    if fix.share == 1.0:
        return "an old line that the change only edited, replaced as a whole"
    own = fix.changed & change.changed
    return "" if 2 * len(own) > len(fix.changed) else "the fix changed what had stood in the line before"


def words_changed(files: Sequence[ChangedFile], counts: Callable[[str, str], bool]) -> tuple[int, int]:
    """How many words a diff takes out and puts in, in the lines for which `counts(path, text)` holds."""
    totals = []
    for side in (Side.OLD, Side.NEW):
        total = 0
        for file in files:
            touched = touched_lines(file.patch, side) if file.patch else {}
            for hunk in parse_patch(file.patch) if touched and file.patch else ():
                for line in hunk.lines:
                    number = line.old if side is Side.OLD else line.new
                    if line.kind != " " and number in touched and counts(file.path, line.text):
                        total += len(touched[number].changed)
        totals.append(total)
    return totals[0], totals[1]


def touched_at(files: Sequence[ChangedFile], path: str, line: int, side: Side) -> TouchedLine | None:
    """What the diff of `files` did to one line; None where it did not touch it."""
    for file in files:
        if file.patch and path == (file.path if side is Side.NEW else file.old_path or file.path):
            return touched_lines(file.patch, side).get(line)
    return None


def as_edit_of_deleted(line: TouchedLine, files: Sequence[ChangedFile]) -> TouchedLine:
    """The line as an edit of the one that it is most like among all that the change deletes, wherever that stood.

    A function that moves to another file with small edits is not a new code. A line that is like none stays as it is.
    """
    best, blocks = _ALIKE, None
    mine = set(line.tokens) - _SIGNS
    if len(mine) < _ENOUGH or line.share < _OWN:  # too little to know it again, or an edit of what stood there
        return line
    for other in _deleted(tuple(file.patch for file in files if file.patch)):
        common = len(mine & set(other))
        if 2 * common < best * (len(mine) + len(set(other) - _SIGNS)):
            continue
        matcher = SequenceMatcher(None, other, line.tokens, autojunk=False)
        if (ratio := matcher.ratio()) > best:
            best, blocks = ratio, matcher.get_matching_blocks()
    if blocks is None:
        return line
    same = {b + n for _, b, size in blocks for n in range(size)}
    changed = {n for n, token in enumerate(line.tokens) if n not in same and token not in _SIGNS}
    return line if len(changed) >= len(line.changed) else TouchedLine(line.tokens, changed)


@lru_cache(maxsize=16)
def _deleted(patches: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The tokens of each deleted line."""
    lines = (line for patch in patches for hunk in parse_patch(patch) for line in hunk.lines if line.kind == "-")
    return tuple(_tokens(line.text) for line in lines)


@lru_cache(maxsize=512)
def touched_lines(patch: str, side: Side) -> dict[int, TouchedLine]:
    """The lines that a file's patch adds (side new) or deletes (side old), by their number."""
    found: dict[int, TouchedLine] = {}
    for hunk in parse_patch(patch):
        for block in _blocks(hunk.lines):
            found |= _touched(block, side)
    return found


def _blocks(lines: Sequence[DiffLine]) -> Iterator[list[DiffLine]]:
    """Runs of added and deleted lines."""
    block: list[DiffLine] = []
    for line in lines:
        if line.kind != " ":
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _touched(block: Sequence[DiffLine], side: Side) -> dict[int, TouchedLine]:
    olds = [(n, token) for n, line in _numbered(block, Side.OLD) for token in _tokens(line.text)]
    news = [(n, token) for n, line in _numbered(block, Side.NEW) for token in _tokens(line.text)]
    mine = olds if side is Side.OLD else news
    lines = {n: TouchedLine(_tokens(line.text)) for n, line in _numbered(block, side)}
    place = _places(mine)
    if max(len(olds), len(news)) > _MOST:
        operations = [(0, len(olds), 0, len(news))]
    else:
        both = [token for _, token in olds], [token for _, token in news]
        found = SequenceMatcher(None, *both, autojunk=False).get_opcodes()
        operations = [(a, b, c, d) for tag, a, b, c, d in found if tag != "equal"]
    for a, b, c, d in operations:
        first, last = (a, b) if side is Side.OLD else (c, d)
        for at in range(first, last):
            number, index = place[at]
            if mine[at][1] not in _SIGNS:
                lines[number].changed.add(index)
        others, begin, end = (news, c, d) if side is Side.OLD else (olds, a, b)
        words = [token for _, token in others[begin:end] if token not in _SIGNS]
        if first == last and words and not _whole_lines(others, begin, end):
            for count, at in enumerate(_neighbours(mine, first)):
                number, index = place[at]
                lines[number].beside.add(index)
                lines[number].inserted += 0 if count else len(words)
    return lines


def _whole_lines(tokens: Sequence[tuple[int, str]], first: int, last: int) -> bool:
    """Whether a run of tokens fills its lines: then it stands between the lines of the other side, and touches none.

    Signs at its ends do not count: a new last entry of a list puts a comma behind the one before.
    """
    while tokens[first][1] in _SIGNS:
        first += 1
    while tokens[last - 1][1] in _SIGNS:
        last -= 1
    before = next((line for line, token in reversed(tokens[:first]) if token not in _SIGNS), None)
    after = next((line for line, token in tokens[last:] if token not in _SIGNS), None)
    return before != tokens[first][0] and after != tokens[last - 1][0]


def _neighbours(tokens: Sequence[tuple[int, str]], at: int) -> Iterator[int]:
    """The nearest words before and after a place between tokens."""
    for way in (range(at - 1, -1, -1), range(at, len(tokens))):
        found = next((n for n in way if tokens[n][1] not in _SIGNS), None)
        if found is not None:
            yield found


def _numbered(block: Sequence[DiffLine], side: Side) -> Iterator[tuple[int, DiffLine]]:
    for line in block:
        number = line.old if side is Side.OLD else line.new
        if number is not None and line.kind != " ":
            yield number, line


def _places(tokens: Sequence[tuple[int, str]]) -> list[tuple[int, int]]:
    """(line, index in the line) of each token of a block."""
    found: list[tuple[int, int]] = []
    for number, _ in tokens:
        same = found and found[-1][0] == number
        found.append((number, found[-1][1] + 1 if same else 0))
    return found


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(text))
