"""Lines of code: where one is later, and whether a fix changed what a change wrote there.

SZZ blames whoever touched a line last, also who only renamed a variable in it. So the two diffs are compared word by
word: the words that the change brought into the line with the words that the fix took out of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from reviewgauge.core.records import ChangedFile, FileStatus, Side
from reviewgauge.repo.diff.diffs import DiffLine, Kind, normal, parse_patch
from reviewgauge.repo.diff.positions import map_line
from reviewgauge.repo.syntax.languages import trivial


def forward(files: Sequence[ChangedFile], path: str, line: int) -> tuple[str, int] | None:
    """The place of `line` of `path` after `files` were changed; None where it was changed or deleted."""
    for file in files:
        before = file.old_path or file.path
        if before != path or file.status is FileStatus.COPIED:
            continue
        if file.status in (FileStatus.DELETED, FileStatus.ADDED, FileStatus.TYPE_CHANGED):
            return None
        if file.patch is None:
            return None if file.binary else (file.path, line)
        moved = map_line(file.patch, line)
        return None if moved is None else (file.path, moved)
    return path, line


def texts(files: Sequence[ChangedFile], kind: Kind) -> frozenset[str]:
    """The lines that a diff adds ("+") or deletes ("-") anywhere, without white space."""
    return frozenset(normal(line.text) for file in files for line in _diff_lines(file) if line.kind == kind)


def new_text(files: Sequence[ChangedFile], path: str, line: int) -> str | None:
    """The text of `line` of `path` if the change added it, else None."""
    shown = (one for file in files if file.path == path for one in _diff_lines(file))
    return next((one.text for one in shown if one.new == line and one.kind == "+"), None)


def _diff_lines(file: ChangedFile) -> Iterator[DiffLine]:
    return (line for hunk in parse_patch(file.patch or "") for line in hunk.lines)


_QUOTES = frozenset("'\"`")
_OPTION = re.compile(
    r"\b(?:add_argument|add_option|option)\(\s*+[\"'](?P<flag>-[\w-]{1,60})"
    r"|^\s*+(?P<member>[A-Z][A-Z0-9_]{1,60})\s*+=\s*+(?:auto\(\)|\d++|[\"'][^\"']{0,60}[\"'])\s*+,?$"
    r"|[(,\s](?P<parameter>[a-z_]\w{1,60})\s*+:[^=,()]{1,80}=\s*+(?:None|False|True)\b"
)
_NAMED = re.compile(r"\s*+(?:(?:const|let|var)\s++)?(?P<name>[A-Za-z_]\w{0,60})\s*+=(?!=)\s*+(?P<what>\S.{3,200})")
_PROSE = re.compile(r"(?<=[\"'])[A-Za-z]{1,40}(?: [A-Za-z]{1,40}){1,40}(?=[\"'.!?])")  # a text of several words
_DEFAULT = re.compile(r"[(,]\s*+([a-z_]\w{1,60})=")
_TOKEN = re.compile(r"\\\S|\w+|==|!=|<=|>=|&&|\|\||[^\w\s]")
_SIGNS = frozenset(("\\'", '\\"', *"()[]{},;:.'\"`\\"))  # say nothing by themselves, outside of string literals
_LOGIC = frozenset(("and", "or", "not", "&&", "||", "!"))  # where brackets say which operand belongs where
_RUN = 4  # words in a row from which on a line is known again inside of deleted ones
_ALIKE = 0.75  # from which on a line is an edit of another one (share of tokens that both have, in order)
_ENOUGH = 3  # different words from which on a line can be recognised
_OWN = 0.5  # of a line's words from which on it is the change's own
_MOSTLY = 2 / 3  # of the words that a fix changes in an edited line: so many must be the change's own
_MOST = 3000  # tokens on one side of a block; in a larger one every token counts as changed


@dataclass(slots=True)
class TouchedLine:
    """One line of a block of a diff: its tokens, which of them the diff changed, and which are beside something new.

    All are indexes into `tokens`. Signs such as brackets are in `tokens` and never in the sets. `inserted` is how many
    words were put between those of the line; `listed`: as a further argument or entry. `other` are the words of the
    block's other side, `only_other` those that its own side has not.
    """

    tokens: tuple[str, ...]
    changed: set[int] = field(default_factory=set)
    beside: set[int] = field(default_factory=set)
    inserted: int = 0
    listed: bool = False
    other: frozenset[str] = frozenset()
    only_other: frozenset[str] = frozenset()

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
    if not fix.beside and all(fix.tokens[at] == "return" for at in fix.changed):  # "return x" became "y = x"
        return "only moved or wrapped by the fix"
    taken = {fix.tokens[at] for at in fix.changed}
    if taken and taken <= change.other:
        return "the fix changed what had stood in the replaced code"
    if change.share == 1.0:
        return ""
    put = {word for word in fix.only_other if word[-1].isalnum()}
    back = put & change.only_other  # what it took out and the fix puts in again
    if not fix.changed and change.share < _OWN and not (change.changed and 2 * len(back) > len(put)):
        return "the fix adds to what had stood in the line before"
    if change.only_other & fix.only_other:
        return ""
    theirs = fix.changed or fix.beside  # a fix that only inserts words is about those beside them
    if change.tokens == fix.tokens:
        own = len(theirs & change.changed)
    else:  # the line differs in form
        mine = {change.tokens[at] for at in change.changed}
        own = sum(fix.tokens[at] in mine for at in theirs)
    return "" if own >= _MOSTLY * len(theirs) else "the fix changed what had stood in the line before"


def respells(text: str, fix: TouchedLine) -> bool:
    """Whether a fix only spells words of a text within the line `text` in another way."""
    prose = {word for found in _PROSE.finditer(text) for word in found[0].split()}
    taken = [fix.tokens[at] for at in fix.changed]
    put = [word for word in fix.only_other if len(word) > 3]
    return bool(taken) and all(
        len(word) > 3 and word in prose and get_close_matches(word, put, 1, _ALIKE) for word in taken
    )


def says_the_same(text: str, files: Sequence[ChangedFile], path: str, line: int) -> bool:
    """Whether all that a fix does there is to give a part of a line a name: `if a.b(c):` to `d = a.b(c)` and `if d:`.

    `text` is `line` of `path` before the fix, `files` its diff. An import gives a name too: `six.PY3` becomes `PY3`.
    """
    own = normal(text)
    for block in (block for file in files if (file.old_path or file.path) == path for block in _blocks(file)):
        if not any(one.kind == "-" and one.old == line for one in block):
            continue
        put = [one.text for one in block if one.kind == "+" and one.text.strip()]
        named = next(filter(None, map(_NAMED.fullmatch, put)), None)
        if named and len(put) == 2:
            return {own.replace(normal(named["what"]), named["name"])} == {*map(normal, put)} - {normal(named[0])}
        imported = {word for file in files for one in _diff_lines(file) for word in _imported(one)}
        return len(put) == 1 and normal(put[0]) in {own.replace(f"{module}.", "") for module in imported} - {own}
    return False


def _blocks(file: ChangedFile) -> Iterator[Sequence[DiffLine]]:
    return (block for hunk in parse_patch(file.patch or "") for block in hunk.blocks())


def _imported(line: DiffLine) -> list[str]:
    """The words of an import that a diff touches."""
    return re.findall(r"\w{2,}", line.text) if line.kind != " " and trivial(line.text) == "an import" else []


def touched_at(files: Sequence[ChangedFile], path: str, line: int, side: Side) -> TouchedLine | None:
    """How the diff of `files` touched one line; None where it did not."""
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
    patches = tuple(file.patch for file in files if file.patch)
    if len(mine) >= _RUN and any(_joined(line.tokens) in run for run in _deleted_runs(patches)):
        return replace(line, changed=set())  # the same condition, broken into lines in another way
    for other in _deleted(patches):
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
    return line if len(changed) >= len(line.changed) else replace(line, changed=changed)


@lru_cache(maxsize=16)
def _deleted(patches: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The tokens of each deleted line."""
    lines = (line for patch in patches for hunk in parse_patch(patch) for line in hunk.lines if line.kind == "-")
    return tuple(_tokens(line.text) for line in lines)


@lru_cache(maxsize=16)
def _deleted_runs(patches: tuple[str, ...]) -> tuple[str, ...]:
    """The words of each run of deleted lines, joined as by `_joined`."""
    blocks = (block for patch in patches for hunk in parse_patch(patch) for block in hunk.blocks())
    return tuple(
        _joined(token for line in block if line.kind == "-" for token in _tokens(line.text)) for block in blocks
    )


def _joined(tokens: Iterable[str]) -> str:
    return f" {' '.join(token for token in tokens if token not in _SIGNS)} "


def adds_option(files: Sequence[ChangedFile]) -> bool:
    """Whether a diff adds an option, a flag or a member of an enumeration: what a feature request asks for."""
    names: dict[str, set[str]] = {"+": set(), "-": set(), " ": set()}
    for file in files:
        for line in _diff_lines(file):
            names[line.kind].update(_options(line.text))
    return bool(names["+"] - names["-"])


def _options(text: str) -> Iterator[str]:
    yield from (found[found.lastgroup or 0] for found in _OPTION.finditer(text))
    if text.lstrip().startswith(("def ", "async def ")):
        yield from _DEFAULT.findall(text)


@lru_cache(maxsize=512)
def touched_lines(patch: str, side: Side) -> dict[int, TouchedLine]:
    """The lines that a file's patch adds (side new) or deletes (side old), by their number."""
    found: dict[int, TouchedLine] = {}
    for hunk in parse_patch(patch):
        for block in hunk.blocks():
            found |= _touched(block, side)
    return found


class _Token(NamedTuple):
    """A token of a block: the number of its line on its side, its index in the line, and its text."""

    line: int
    at: int
    text: str

    @property
    def is_sign(self) -> bool:
        return self.text in _SIGNS


def _touched(block: Sequence[DiffLine], side: Side) -> dict[int, TouchedLine]:
    olds, news = (
        [
            _Token(number, at, text)
            for line in block
            if (number := line.number(each)) is not None
            for at, text in enumerate(_tokens(line.text))
        ]
        for each in (Side.OLD, Side.NEW)
    )
    mine, others = (olds, news) if side is Side.OLD else (news, olds)
    words, other = ({token.text for token in tokens if not token.is_sign} for tokens in (mine, others))
    whole = frozenset(other), frozenset(other - words)
    lines = {
        n: TouchedLine(_tokens(line.text), other=whole[0], only_other=whole[1])
        for line in block
        if (n := line.number(side)) is not None
    }
    operations = [("replace", 0, len(olds), 0, len(news))]
    if max(len(olds), len(news)) <= _MOST:
        texts_of = [token.text for token in olds], [token.text for token in news]
        operations = list(SequenceMatcher(None, *texts_of, autojunk=False).get_opcodes())
    for tag, a, b, c, d in operations:
        if tag == "equal":
            continue
        (first, last), (begin, end) = ((a, b), (c, d)) if side is Side.OLD else ((c, d), (a, b))
        for token in mine[first:last]:
            if not token.is_sign:
                lines[token.line].changed.add(token.at)
        count = sum(not token.is_sign for token in others[begin:end])
        if first == last and count and not _whole_lines(others, begin, end):
            for nth, token in enumerate(_neighbours(mine, first)):
                lines[token.line].beside.add(token.at)
                lines[token.line].inserted += 0 if nth else count
                lines[token.line].listed |= others[begin].text == ","
    for token in _regrouped(mine, others):
        lines[token.line].changed.add(token.at)
    return lines


def _regrouped(mine: Sequence[_Token], others: Sequence[_Token]) -> list[_Token]:
    """The words of a condition that brackets alone put together in another way."""
    one, other = _depths(mine), _depths(others)
    same = [token.text for token, _ in one] == [token.text for token, _ in other]
    if not same or _LOGIC.isdisjoint(token.text for token in mine):
        return []
    moved = [at for at, ((_, depth), (_, there)) in enumerate(zip(one, other, strict=True)) if depth != there]
    whole = (
        moved and moved == [*range(moved[0], len(one))] and (not moved[0] or one[moved[0] - 1][0].text not in _LOGIC)
    )
    return [] if whole else [one[at][0] for at in moved]  # brackets around the whole condition group nothing


def _depths(tokens: Sequence[_Token]) -> list[tuple[_Token, int]]:
    """Each word and how many brackets are open around it."""
    depth, found = 0, list[tuple[_Token, int]]()
    for token in tokens:
        depth += (token.text in "([{") - (token.text in ")]}")
        if not token.is_sign:
            found.append((token, depth))
    return found


def _whole_lines(tokens: Sequence[_Token], first: int, last: int) -> bool:
    """Whether a run of tokens fills its lines: then it is between the lines of the other side, and touches none.

    Signs at its ends do not count: a new last entry of a list puts a comma behind the one before.
    """
    run = [token for token in tokens[first:last] if not token.is_sign]
    before = next((token.line for token in reversed(tokens[:first]) if not token.is_sign), None)
    after = next((token.line for token in tokens[last:] if not token.is_sign), None)
    return before != run[0].line and after != run[-1].line


def _neighbours(tokens: Sequence[_Token], at: int) -> Iterator[_Token]:
    """The nearest words before and after a place between tokens."""
    for way in (reversed(tokens[:at]), tokens[at:]):
        yield from islice((token for token in way if not token.is_sign), 1)


def _tokens(text: str) -> tuple[str, ...]:
    """The words and signs of a line; a sign inside of a string literal has a quote before it, and counts as a word."""
    found: list[str] = []
    quote = ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if quote and token == quote:
            quote = ""
        elif quote:
            token = f"'{token[-1]}" if token in _SIGNS else token  # an escaped quote is a quote
        elif token in _QUOTES and token in text[match.end() :]:
            quote = token
        found.append(token)
    return tuple(found)
