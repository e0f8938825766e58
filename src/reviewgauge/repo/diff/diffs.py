"""Reads unified diffs: a whole `git diff` into changed files, one file's patch into hunks with numbered lines.

The counts in a hunk's header say where the hunk ends, so content that looks like a header (a deleted line that
began with `-- `) cannot fool the reader. Lines end at a newline only: carriage returns, form feeds and the Unicode
line separators are content. Nothing here raises on a damaged diff; what is readable of it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby, islice
from typing import Literal

from pydantic import ValidationError

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.records import Change, ChangedFile, FileStatus, Side, Span
from reviewgauge.repo.paths import decode_path, unquote

Kind = Literal[" ", "+", "-"]
_HEADER = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)", re.DOTALL)
_PREFIXES = {("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"), ("1/", "2/")}
_SIZES = (("XS", 10), ("S", 30), ("M", 100), ("L", 500), ("XL", 1000))
LARGEST_PATCH = 5_000_000  # bytes of one file's diff in a repository; a larger one is left out
MOST_OF_PATCHES = 10 * LARGEST_PATCH  # of the diffs of one change; those that come after are left out
_TYPE_BITS = 3  # the first digits of a mode say file (100), link (120) or submodule (160)


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a hunk, with its 1-based number in the old and the new file. `text` has no marker, no newline.

    `newline` is False for a last line that does not end with one.
    """

    kind: Kind
    old: int | None
    new: int | None
    text: str
    newline: bool = True

    def number(self, side: Side) -> int | None:
        """Its number on one side; None where it is not there."""
        return self.new if side is Side.NEW else self.old


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk. A count of 0 goes with the number of the line *before* the place, as git prints it."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: str
    lines: tuple[DiffLine, ...]

    @property
    def header(self) -> str:
        """Its first line, without the heading."""
        return f"@@ -{self.old_start},{self.old_count} +{self.new_start},{self.new_count} @@"

    def place(self, side: Side) -> tuple[int, int]:
        """Its (start, count) on one side, as git prints them."""
        return (self.new_start, self.new_count) if side is Side.NEW else (self.old_start, self.old_count)

    def numbers(self, side: Side, *, changed: bool = False) -> list[int]:
        """The numbers of its lines, or of its added and deleted ones alone, on one side."""
        lines = (line for line in self.lines if line.kind != " " or not changed)
        return [number for line in lines if (number := line.number(side)) is not None]

    def blocks(self) -> Iterator[list[DiffLine]]:
        """Its runs of added and deleted lines."""
        runs = groupby(self.lines, key=lambda line: line.kind != " ")
        return (list(lines) for is_changed, lines in runs if is_changed)

    def covers(self, span: Span) -> bool:
        """Whether one of its lines is among those of `span`, whatever the file."""
        if span.start is None or span.end is None:
            return False
        return any(span.start <= number <= span.end for number in self.numbers(span.side))

    def span(self, path: str) -> Span:
        """All its lines: those after the change, or those before it where none are left."""
        side = Side.NEW if self.numbers(Side.NEW) else Side.OLD
        numbers = self.numbers(side) or [0]
        return Span(path=path, start=numbers[0], end=numbers[-1], side=side) if numbers[0] else Span(path=path)


def normal(text: str) -> str:
    """The text of a line without white space: what stays when it is only moved or indented."""
    return "".join(text.split())


@lru_cache(maxsize=256)
def parse_patch(patch: str) -> tuple[Hunk, ...]:
    """The hunks of one file's patch. A hunk that is cut short (GitHub's `diff_hunk`) keeps the lines it has."""
    hunks: list[Hunk] = []
    lines = _lines(patch)
    at = 0
    while at < len(lines):
        header = _HEADER.match(lines[at])
        at += 1
        if header is not None:
            hunk, at = _read_hunk(header, lines, at)
            hunks.append(hunk)
    return tuple(hunks)


def _lines(text: str) -> list[str]:
    """Its lines; a newline at its end begins no other one."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _read_hunk(header: re.Match[str], lines: list[str], at: int) -> tuple[Hunk, int]:
    old_start, old_count, new_start, new_count = (1 if text is None else int(text) for text in header.groups()[:4])
    old, new, old_end, new_end = old_start, new_start, old_start + old_count, new_start + new_count
    found: list[DiffLine] = []
    while at < len(lines) and (old < old_end or new < new_end):
        line = lines[at]
        mark = line[:1]
        if mark == "+":
            found.append(DiffLine("+", None, new, line[1:]))
            new += 1
        elif mark == "-":
            found.append(DiffLine("-", old, None, line[1:]))
            old += 1
        elif mark in (" ", "") or line == "\r":  # editors and mail strip the blank of an empty context line
            found.append(DiffLine(" ", old, new, line[1:] if mark == " " else line))
            old, new = old + 1, new + 1
        elif mark == "\\":  # "\ No newline at end of file" is about the line before
            _no_newline(found)
        else:
            break
        at += 1
    if at < len(lines) and lines[at].startswith("\\"):
        _no_newline(found)
        at += 1
    return Hunk(old_start, old_count, new_start, new_count, header[5].rstrip("\r"), tuple(found)), at


def _no_newline(lines: list[DiffLine]) -> None:
    if lines:
        lines[-1] = replace(lines[-1], newline=False)


def hunk_count(change: Change) -> int | None:
    """The number of hunks in the patches of `change`; None without a diff."""
    if not change.has_diff:
        return None
    return sum(len(parse_patch(file.patch)) for file in change.files if file.patch is not None)


def changed_lines(file: ChangedFile, side: Side) -> frozenset[int]:
    """The numbers of the lines that were added (side new) or deleted (side old); empty without a patch."""
    return _changed_lines(file.patch, side) if file.patch is not None else frozenset()


def count_changed(files: Iterable[ChangedFile]) -> int:
    """The number of added and deleted lines."""
    return sum(len(changed_lines(file, side)) for file in files for side in Side)


def size_of(count: int) -> str:
    """XS below 10 changed lines, S below 30, M below 100, L below 500, XL below 1000, then XXL.

    Source: AACR-Bench (arXiv:2601.19494), Table 6.
    """
    return next((name for name, below in _SIZES if count < below), "XXL")


@lru_cache(maxsize=256)
def _changed_lines(patch: str, side: Side) -> frozenset[int]:
    return frozenset(number for hunk in parse_patch(patch) for number in hunk.numbers(side, changed=True))


def line_runs(lines: Iterable[int], gap: int = 1) -> list[tuple[int, int]]:
    """Line numbers as (first, last) runs; neighbours at most `gap` apart are in one run."""
    found: list[tuple[int, int]] = []
    for line in sorted(set(lines)):
        if found and line - found[-1][1] <= gap:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
    return found


# --- whole diffs ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Section:
    """The file that is being read."""

    old: str | None = None
    new: str | None = None
    modes: dict[str, str] = field(default_factory=dict)
    renamed: bool = False
    copied: bool = False
    binary: bool = False
    patch: list[str] = field(default_factory=list)

    def status(self) -> FileStatus:
        if "new file" in self.modes or self.old is None:
            return FileStatus.ADDED
        if "deleted file" in self.modes or self.new is None:
            return FileStatus.DELETED
        if self.renamed or self.copied:
            return FileStatus.RENAMED if self.renamed else FileStatus.COPIED
        before, after = self.modes.get("old", ""), self.modes.get("new", "")
        if before[:_TYPE_BITS] != after[:_TYPE_BITS]:
            return FileStatus.TYPE_CHANGED
        return FileStatus.MODIFIED if self.old == self.new else FileStatus.RENAMED

    def file(self) -> ChangedFile | None:
        status = self.status()
        path = self.old if status is FileStatus.DELETED else self.new
        if path is None:
            return None
        moved = status in (FileStatus.RENAMED, FileStatus.COPIED)
        try:
            return ChangedFile(
                path=path,
                old_path=self.old if moved else None,
                status=status,
                patch=None if self.binary and not self.patch else "\n".join(self.patch),
                binary=self.binary,
            )
        except ValidationError as error:
            where, problem = first_problem(error)
            raise BadInput("diff", problem, record=path, field=where) from None


def split_diff(diff: str) -> tuple[ChangedFile, ...]:
    """The changed files of a whole diff (`git diff`, `git format-patch`, `diff -u`), in its order, each path once.

    A file whose type changed (a file became a link) is printed by git as a deletion and an addition: one file here.
    Raises BadInput for a path over 4,096 characters.
    """
    files: dict[str, list[ChangedFile]] = {}
    for file in _files(_lines(diff.replace("\x00", "\ufffd"))):
        files.setdefault(file.path, []).append(file)
    return tuple(_join(sections) for sections in files.values())


def read_files(
    blocks: Iterable[bytes], name: str, largest: int = LARGEST_PATCH, room: int = MOST_OF_PATCHES
) -> tuple[ChangedFile, ...]:
    """The changed files of what `git diff-tree -p` prints, cut as it comes: one file's diff is held at a time.

    The patch of a diff of over `largest` bytes is None, and so are those that do not fit into the `room` of all. Raises
    UserError, with the `name` of the change, for a path that no record can hold.
    """
    files: dict[str, list[ChangedFile]] = {}
    for diff in islice(_split(blocks), 1, None):
        head, mark, body = diff.partition(b"\n@@")
        fits = len(diff) <= min(largest, room)
        room -= len(diff) if fits else 0
        try:
            for file in _files(f"diff --{head.decode('utf-8', 'replace')}".split("\n")):
                text = f"@@{body.decode('utf-8', 'replace')}".removesuffix("\n").replace("\x00", "\ufffd")
                patch = None if not fits else text if mark else file.patch
                files.setdefault(file.path, []).append(file.model_copy(update={"patch": patch}))
        except BadInput as error:
            raise UserError(f"{name} has a file whose path is not a path: {str(error.record)[:500]}") from None
    return tuple(_join(sections) for sections in files.values())


def _split(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """What is before the first `diff --` that begins a line, and what follows each: no line of a hunk begins so."""
    text = b"\n"
    for block in blocks:
        *whole, text = (text + block).split(b"\ndiff --")
        yield from whole
    yield text


def _join(sections: Sequence[ChangedFile]) -> ChangedFile:
    if len(sections) == 1:
        return sections[0]
    patches = [file.patch for file in sections if file.patch]
    retyped = {file.status for file in sections} == {FileStatus.DELETED, FileStatus.ADDED}
    binary = any(file.binary for file in sections)
    lost = (binary and not patches) or any(file.patch is None and not file.binary for file in sections)
    return sections[0].model_copy(
        update={
            "status": FileStatus.TYPE_CHANGED if retyped else sections[0].status,
            "patch": None if lost else "\n".join(patches),
            "binary": binary,
        }
    )


def _files(lines: list[str]) -> Iterator[ChangedFile]:
    section: _Section | None = None
    at = 0
    while at < len(lines):
        line = lines[at]
        plain = line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
        if line.startswith("diff --git ") or (plain and (section is None or section.patch)):
            if section is not None and (file := section.file()) is not None:
                yield file
            section = _Section()
        if section is None:
            at += 1
        elif plain:
            _set_names(section, _name(line[4:]), _name(lines[at + 1][4:]))
            at += 2
        elif (header := _HEADER.match(line)) is not None:
            _, end = _read_hunk(header, lines, at + 1)
            section.patch += lines[at:end]
            at = end
        else:
            _read_header(section, line.rstrip("\r"))
            at += 1
    if section is not None and (file := section.file()) is not None:
        yield file


def _read_header(section: _Section, line: str) -> None:
    if line.startswith("diff --git "):
        section.old = section.new = _same_name(line[11:])
    elif line.startswith(("rename ", "copy ")):
        word, _, rest = line.partition(" ")
        which, _, name = rest.partition(" ")
        section.renamed, section.copied = word == "rename", word == "copy"
        if which == "from":
            section.old = decode_path(unquote(name)) or None
        elif which == "to":
            section.new = decode_path(unquote(name)) or None
    elif line.startswith(("old mode ", "new mode ", "deleted file mode ", "new file mode ")):
        what, _, mode = line.partition(" mode ")
        section.modes[what] = mode
    elif line.startswith("Binary files ") or line == "GIT binary patch":
        section.binary = True


def _set_names(section: _Section, old: bytes | None, new: bytes | None) -> None:
    if old is not None and new is not None:
        marked = (old[:2].decode("latin-1"), new[:2].decode("latin-1")) in _PREFIXES
    else:
        only = old if old is not None else new
        marked = only is not None and only[:2] in (b"a/", b"b/", b"i/", b"w/", b"c/", b"o/", b"1/", b"2/")
    cut = 2 if marked else 0
    section.old = None if old is None else decode_path(old[cut:])
    section.new = None if new is None else decode_path(new[cut:])


def _name(text: str) -> bytes | None:
    text = text.rstrip("\r")
    quoted = text.startswith('"')
    raw = unquote(text.rstrip("\t") if quoted else text.partition("\t")[0])  # a tab (and a time) follow the name
    return None if raw == b"/dev/null" or not raw else raw


def _same_name(text: str) -> str | None:
    """The path of `diff --git a/PATH b/PATH`: the split at which both halves name the same file."""
    at = -1
    while (at := text.find(" ", at + 1)) >= 0:
        if 2 * at + 1 != len(text):  # both halves are equally long, also when both are quoted
            continue
        left, right = unquote(text[:at]), unquote(text[at + 1 :])
        if left == right:
            return decode_path(left) or None
        if left[2:] == right[2:] and len(left) > 2:
            return decode_path(left[2:])
    return None
