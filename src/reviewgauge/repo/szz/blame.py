"""Git at work for SZZ: commits and blobs by name, what a commit changed, which commit last touched a line.

Two long-lived processes (`cat-file --batch`, `diff-tree --stdin`) answer in a fraction of what starting one costs;
blame is one process for each file. A process that dies on a damaged object is started anew for the next question.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Generic, Self, TypeVar

from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.paths import decode_path, encode_path
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.szz.diffs import FileDiff, git_path, read_diff

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_LARGEST_DIFF = 64_000_000  # bytes of one commit's diff; beyond it the commit is not looked into
_COMMITS, _CONTENTS, _DIFFS = 2_000, 8_000_000, 4_000_000  # commits, bytes of files and diffs, kept for the next line
_MOST_RANGES = 400  # of lines in one blame; beyond it, everything between the first and the last is asked for
_RAW = ("--stdin", "-r", "--raw", "-p", "-U0", "-M50%", "-l1000", "--full-index", "--diff-algorithm=myers")
_PLAIN = ("--indent-heuristic", "--inter-hunk-context=0", "--ignore-submodules=none", "--submodule=short")
_BLAME = {"diff.algorithm": "myers", "diff.indentHeuristic": "true", "diff.renames": "true", "blame.showRoot": "false"}


@dataclass(frozen=True, slots=True)
class Made:
    """What SZZ asks of a commit: its parents as they stand in the object, and when it was made."""

    id: str
    parents: tuple[str, ...]
    authored: datetime
    committed: datetime

    @property
    def date(self) -> datetime:
        """The earlier of both times: rebasing sets the second one anew, a wrong clock may set either too late."""
        return min(self.authored, self.committed)


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


class Nothing:
    """Stands for what was looked for and is not here."""


class Kept(Generic[_Key, _Value]):
    """The values that were used last, up to a weight."""

    def __init__(self, most: int) -> None:
        self._most, self._weight = most, 0
        self._held: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()

    def get(self, key: _Key) -> _Value | None:
        """What is kept under `key`."""
        if key not in self._held:
            return None
        self._held.move_to_end(key)
        return self._held[key][0]

    def put(self, key: _Key, value: _Value, weight: int = 1) -> None:
        """Keep a value; those not used for longest make room, all but the newest."""
        self._held[key] = (value, weight)
        self._weight += weight
        while self._weight > self._most and len(self._held) > 1:
            self._weight -= self._held.popitem(last=False)[1][1]


class Missing(UserError):
    """An object that is asked for is not here (a partial or damaged repository), or takes too long to read."""


class _Process:
    """A git process that answers one question after the other. Not for several threads."""

    def __init__(self, repository: Repository, args: Sequence[str], largest_file: int, seconds: float) -> None:
        self._repository, self._args, self._seconds = repository, args, seconds
        self._settings = {"core.bigFileThreshold": str(largest_file)}
        self._process: subprocess.Popen[bytes] | None = None
        self._read = bytearray()

    def ask(self, question: bytes) -> None:
        if self._process is None:
            self._process = self._repository.start(*self._args, stdin=subprocess.PIPE, settings=self._settings)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(question)
            self._process.stdin.flush()
        except OSError as error:
            self.close()
            raise Missing(f"git {self._args[0]} ended: {error.strerror}") from None
        self._until = time.monotonic() + self._seconds

    def until(self, end: bytes, most: int) -> bytes:
        """The answer up to `end`, which is its last line."""
        while not self._read.endswith(end):
            if len(self._read) > most:
                self.close()
                raise Missing(f"the answer of git {self._args[0]} is larger than {most} bytes")
            self._more()
        answer = bytes(self._read[: -len(end)])
        self._read.clear()
        return answer

    def line(self) -> bytes:
        while (at := self._read.find(b"\n")) < 0:
            self._more()
        found = bytes(self._read[:at])
        del self._read[: at + 1]
        return found

    def take(self, size: int) -> bytes:
        while len(self._read) < size:
            self._more()
        found = bytes(self._read[:size])
        del self._read[:size]
        return found

    def skip(self, size: int) -> None:
        while size > 0:
            if not self._read:
                self._more()
            step = min(size, len(self._read))
            del self._read[:step]
            size -= step

    def _more(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, self._until - time.monotonic()))
        if not ready:
            self.close()
            raise Missing(f"git {self._args[0]} took longer than {self._seconds:g} seconds")
        chunk = os.read(self._process.stdout.fileno(), 1 << 16)
        if not chunk:
            self.close()
            raise Missing(f"git {self._args[0]} ended: an object is missing or damaged")
        self._read += chunk

    def close(self) -> None:
        process, self._process = self._process, None
        self._read.clear()
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                process.communicate()


class History:
    """What one thread asks of a repository. A context manager: leaving it ends the processes."""

    def __init__(self, repository: Repository, largest_file: int, seconds: float) -> None:
        self.repository, self._largest, self._seconds = repository, largest_file, seconds
        self._objects = _Process(repository, ("cat-file", "--batch"), largest_file, seconds)
        self._diffs = _Process(repository, ("diff-tree", *_RAW, *_PLAIN), largest_file, seconds)
        self._asked = 0
        self._commits: Kept[str, Made | Nothing] = Kept(_COMMITS)
        self._known: Kept[tuple[str, str], tuple[FileDiff, ...]] = Kept(_DIFFS)
        self._blobs: Kept[str, bytes] = Kept(_CONTENTS)
        self._trees: Kept[str, dict[str, str]] = Kept(2)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._objects.close()
        self._diffs.close()

    def commit(self, name: str) -> Made | None:
        """A commit by its id; None where it is not here or cannot be read. Grafts and shallow cuts do not count."""
        known = self._commits.get(name)
        if known is None:
            found = self._object(f"{name}^{{commit}}".encode())
            known = (found and _made(*found)) or Nothing()
            self._commits.put(name, known)
        return known if isinstance(known, Made) else None

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
        except Missing:
            return None

    def diff(self, commit: str, parent: str) -> tuple[FileDiff, ...]:
        """What `commit` changed against `parent`. Raises Missing."""
        key = (commit, parent)
        known = self._known.get(key)
        if known is None:
            self._asked += 1
            mark = f"\n#{self._asked}\n".encode()  # what is not an object's name is echoed; no line of a diff begins so
            self._diffs.ask(f"{commit} {parent}".encode() + b"\n" + mark)
            known = read_diff(self._diffs.until(mark, _LARGEST_DIFF))
            self._known.put(key, known, sum(len(file.body) for file in known) + 1000)
        return known

    def holds(self, commit: str, blob: str) -> str | None:
        """The first path at which the tree of `commit` holds a blob; None where it does not. Raises Missing."""
        tree = self._trees.get(commit)
        if tree is None:
            try:
                answer = self.repository.run("ls-tree", "-r", "-z", "--full-tree", commit, seconds=self._seconds)
            except UserError as error:
                raise Missing(str(error)) from None
            tree = {}
            for row in answer.split(b"\x00"):
                head, _, path = row.partition(b"\t")
                if path:
                    tree.setdefault(head.rpartition(b" ")[2].decode("ascii"), decode_path(path))
            self._trees.put(commit, tree)
        return tree.get(blob)

    def blame(self, commit: str, path: str, lines: Iterable[int], *, whitespace: bool) -> list[Blamed]:
        """Who wrote these lines of `path` as it is in `commit`. Changes of white space count only with `whitespace`.

        Raises Missing.
        """
        wanted = set(lines)
        spans = runs(wanted)
        if len(spans) > _MOST_RANGES:
            spans = [(spans[0][0], spans[-1][1])]
        ranges = [part for start, end in spans for part in ("-L", f"{start},{end}")]
        name = os.fsdecode(encode_path(path))
        args = ["--incremental", "--ignore-revs-file=", *([] if whitespace else ["-w"]), *ranges, commit, "--", name]
        try:
            answer = self.repository.run("blame", *args, settings=_BLAME, seconds=self._seconds)
        except Missing:
            raise
        except UserError as error:
            raise Missing(str(error)) from None
        return sorted((b for b in _blamed(answer) if b.line in wanted), key=lambda b: b.line)


def runs(lines: Iterable[int]) -> list[tuple[int, int]]:
    """Runs of neighbouring numbers, each as (first, last)."""
    found: list[tuple[int, int]] = []
    for line in sorted(set(lines)):
        if found and line == found[-1][1] + 1:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
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
            previous = git_path(rest.partition(b" ")[2])
        elif word == b"filename":
            path = git_path(rest)
            for step in range(count):
                yield Blamed(line + step, commit, path, origin + step, previous)


def _made(name: str, content: bytes) -> Made | None:
    head = content.partition(b"\n\n")[0].split(b"\n")
    parents = tuple(row[7:].decode("ascii", "replace") for row in head if row.startswith(b"parent "))
    times = {row.partition(b" ")[0]: _time(row) for row in head if row.startswith((b"author ", b"committer "))}
    authored, committed = times.get(b"author"), times.get(b"committer")
    if authored is None or committed is None:
        return None
    return Made(name, parents, authored, committed)


def _time(row: bytes) -> datetime | None:
    """The seconds since 1970 near the end of an author's or committer's row; None for what is not a date."""
    words = row.rsplit(b" ", 2)
    try:
        return datetime.fromtimestamp(int(words[1]), UTC)
    except (ValueError, IndexError, OverflowError, OSError):
        return None
