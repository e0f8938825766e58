"""What a change does, in sentences, by its patches alone: no model, no repository.

Source: ours, in the place of the claims that CRScore (arXiv:2409.19801) has a model write. What a hunk shows before and
after is parsed; what no grammar reads is told line by line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from reviewgauge.claims.by_line import MOST_BY_LINE, line_statements
from reviewgauge.claims.by_syntax import syntax_statements
from reviewgauge.claims.sides import Pair
from reviewgauge.claims.wording import Statement
from reviewgauge.core.records import Change, ChangedFile, Claim, FileStatus
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.repo.syntax.facts import has_grammar
from reviewgauge.repo.syntax.languages import language
from reviewgauge.repo.syntax.product import not_product

MOST = 40  # claims of a change
MOST_HUNKS = 200  # of a change that are looked at
MOST_LINES_OF_ALL = 20_000  # lines of a change that are looked at
SOURCE = "syntax"
SENTENCES = "2"  # counted up when the claims of some change become others
_WHOLE = (FileStatus.ADDED, FileStatus.DELETED)
_ASIDE = 25  # how much less telling tests and documentation are beside the code itself
_PATIENCE = 2  # hunks of a file that the parser may give up on; each can take its whole time


def change_claims(change: Change) -> tuple[Claim, ...]:
    """The claims of a change, the most telling first, at most MOST; none without a patch. The ids count from 1.

    With a `focus` only hunks in it are told. A claim's line is that of the new version.
    """
    found: list[tuple[ChangedFile, Statement]] = []
    for file, hunks in _files(change):
        found += [(file, statement) for statement in _file_statements(file, hunks)]
    paths = {file.path for file, _ in found}
    several = len(paths) > 1
    aside = {path for path in paths if not_product(path)}
    later = _ASIDE if aside != paths else 0

    def order(pair: tuple[ChangedFile, Statement]) -> int:  # stable: the order of the change within one rank
        return pair[1].rank + later * (pair[0].path in aside)

    found.sort(key=order)
    seen: dict[str, Claim] = {}
    for file, statement in found:
        body = f"{file.path}: {statement.text}" if several else statement.text
        if body not in seen and len(seen) < MOST:
            line = statement.line or None
            seen[body] = Claim(id=str(len(seen) + 1), body=body, kind="claim", source=SOURCE, line=line)
    return tuple(seen.values())


def _files(change: Change) -> Iterator[tuple[ChangedFile, Sequence[Hunk]]]:
    left, lines = MOST_HUNKS, MOST_LINES_OF_ALL
    for file in change.files:
        hunks: list[Hunk] = []
        for hunk in parse_patch(file.patch or ""):
            if left > 0 and lines > 0 and _in_focus(change, file, hunk):
                hunks.append(hunk)
                left, lines = left - 1, lines - len(hunk.lines)
        if hunks or (change.focus is None and (_moved(file) or file.status in _WHOLE)):
            yield file, hunks


def _in_focus(change: Change, file: ChangedFile, hunk: Hunk) -> bool:
    focus = change.focus
    if focus is None:
        return True
    return focus.path in (file.path, file.old_path) and (focus.start is None or hunk.covers(focus))


def _moved(file: ChangedFile) -> bool:
    return file.old_path not in (None, file.path)


def _file_statements(file: ChangedFile, hunks: Sequence[Hunk]) -> Iterator[Statement]:
    yield from _about_file(file)
    reads = has_grammar(file.path)
    gave_up = 0
    for hunk in hunks:
        pair = Pair.of(hunk)
        told = None
        if reads and gave_up < _PATIENCE:
            told = syntax_statements(pair, file.path, file.old_path or file.path)
            gave_up += told is None
        if told is None:
            told = list(islice(line_statements(pair, code=bool(language(file.path))), MOST_BY_LINE))
        yield from told


def _about_file(file: ChangedFile) -> Iterator[Statement]:
    if file.status is FileStatus.ADDED:
        yield Statement(35, 1, f"The file `{file.path}` is added.")
    elif file.status is FileStatus.DELETED:
        yield Statement(5, 1, f"The file `{file.path}` is removed.")
    elif _moved(file) and file.status is FileStatus.COPIED:
        yield Statement(35, 1, f"The file `{file.path}` is a copy of `{file.old_path}`.")
    elif _moved(file):
        yield Statement(35, 1, f"The file `{file.old_path}` is renamed to `{file.path}`.")
