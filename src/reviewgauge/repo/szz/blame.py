"""Git at work for SZZ: commits and blobs by name, what a commit changed, which commit last touched a line.

Two long-lived processes (`cat-file --batch`, `diff-tree --stdin`) answer in a fraction of what starting one costs;
blame is one process for each file. Diffs are read as bytes and without context lines.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from types import TracebackType
from typing import IO, Self

from reviewgauge.core.errors import UserError
from reviewgauge.repo.diff.diffs import line_runs
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import Commit, read_object
from reviewgauge.repo.paths import decode_path, encode_path, unquote
from reviewgauge.repo.processes import Child, ChildEnded, RecentlyUsed

_LARGEST_DIFF = 64_000_000  # bytes of one commit's diff; beyond it the commit is not looked into
_COMMITS, _CONTENTS, _DIFFS = 2_000, 8_000_000, 4_000_000  # commits, bytes of files and diffs, kept for the next line
_MOST_RANGES = 400  # of lines in one blame; beyond it, everything between the first and the last is asked for
_RAW = ("--stdin", "-r", "--raw", "-z", "-p", "-U0", "-M50%", "-l1000", "--full-index", "--diff-algorithm=myers")
_PLAIN = ("--indent-heuristic", "--inter-hunk-context=0", "--ignore-submodules=none", "--submodule=short")
_BLAME = {"diff.algorithm": "myers", "diff.indentHeuristic": "true", "diff.renames": "true", "blame.showRoot": "false"}
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ENTRY = re.compile(
    rb":(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) (?:([RC])\d*\x00([^\x00]+)\x00([^\x00]+)|([A-Z])\d*\x00([^\x00]+))\x00"
)
SUBMODULE, LINK = "160000", "120000"


class Missing(UserError):
    """An object that is asked for is not here (a partial or damaged repository), or takes too long to read."""


@dataclass(frozen=True, slots=True)
class Blamed:
    """One line and the commit that wrote it so: `line` in the file that was asked about, `origin` in `path` then.

    `previous` is the path in that commit's parent, None where the commit brought the file.
    """

    line: int
    commit: str
    path: str
    origin: int
    previous: str | None


@dataclass(frozen=True, slots=True)
class RawEntry:
    """One changed file: git's status letter, modes, objects and paths."""

    letter: str
    path: bytes
    old_path: bytes | None
    old_mode: str
    new_mode: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Patch:
    """One hunk without context: the lines `old` from `old_start` became `new` from `new_start`, both 1-based.

    An empty side has the number of the line *before* the place, as git prints it. Lines have no newline.
    """

    old_start: int
    old: tuple[bytes, ...]
    new_start: int
    new: tuple[bytes, ...]


@dataclass(frozen=True)
class FileDiff:
    """The changes of one file. `old` or `new` is None where the file does not exist; blobs are object names."""

    entry: RawEntry
    body: bytes

    @cached_property
    def old(self) -> str | None:
        """The path before the change."""
        return None if not self.entry.old_mode.strip("0") else decode_path(self.entry.old_path or self.entry.path)

    @cached_property
    def new(self) -> str | None:
        """The path after the change."""
        return None if not self.entry.new_mode.strip("0") else decode_path(self.entry.path)

    @property
    def path(self) -> str:
        """The path after the change, else before it."""
        return self.new if self.new is not None else self.old or ""

    @property
    def binary(self) -> bool:
        """Whether git shows no lines: binary, or larger than its limit."""
        return b"\nBinary files " in self.body

    @cached_property
    def patches(self) -> tuple[Patch, ...]:
        """Its hunks, read when first asked for."""
        return tuple(_patches(self.body))


class GitReader:
    """Reads a repository for one thread. A context manager: leaving it ends the processes."""

    def __init__(self, repository: Repository, largest_file: int, seconds: float) -> None:
        self.repository, self._largest, self._seconds = repository, largest_file, seconds
        self._objects = self._child("cat-file", "--batch")
        self._diffs = self._child("diff-tree", *_RAW, *_PLAIN)
        self._asked = 0
        self._commits: RecentlyUsed[str, Commit | bool] = RecentlyUsed(_COMMITS)
        self._known: RecentlyUsed[tuple[str, str], tuple[FileDiff, ...]] = RecentlyUsed(_DIFFS)
        self._blobs: RecentlyUsed[str, bytes] = RecentlyUsed(_CONTENTS)
        self._trees: RecentlyUsed[str, dict[str, str]] = RecentlyUsed(2)

    def _child(self, *args: str) -> Child:
        settings = {"core.bigFileThreshold": str(self._largest)}

        def start(errors: IO[bytes]) -> subprocess.Popen[bytes]:
            return self.repository.start(*args, stdin=subprocess.PIPE, stderr=errors, settings=settings)

        return Child(f"git {args[0]}", start, self._seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._objects.close()
        self._diffs.close()

    def commit(self, name: str) -> Commit | None:
        """A commit by its id; None where it is not here or cannot be read. Grafts and shallow cuts do not count."""

        def read() -> Commit | bool:
            found = self._object(f"{name}^{{commit}}".encode())
            commit = None if found is None else read_object(*found)
            return commit if commit is not None and commit.sound_times else False

        known = self._commits.of(name, read)
        return known if isinstance(known, Commit) else None

    def content(self, blob: str) -> bytes | None:
        """A file's content by the blob's id; None where it is missing or too large."""
        known = self._blobs.get(blob)
        if known is None and (found := self._object(blob.encode())) is not None:
            known = found[1]
            self._blobs.put(blob, known, len(known) + 1)
        return known

    def _object(self, name: bytes) -> tuple[str, bytes] | None:
        if b"\n" in name:
            return None
        try:
            self._objects.ask(name + b"\n")
            words = self._objects.line().rsplit(b" ", 2)
            if len(words) != 3 or not words[2].isdigit():  # "NAME missing", "NAME ambiguous"
                return None
            size = int(words[2])
            if size > self._largest:
                self._objects.skip(size + 1)
                return None
            return words[0].decode("ascii", "replace"), self._objects.take(size + 1)[:-1]
        except ChildEnded:
            return None

    def diff(self, commit: str, parent: str) -> tuple[FileDiff, ...]:
        """The files that `commit` changed against `parent`. Raises Missing."""

        def ask() -> tuple[FileDiff, ...]:
            self._asked += 1
            mark = f"\n#{self._asked}\n".encode()  # what is not an object's name is echoed; no line of a diff begins so
            try:
                self._diffs.ask(f"{commit} {parent}".encode() + b"\n" + mark)
                return read_diff(self._diffs.until(mark, _LARGEST_DIFF))
            except ChildEnded as error:
                raise Missing(str(error)) from None

        return self._known.of((commit, parent), ask, lambda files: sum(len(file.body) for file in files) + 1000)

    def holds(self, commit: str, blob: str) -> str | None:
        """The first path at which the tree of `commit` holds a blob; None where it does not. Raises Missing."""

        def read() -> dict[str, str]:
            try:
                entries = self.repository.entries(commit, seconds=self._seconds)
                return {entry.id: entry.path for entry in reversed(list(entries))}
            except UserError as error:
                raise Missing(str(error)) from None

        return self._trees.of(commit, read).get(blob)

    def blame(self, commit: str, path: str, lines: Iterable[int], *, whitespace: bool) -> list[Blamed]:
        """The commits that wrote these lines of `path` in `commit`. Changes of white space count only with
        `whitespace`. Raises Missing.
        """
        wanted = set(lines)
        spans = line_runs(wanted)
        if len(spans) > _MOST_RANGES:
            spans = [(spans[0][0], spans[-1][1])]
        ranges = [part for start, end in spans for part in ("-L", f"{start},{end}")]
        name = os.fsdecode(encode_path(path))
        args = ["--incremental", "--ignore-revs-file=", *([] if whitespace else ["-w"]), *ranges, commit, "--", name]
        try:
            answer = self.repository.run("blame", *args, settings=_BLAME, seconds=self._seconds)
        except UserError as error:
            raise Missing(str(error)) from None
        return sorted((b for b in _blamed(answer) if b.line in wanted), key=lambda b: b.line)


def _read_entries(text: bytes, at: int) -> tuple[tuple[RawEntry, ...], int]:
    """The raw entries (`--raw -z`) at `at`, and where the diffs behind them begin."""
    entries: list[RawEntry] = []
    while (m := _ENTRY.match(text, at)) is not None:
        old_mode, new_mode, old, new = (part.decode("ascii") for part in m.group(1, 2, 3, 4))
        moved = m[5] is not None
        letter, path = (m[5], m[7]) if moved else (m[8], m[9])
        entries.append(RawEntry(letter.decode(), path, m[6] if moved else None, old_mode, new_mode, old, new))
        at = m.end()
    while text[at : at + 1] == b"\x00":
        at += 1
    return tuple(entries), at


def read_diff(answer: bytes) -> tuple[FileDiff, ...]:
    """The files of one commit's `--raw -z -p -U0 --full-index` output; the commit's id may come first."""
    entries, at = _read_entries(answer, max(answer.find(b":"), 0))
    sections = iter((b"\n" + answer[at:]).split(b"\ndiff --git ")[1:])
    # a file that became a link is printed as a deletion and an addition
    return tuple(FileDiff(e, b"\n".join(islice(sections, 2 if e.letter == "T" else 1))) for e in entries)


@lru_cache(maxsize=8192)
def _git_path(raw: bytes) -> str:
    """A record's path for a path as git prints it, which may be in quotes."""
    return decode_path(unquote(raw.decode("utf-8", "surrogateescape")))


def _patches(body: bytes) -> list[Patch]:
    found = []
    lines = body.split(b"\n")
    at = 0
    while at < len(lines):
        header = _HUNK.match(lines[at])
        at += 1
        if header is None:
            continue
        old: list[bytes] = []
        new: list[bytes] = []
        while at < len(lines) and not lines[at].startswith(b"@@ "):
            line = lines[at]
            if line.startswith(b"-"):
                old.append(line[1:])
            elif line.startswith(b"+"):
                new.append(line[1:])
            elif not line.startswith(b"\\"):
                break
            at += 1
        found.append(Patch(int(header[1]), tuple(old), int(header[3]), tuple(new)))
    return found


def _blamed(answer: bytes) -> Iterable[Blamed]:
    """Entries of `git blame --incremental`: a header line, facts about the commit, and `filename` as the last."""
    commit, origin, line, count = "", 0, 0, 0
    previous: str | None = None
    for row in answer.split(b"\n"):
        word, _, rest = row.partition(b" ")
        if len(word) >= 40 and rest[:1].isdigit():
            commit = word.decode("ascii")
            origin, line, count = (int(n) for n in rest.split(b" "))
            previous = None
        elif word == b"previous":
            previous = _git_path(rest.partition(b" ")[2])
        elif word == b"filename":
            path = _git_path(rest)
            for step in range(count):
                yield Blamed(line + step, commit, path, origin + step, previous)
