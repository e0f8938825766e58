"""Drop changes in which nothing that runs changes: layout, comments, renames, version numbers, documentation.

Source: AACR-Bench (arXiv:2601.19494, B.1) excludes "trivial changes that were detached from the project's
business context or lacked actual semantic meaning"; people decided there, and its Table 5 has 12 pull requests of
documentation and comments and 8 of code style: so they are not trivial (`words=False`). This is the part of it that
syntax can decide. By default more is trivial: nothing to find a defect in, which is this project's own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change, ChangedFile, FileStatus
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.syntax.functions import code_lines
from reviewgauge.repo.syntax.languages import is_documentation, language
from reviewgauge.repo.syntax.lines import LineKinds

Blob = bytes | None


@dataclass(frozen=True)
class DropTrivial(Stage):
    """Drop where every file is trivial; files of prose and pictures are.

    With `words=False` only what nobody reads is: blank lines and blanks at the end of lines, renames, modes, version
    numbers, empty files. What changes a comment, a file of documentation or the layout of a line then stays.

    Whole files are compared where the code is at hand, else the lines that the patch shows. A layout that changes what
    runs (indentation in Python) is not layout. What cannot be read (binary files, no patch) is not trivial.
    """

    costly: ClassVar[bool] = True
    words: bool = True

    @override
    def keep(self, case: Case) -> Case | str:
        change = case.change
        if not change.files:
            return "no changed files at hand"
        old, new = _blobs(change)
        found: Counter[str] = Counter()
        for file in change.files:
            sides = (old.get(file.old_path or file.path), new.get(file.path)) if new or old else (None, None)
            kind = triviality(file, *sides, words=self.words)
            if not kind:
                return case
            found[kind] += 1
        return f"only {next(iter(found))} change" if len(found) == 1 else "nothing that runs changes"


def _blobs(change: Change) -> tuple[dict[str, Blob], dict[str, Blob]]:
    """The changed files before and after; a file that is not there is empty. Nothing without both commits."""
    if change.git is None or change.base is None or change.head is None:
        return {}, {}
    repository = Repository(Path(change.git))
    if not repository.exists(change.base) or not repository.exists(change.head):
        return {}, {}
    before = [f.old_path or f.path for f in change.files if f.status is not FileStatus.ADDED]
    after = [f.path for f in change.files if f.status is not FileStatus.DELETED]
    old: dict[str, Blob] = {f.path: b"" for f in change.files if f.status is FileStatus.ADDED}
    new: dict[str, Blob] = {f.path: b"" for f in change.files if f.status is FileStatus.DELETED}
    return old | repository.blobs(change.base, before), new | repository.blobs(change.head, after)


BY_INDENTATION = frozenset({"Python", "Cython", "Haskell", "F#", "Starlark", "Nix"})  # white space decides what runs
_NUMBER = re.compile(r"\bv?\d+(?:\.\d+)+(?:[-+.]?[0-9A-Za-z]+)*|\b\d+\b")
_VERSION = re.compile(r"version|release", re.IGNORECASE)
_MANIFEST = re.compile(
    r"(.*/)?((package(-lock)?|composer|bower)\.json|pyproject\.toml|setup\.(cfg|py)|.*requirements.*\.(txt|in)"
    r"|constraints.*\.txt|cargo\.(toml|lock)|go\.(mod|sum)|pom\.xml|.*\.(csproj|gemspec|lock)|build\.gradle(\.kts)?"
    r"|libs\.versions\.toml|gemfile|pipfile|environment\.ya?ml|version(\.txt)?|\.pre-commit-config\.yaml)",
    re.IGNORECASE,
)
_TABS = 8  # columns, as Python counts them


def triviality(file: ChangedFile, before: bytes | None, after: bytes | None, *, words: bool = True) -> str:
    """In a word why nothing that runs changed in a file; empty where something did, or where that cannot be seen.

    `before` and `after` are the whole file, empty where there is none; both None: only the patch is at hand, and the
    lines that it shows are read. Without `words`, comments, documentation and style are not trivial: what is left is
    blank lines and blanks at the end of lines, and what has no lines to read.
    """
    if file.binary or file.patch is None or file.status is FileStatus.TYPE_CHANGED:
        return ""
    if not file.patch:
        moved = file.status in (FileStatus.RENAMED, FileStatus.COPIED, FileStatus.MODIFIED)  # or its mode changed
        return "renames" if moved else "empty files"
    documentation = is_documentation(file.path)
    if documentation and words:
        return "documentation"
    hunks = parse_patch(file.patch)
    if not documentation and _only_versions(file, hunks):
        return "versions"
    if not documentation and not language(file.path):
        return ""
    pairs = [(_shown(hunk, " -"), _shown(hunk, " +")) for hunk in hunks]
    if before is not None and after is not None:
        pairs = [(before, after)]
    if not words and any(_lines(old) != _lines(new) for old, new in pairs):
        return ""
    old_path = file.old_path or file.path
    if not documentation and any(_says(old, old_path) != _says(new, file.path) for old, new in pairs):
        return ""
    return "comments and format" if words else "white space"


def _lines(source: bytes) -> list[bytes]:
    """The lines that are not blank, without blanks at their ends."""
    return [line for line in (one.rstrip() for one in source.split(b"\n")) if line]


def _only_versions(file: ChangedFile, hunks: Sequence[Hunk]) -> bool:
    manifest = _MANIFEST.fullmatch(file.path) is not None
    for hunk in hunks:
        old = [line.text for line in hunk.lines if line.kind == "-"]
        new = [line.text for line in hunk.lines if line.kind == "+"]
        if not old or len(old) != len(new):
            return False
        for before, after in zip(old, new, strict=True):
            if not (manifest or _VERSION.search(before)):
                return False
            if before == after or _NUMBER.sub("0", before) != _NUMBER.sub("0", after):
                return False
    return bool(hunks)


def _shown(hunk: Hunk, kinds: str) -> bytes:
    return "\n".join(line.text for line in hunk.lines if line.kind in kinds).encode("utf-8", "surrogatepass")


def _says(source: bytes, path: str) -> tuple[object, ...]:
    """What a file says to the machine: the same for another layout, other comments and trailing commas."""
    lines = code_lines(source, path)
    strings = tuple(lines.code[a:b].replace(b"\r\n", b"\n") for a, b in lines.literals)  # with their line breaks
    if language(path) not in BY_INDENTATION:
        return strings, lines.text(1, len(lines.kinds))
    return strings, *_logical_lines(lines)


def _logical_lines(lines: LineKinds) -> Iterator[tuple[int, str]]:
    """(depth, text) of each statement's line: brackets join lines, and columns count as depths."""
    columns: list[int] = []
    number = 1
    while number <= len(lines.kinds):
        if lines.kind(number) != "code":
            number += 1
            continue
        last = _end(lines, number)
        column = _column(lines, number)
        while columns and columns[-1] > column:
            columns.pop()
        if not columns or columns[-1] < column:
            columns.append(column)
        yield len(columns), lines.text(number, last)
        number = last + 1


def _end(lines: LineKinds, first: int) -> int:
    """The last line of the statement that begins on line `first`."""
    depth, number = 0, first
    while True:
        for token in lines.tokens(number):
            depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        if depth <= 0 or number >= len(lines.kinds):
            return number
        number += 1


def _column(lines: LineKinds, number: int) -> int:
    begin = lines.starts[number - 1]
    end = lines.starts[number] if number < len(lines.starts) else len(lines.code)
    text = lines.code[begin:end].decode("utf-8", "replace").expandtabs(_TABS)
    return len(text) - len(text.lstrip(" "))
