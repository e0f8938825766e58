"""How often the fixes of a history undid what each operator puts in: so often the operator is drawn.

A fix undid such a fault when the operator, on the code after the fix, makes of one of its edits what had been there
before, but for blanks and comments, or changes there just the words that the fix had put in.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from reviewgauge.core.building import BuildContext
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Side
from reviewgauge.core.specs import short_spec
from reviewgauge.operators.code.operator import Code, Operator, Plant, applied
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.syntax.languages import trivial
from reviewgauge.repo.syntax.lines import line_starts
from reviewgauge.repo.syntax.tree import parse
from reviewgauge.stages.history.memory import code_fingerprint
from reviewgauge.stages.injection.past_fixes import PastFix

_MOST_FIXES = 500  # the newest ones
_WORD = re.compile(r"\w+|[^\w\s]")


def count_undone(
    repository: Repository, fixes: Sequence[PastFix], operators: Sequence[Operator], context: BuildContext
) -> Counter[str]:
    """The number of fixes that undid a fault of each operator, of the newest ones."""
    found: Counter[str] = Counter()
    code = "".join(code_fingerprint(f"reviewgauge.{package}") for package in ("operators", "repo", "stages.injection"))
    names = [short_spec(operator) for operator in operators]
    newest = fixes[-_MOST_FIXES:]
    for done, fix in enumerate(newest):
        context.progress("looking what fixes undid", done, len(newest))
        key = ("undone", code, *names, fix.commit)
        known = context.recall(key)
        if known is None:
            known = json.dumps(_undone_by(repository, fix, operators)).encode()
            context.remember(key, known)
        found.update(json.loads(known))
    return found


class _Edit(NamedTuple):
    """An edit of a fix: the bytes that it left, and what had been there before."""

    start: int
    end: int
    before: str


def _undone_by(repository: Repository, fix: PastFix, operators: Sequence[Operator]) -> list[str]:
    """The operators whose fault a fix undid."""
    try:
        source = repository.blob(fix.commit, fix.path) or b""
    except UserError:
        return []
    tree = parse(source, fix.path)
    if isinstance(tree, str):
        return []
    edits = list(_edits(fix.patch, source))
    added = (line for hunk in parse_patch(fix.patch) for line in hunk.lines if line.kind == "+")
    code = Code(tree, frozenset(line.new for line in added if line.new is not None))
    return [
        short_spec(operator)
        for operator in operators
        if tree.grammar in operator.languages
        and any(_turns_back(plant, source, edits) for plant in operator.plants(code))
    ]


def _edits(patch: str, source: bytes) -> Iterator[_Edit]:
    starts = [*line_starts(source), len(source)]
    for hunk in parse_patch(patch):
        for block in hunk.blocks():
            numbers = [number for line in block if (number := line.number(Side.NEW)) is not None]
            if numbers and numbers[-1] < len(starts):
                before = "\n".join(line.text for line in block if line.kind == "-")
                yield _Edit(starts[numbers[0] - 1], starts[numbers[-1]], before)


def _turns_back(plant: Plant, source: bytes, edits: Sequence[_Edit]) -> bool:
    """Whether a plant makes of what a fix left what had been there, or changes the very words that the fix put there.

    An operator that takes a wrong name does not know which one it was.
    """
    own = [[edit for edit in edits if edit.start <= one.start and one.end <= edit.end][:1] for one in plant.edits]
    return all(own) and all(_is_undone(plant, source, edit) for edit in edits if [edit] in own)


def _is_undone(plant: Plant, source: bytes, edit: _Edit) -> bool:
    inside = [one for one in plant.edits if edit.start <= one.start and one.end <= edit.end]
    moved = [one._replace(start=one.start - edit.start, end=one.end - edit.start) for one in inside]
    fixed = source[edit.start : edit.end]
    now, after, before = (_words(text) for text in (fixed, applied(fixed, moved), edit.before.encode()))
    if after == before:
        return True
    planted = _runs(now, after)
    return bool(planted) and planted <= _runs(now, before)


def _words(text: bytes) -> list[str]:
    """The words and signs of some lines of code, but for those of comments."""
    lines = text.decode("utf-8", "replace").split("\n")
    return [word for line in lines if trivial(line) != "a comment" for word in _WORD.findall(line)]


def _runs(words: Sequence[str], others: Sequence[str]) -> set[tuple[int, int]]:
    """The runs of words that other code has not, each from the first to before the last."""
    found = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    return {(start, end) for tag, start, end, _, _ in found if tag != "equal" and start < end}
