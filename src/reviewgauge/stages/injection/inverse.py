"""The inverse of a fix in today's code: a three-way merge puts back what the fix took out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.folders import scratch_folder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.syntax.functions import code_lines
from reviewgauge.repo.syntax.languages import trivial
from reviewgauge.repo.syntax.tree import SyntaxTree, parse
from reviewgauge.stages.injection.past_fixes import PastFix

_GAP = 10  # lines between two edits that are still one place
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Inverse:
    """A file with a fix, and without. `sound_lines` and `lines` are the first and last line of the place in each.

    `put` are the numbers of the lines that came in, but for those that say nothing.
    """

    sound: bytes
    defective: bytes
    lines: tuple[int, int]
    sound_lines: tuple[int, int]
    put: frozenset[int]


def take_back(repository: Repository, fix: PastFix, path: str, sound: bytes) -> Inverse | str:
    """The file at `path`, which is `sound` now, without the fix, or why that cannot be. Raises UserError."""
    with_fix, without = (repository.blob(commit, fix.path) or b"" for commit in (fix.commit, fix.before))
    merged = _merged(repository, sound, with_fix, without)
    if merged is None:
        return "its lines were changed since"
    edits = list(_edits(sound, merged))
    if not edits:
        return "its lines are not there any more"
    if any(later[0] - earlier[1] > _GAP for earlier, later in pairwise(edits)):
        return "is in several places"
    trees = [parse(text, path) for text in (sound, merged)]
    for tree in trees:
        if isinstance(tree, str):
            return tree
    first, last = edits[0], edits[-1]
    lines, sound_lines = _numbers(first[2], last[3], merged), _numbers(first[0], last[1], sound)
    if why := _unsound([tree for tree in trees if isinstance(tree, SyntaxTree)], with_fix, without):
        return why
    text = merged.decode("utf-8", "replace").split("\n")
    put = {at + 1 for edit in edits for at in range(edit[2], edit[3]) if not trivial(text[at])}
    return Inverse(sound, merged, lines, sound_lines, frozenset(put))


def _merged(repository: Repository, ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
    """`ours` with what leads from `base` to `theirs`; None where both changed the same lines."""
    with scratch_folder() as top:
        paths = []
        for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
            (top / name).write_bytes(text)
            paths.append(str(top / name))
        try:
            return repository.run("merge-file", "-p", "--quiet", *paths)
        except UserError:  # git ends with the number of conflicts
            return None


Edit = tuple[int, int, int, int]


def _edits(before: bytes, after: bytes) -> Iterator[Edit]:
    """The lines that differ: first and last (from 0, the last not among them) in `before`, and those in `after`."""
    old, new = before.split(b"\n"), after.split(b"\n")
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield a + start, b + start, c + start, d + start


def _numbers(first: int, last: int, text: bytes) -> tuple[int, int]:
    """Lines from 0, without the last, as numbers from 1; the lines around a place where there are none."""
    if first < last:
        return first + 1, last
    return max(1, first), max(1, min(first + 1, len(text.splitlines())))


def _unsound(trees: Sequence[SyntaxTree], with_fix: bytes, without: bytes) -> str:
    """Why the code without the fix is not what it was: later code builds on the fix, or what it needs is gone."""
    if len({_running(tree) for tree in trees}) == 1:
        return "changes nothing that runs"
    sound, defective = (Counter(_names(tree)) for tree in trees)
    brought = {*_WORD.findall(with_fix.decode("utf-8", "replace"))} - {
        *_WORD.findall(without.decode("utf-8", "replace"))
    }
    if any(name in brought for name in defective):
        return "later code builds on it"
    if any(name not in sound and count == 1 for name, count in defective.items()):
        return "names what is not there any more"
    return ""


def _running(tree: SyntaxTree) -> bytes:
    """The code without blanks, comments and annotations of types."""
    kinds = code_lines(tree.source, tree.path)
    code = kinds.code
    for start, end in kinds.types:
        code = code[:start] + b" " * (end - start) + code[end:]
    return b"".join(code.split())


def _names(tree: SyntaxTree) -> Iterator[str]:
    """The names that code uses; not those in texts and comments."""
    return (node.text for node in tree.root.walk() if "identifier" in node.kind and not node.children)
