"""Code as SZZ compares it: the same tokens, lines that moved, identifiers that were renamed.

Two pieces of code are the same when their tokens are, without white space and comments, however they are broken into
lines. The thresholds for moved lines are those of `git blame -M` and `-C`: 20 letters and digits within a file, 40
between files. Renames are seen in the tokens alone, after RefactoringMiner's idea that a refactoring brings no defect
(Neto, da Costa, Kulesza, SANER 2018, "RA-SZZ"); that reads Java only, this any language, and so sees less.
"""

from __future__ import annotations

import keyword
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate, chain, pairwise

from reviewgauge.repo.syntax.languages import language
from reviewgauge.repo.syntax.lines import LineKinds
from reviewgauge.repo.szz.blame import FileDiff

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SHAPED = re.compile(r"\"[^\"]*\"|'[^']*'|\w+|[^\w\s]")
_MARK = "\ufeff"  # the byte order mark that some editors put before the first line
_CLOSING = frozenset(")]}")
_QUOTED = re.compile(r"([A-Za-z]{0,2})'([^'\"\\]*)'")
_EITHER_QUOTE = ("Python", "JavaScript", "TypeScript")  # in which both quotes mean the same
_MOST_TOKENS = 4_000  # on one side of a hunk; beyond it only whole lines are compared
_MOST_LINES = 4_000  # on one side of a hunk; beyond it nothing is compared

Tokens = tuple[str, ...]


def tokens_of(lines: LineKinds, path: str, start: int, count: int) -> tuple[Tokens, ...]:
    """The tokens of `count` lines from `start`, quotes commit alike where a language does not tell them apart."""
    found = tuple(lines.tokens(line) for line in range(start, start + count))
    if start == 1 and found[:1] and found[0][:1] == (_MARK,):
        found = (found[0][1:], *found[1:])
    if language(path) not in _EITHER_QUOTE:
        return found
    return tuple(tuple(_QUOTED.sub(r'\1"\2"', token) if "'" in token else token for token in line) for line in found)


def words(line: bytes) -> Tokens:
    """The words and signs of a line of any language, its comments among them."""
    return tuple(_TOKEN.findall(line.decode("utf-8", "replace")))


def same_code(old: Sequence[Tokens], new: Sequence[Tokens]) -> dict[int, tuple[int, ...]]:
    """For lines of `new` that say what lines of `old` say, in the same order: the indexes of those lines of `old`.

    Runs of whole lines are compared, so `f(a,` and `b)` are the same code as `f(a, b)`, and `return x` is not found in
    `return x + 1`. Lines without tokens are never in the answer.
    """
    if len(old) > _MOST_LINES or len(new) > _MOST_LINES:
        return {}
    olds, news = _Flat(old), _Flat(new)
    if max(len(olds.tokens), len(news.tokens)) > _MOST_TOKENS:
        return _same_lines(old, new)
    found = defaultdict[int, dict[int, None]](dict)
    for a, b, size in SequenceMatcher(None, olds.tokens, news.tokens, autojunk=False).get_matching_blocks():
        ends = [at for at in range(size + 1) if a + at in olds.ends and b + at in news.ends]
        for at in range(ends[0], ends[-1]) if ends else ():
            found[news.line[b + at]][olds.line[a + at]] = None
    return {line: tuple(lines) for line, lines in found.items()}


def _same_lines(old: Sequence[Tokens], new: Sequence[Tokens]) -> dict[int, tuple[int, ...]]:
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return {b + n: (a + n,) for a, b, size in blocks for n in range(size) if new[b + n]}


class _Flat:
    """The tokens of several lines in one row: which line each belongs to, and the places between lines.

    A comma at the end of a line, before a bracket that closes on the next one, is left out: formatters add it.
    """

    def __init__(self, lines: Sequence[Tokens]) -> None:
        rows = [[*line] for line in lines]
        for row, after in pairwise(rows):
            if row and row[-1] == "," and after and after[0] in _CLOSING:
                row.pop()
        self.tokens = [token for row in rows for token in row]
        self.line = [n for n, row in enumerate(rows) for _ in row]
        self.ends = {0, *accumulate(len(row) for row in rows)}


def likeness(one: Tokens, other: Tokens) -> float:
    """How much of two lines is the same, 0 to 1."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


_WITHIN, _BETWEEN = 20, 40
_ENOUGH = 400  # letters and digits; a longer block is not better evidence
_MOST_PLACES = 50  # of one text; a commoner line is not evidence
_MOST_MOVED = 50_000  # on one side of a commit; beyond it no move is looked for


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring lines on one side of a commit, without their white space."""

    path: str
    start: int
    lines: tuple[bytes, ...]
    hunk: int


class _Side:
    """All that a commit deleted, or all that it added, each line in the form by which it is known again."""

    def __init__(self, files: Sequence[FileDiff], form: Callable[[bytes], bytes], *, old: bool) -> None:
        self.runs = list(_runs(files, form, old=old))
        self._of_path = defaultdict[str, list[_Run]](list)
        for run in self.runs:
            self._of_path[run.path].append(run)
        self.places = _places(self.runs)

    def run(self, path: str, line: int) -> _Run | None:
        """The run that holds a line."""
        runs = self._of_path.get(path, [])
        at = bisect_right(runs, line, key=lambda run: run.start) - 1
        return runs[at] if at >= 0 and line < runs[at].start + len(runs[at].lines) else None


class Moves:
    """Where the lines of one commit came from, or went to.

    `shapes`: also lines in which variables got other names on the way, as when a helper is extracted, though never
    within one hunk: there they are edits.
    """

    def __init__(self, files: Sequence[FileDiff], *, shapes: bool = False) -> None:
        form = shape if shapes else _squeezed
        self._deleted, self._added = _Side(files, form, old=True), _Side(files, form, old=False)
        self._shapes = shapes
        self._new_path = {file.old: file.new for file in files if file.old is not None}

    def came_from(self, path: str, line: int) -> tuple[str, int] | None:
        """The (path, line) before the commit of a line that it added; None where it was not moved."""
        return self._other(self._added, self._deleted, path, line, lambda other: (other, path))

    def went_to(self, path: str, line: int) -> tuple[str, int] | None:
        """The (path, line) after the commit of a line that it deleted; None where it was not moved."""
        return self._other(self._deleted, self._added, path, line, lambda other: (path, other))

    def _other(
        self, here: _Side, there: _Side, path: str, line: int, pair: Callable[[str], tuple[str, str]]
    ) -> tuple[str, int] | None:
        run = here.run(path, line)
        if run is None:
            return None
        at = line - run.start
        found: list[tuple[int, int, str, int]] = []
        for index, other_at in there.places.get(run.lines[at], []):
            other = there.runs[index]
            if self._shapes and other.hunk == run.hunk:
                continue
            before, after = pair(other.path)
            weight = _common(run.lines, at, other.lines, other_at)
            if weight >= (_WITHIN if self._new_path.get(before) == after else _BETWEEN):
                number = other.start + other_at
                found.append((weight, -abs(number - line), other.path, number))
        return max(found)[2:] if found else None


def _runs(files: Sequence[FileDiff], form: Callable[[bytes], bytes], *, old: bool) -> Iterator[_Run]:
    hunks = enumerate((file, patch) for file in files for patch in file.patches)
    for hunk, (file, patch) in hunks:
        path = file.old if old else file.new
        lines, start = (patch.old, patch.old_start) if old else (patch.new, patch.new_start)
        if path is not None and lines:
            yield _Run(path, start, tuple(map(form, lines)), hunk)


def _squeezed(line: bytes) -> bytes:
    return b"".join(line.split())


def shape(line: bytes) -> bytes:
    """A line with its variables numbered in their order: the same for `a.url + b` and `request.url + base`.

    Names behind a dot, keywords, numbers and strings stay; a comment is none.
    """
    numbers: dict[str, str] = {}
    found: list[str] = []
    tokens = _SHAPED.findall(line.decode("utf-8", "replace"))
    for before, token in pairwise(("", *tokens)):
        free = (_is_name(token) or token in ("self", "cls", "this")) and before != "."
        found.append(numbers.setdefault(token, f"${len(numbers)}") if free else token)
    return "".join(found).encode()


def _places(runs: Sequence[_Run]) -> dict[bytes, list[tuple[int, int]]]:
    """The (run, line of it) of each text."""
    if sum(len(run.lines) for run in runs) > _MOST_MOVED:
        return {}
    found = defaultdict[bytes, list[tuple[int, int]]](list)
    for index, run in enumerate(runs):
        for at, line in enumerate(run.lines):
            if line:
                found[line].append((index, at))
    return {line: places for line, places in found.items() if len(places) <= _MOST_PLACES}


def _common(one: Sequence[bytes], at: int, other: Sequence[bytes], other_at: int) -> int:
    """Letters and digits of the longest equal block around two equal lines, up to what any threshold asks."""
    weight = _weight(one[at])
    for step in (-1, 1):
        a, b = at + step, other_at + step
        while 0 <= a < len(one) and 0 <= b < len(other) and one[a] == other[b] and weight < _ENOUGH:
            weight += _weight(one[a])
            a, b = a + step, b + step
    return weight


def _weight(line: bytes) -> int:
    return sum(chr(c).isalnum() for c in line)


Hunk = tuple[Sequence[Tokens], Sequence[Tokens]]
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_FUNCTIONS = frozenset(["def", "function", "func", "fn", "fun", "sub"])
_DECLARING_WORDS = (
    "class let var const val struct enum interface type trait module namespace package import as for auto int float"
    " double long short char bool boolean byte string void unsigned signed size_t static final"
)
_MORE_WORDS = (
    "abstract and begin break case catch continue default defer delete do else elsif end ensure export extends"
    " false finally foreach friend go goto if implements in inline instanceof internal is loop match mod mut mutable"
    " new nil none not null of operator or override private protected public pub raise ref return select self set"
    " get super switch synchronized template then this throw throws true try typedef typeof undefined unless until"
    " use using virtual volatile when where while with yield"
)
_DECLARERS = _FUNCTIONS.union(_DECLARING_WORDS.split())
_KEYWORDS = _DECLARERS.union(keyword.kwlist, _MORE_WORDS.split())


def renamed_code(old: Sequence[Tokens], new: Sequence[Tokens], renames: dict[str, str]) -> dict[int, tuple[int, ...]]:
    """As `same_code`, where the identifiers of `old` are first renamed by `renames`; lines without one are left out."""
    translated = [tuple(renames.get(token, token) for token in line) for line in old]
    names = set(renames.values())
    return {line: found for line, found in same_code(translated, new).items() if names & set(new[line])}


def find_renames(hunks: Sequence[Hunk]) -> dict[str, str]:
    """Identifiers that a commit renamed, from all its (old, new) hunks.

    `a` became `b` when lines of equal place in a hunk differ in nothing but this, at two lines or more, one of which
    defines `a`; nothing else took the place of `a`, nor `b` the place of anything else; no added line still says `a`,
    no deleted line had `b` already. So `min` that became `max` wherever it is called is not a rename.
    """
    count = Counter[tuple[str, str]]()
    defined: set[str] = set()
    before = {token for old, _ in hunks for line in old for token in line}
    after = {token for _, new in hunks for line in new for token in line}
    same_length = (hunk for hunk in hunks if len(hunk[0]) == len(hunk[1]))
    for one, other in chain.from_iterable(zip(*hunk, strict=True) for hunk in same_length):
        pairs = _differences(one, other)
        count.update(pairs)
        defined |= {a for a, _ in pairs if _defines(one, a)}
    sources = [a for a, _ in count]
    targets = [b for _, b in count]
    return {
        a: b
        for (a, b), times in count.items()
        if times > 1
        and sources.count(a) == targets.count(b) == 1
        and a in defined
        and a not in after
        and b not in before
    }


def _differences(old: Tokens, new: Tokens) -> set[tuple[str, str]]:
    """The identifiers that differ between two lines; none when anything else does."""
    if len(old) != len(new):
        return set()
    pairs = {(a, b) for a, b in zip(old, new, strict=True) if a != b}
    return pairs if all(_is_name(token) for pair in pairs for token in pair) else set()


def _is_name(token: str) -> bool:
    return token not in _KEYWORDS and _IDENTIFIER.fullmatch(token) is not None


def _defines(line: Tokens, name: str) -> bool:
    """Whether the line looks like one that gives `name` its meaning: a definition, a parameter, an assignment."""
    for at, token in enumerate(line):
        if token != name:
            continue
        last = line[at - 1] if at else ""
        following = line[at + 1 : at + 3]
        if last in _DECLARERS or (line[0] in _FUNCTIONS and "(" in line[:at]):
            return True
        if "(" in line[:at]:
            continue
        assigned = following[:1] in ((":=",), ("=",)) and following != ("=", "=")
        if assigned or following == (":", "=") or (_is_name(last) and following[:1] in ((";",), (",",))):
            return True
    return False
