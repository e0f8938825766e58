"""The code of a commit in chunks, with its definitions: made once, and kept by the tree of the commit.

Files in a programming or markup language are read. Generated, vendored and minified ones, links, binaries and what is
over 1 MB are not; nor is more than 100 MB in all, which is a warning.

Chunks are cut by definitions, and by windows of lines where a file has none or they are long.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reviewgauge.contexts.code.places import hunks_of, lines_on, place_name
from reviewgauge.contexts.code.readers import reader_of
from reviewgauge.contexts.code.store import Arrays, as_bytes, as_texts, keep_arrays, read_arrays
from reviewgauge.core.protocols import Excerpt
from reviewgauge.core.records import Change, Side
from reviewgauge.repo.git.repository import Repository, check_commit
from reviewgauge.repo.processes import RecentlyUsed
from reviewgauge.repo.syntax.functions import Enclosing, definitions, prepare
from reviewgauge.repo.syntax.grammars import GRAMMARS
from reviewgauge.repo.syntax.languages import HEAD, is_generated_or_vendored, language
from reviewgauge.repo.syntax.lines import line_count

VERSION = 2  # of what an index holds
MOST_FILES = 100_000
MOST_BYTES = 100_000_000
_SECONDS = 600.0  # to make an index; hostile code can take the parser ten seconds a file
_AT_ONCE = 64  # files whose syntax is read side by side
_BINARY = 8000  # bytes in which git looks for a NUL
_KINDS = ("function", "method", "class")
_FILE = ("100644", "100755")  # modes: no links, no submodules
_JOINT = re.compile(r"::|\.")  # between the parts of a qualified name
Whole = npt.NDArray[np.int32]


LONGEST = 60  # lines of a chunk
_SHORT = 5  # lines; what is shorter is joined to the next chunk, such as a comment above a function
_DEEPEST = 20  # definitions within each other
Lines = tuple[int, int]  # the first and the last line


def chunks(source: bytes, path: str) -> list[Lines]:
    """Chunks of at most LONGEST lines that cover a file but for blank lines.

    A definition that is short enough is one chunk; a longer one is cut at the definitions in it.
    """
    lines = source.split(b"\n")
    whole = (1, line_count(source))
    cut = list(_cut(whole, definitions(source, path), 0))
    return [trimmed for one in _joined(cut) if (trimmed := _trimmed(one, lines)) is not None]


def _cut(lines: Lines, scopes: Sequence[Enclosing], depth: int) -> Iterator[Lines]:
    """`lines` in parts: the outermost of `scopes`, which lie in them, and what is between those."""
    at, last = lines
    for scope in scopes:
        start = max(scope.start, at)
        if scope.end < start or scope.end > last:  # within the one before
            continue
        yield from _windows(at, start - 1)
        if scope.end - start < LONGEST or depth == _DEEPEST:
            yield from _windows(start, scope.end)
        else:
            inner = [one for one in scopes if one.start > scope.start and one.end <= scope.end]
            yield from _cut((start, scope.end), inner, depth + 1)
        at = scope.end + 1
    yield from _windows(at, last)


def _windows(start: int, end: int) -> Iterator[Lines]:
    for at in range(start, end + 1, LONGEST):
        yield at, min(at + LONGEST - 1, end)


def _joined(parts: Sequence[Lines]) -> Iterator[Lines]:
    """The parts, a short one joined to the next where both fit into a chunk."""
    held: Lines | None = None
    for start, end in parts:
        if held is not None and held[1] - held[0] + 1 < _SHORT and end - held[0] < LONGEST:
            held = held[0], end
            continue
        if held is not None:
            yield held
        held = start, end
    if held is not None:
        yield held


def _trimmed(part: Lines, lines: Sequence[bytes]) -> Lines | None:
    """Without blank lines at both ends; None where all are."""
    start, end = part
    while start <= end and not lines[start - 1].strip():
        start += 1
    while end >= start and not lines[end - 1].strip():
        end -= 1
    return (start, end) if start <= end else None


class Definition(NamedTuple):
    """A function, method or class, with its qualified name."""

    path: str
    name: str
    kind: str
    start: int
    end: int


class Chunk(NamedTuple):
    """Some lines of a file."""

    path: str
    start: int
    end: int


@dataclass(frozen=True)
class CodeIndex:
    """The chunks and definitions of one tree. Rows are (file, first line, last line); definitions add their kind."""

    key: str
    git: str
    paths: Sequence[str]
    blobs: Sequence[str]
    chunk_rows: Whole
    definition_rows: Whole
    names: Sequence[str]

    def chunk(self, number: int) -> Chunk:
        """One chunk."""
        file, start, end = self.chunk_rows[number].tolist()
        return Chunk(self.paths[file], start, end)

    def definition(self, number: int) -> Definition:
        """One definition."""
        file, start, end, kind = self.definition_rows[number].tolist()
        return Definition(self.paths[file], self.names[number], _KINDS[kind], start, end)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each file."""
        return {path: number for number, path in enumerate(self.paths)}

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[int]]:
        """The numbers of the definitions with each name, without the class or namespace around it."""
        found: dict[str, list[int]] = {}
        for number, name in enumerate(self.names):
            found.setdefault(_JOINT.split(name)[-1], []).append(number)
        return found

    def texts(self, rows: Whole) -> list[str]:
        """The text of each of some rows; empty where the object is gone."""
        files = list(dict.fromkeys(rows[:, 0].tolist()))
        contents = dict(zip(files, self._contents(files), strict=True))
        return [_text((contents[file] or b"").split(b"\n"), start, end) for file, start, end in rows[:, :3].tolist()]

    def chunk_texts(self) -> Iterator[str]:
        """The text of every chunk, in their order, a file at a time."""
        contents = enumerate(self._contents(range(len(self.paths))))
        now, lines = -1, list[bytes]()
        for file, start, end in self.chunk_rows.tolist():
            while now != file:
                now, content = next(contents)
                lines = (content or b"").split(b"\n")
            yield _text(lines, start, end)

    def _contents(self, files: Iterable[int]) -> Iterator[bytes | None]:
        return reader_of(self.git).read_many(self.blobs[file] for file in files)


def _text(lines: Sequence[bytes], start: int, end: int) -> str:
    return b"\n".join(lines[start - 1 : end]).decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")


_INDEXES: RecentlyUsed[tuple[str, str], CodeIndex] = RecentlyUsed(4, at_once=1)


def code_index(git: str, commit: str) -> CodeIndex:
    """The index of a commit. Raises UserError for a commit that is not there."""
    return _INDEXES.of((git, commit), lambda: _open(git, commit))


def _open(git: str, commit: str) -> CodeIndex:
    check_commit(commit)
    tree = Repository(Path(git)).run("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()
    key = f"{tree}-code-{_made_with()}"
    kept = read_arrays(key)
    if kept is not None:
        return _from_arrays(kept, key, git)
    made, whole = _make(git, tree, key)
    if whole:
        keep_arrays(key, _to_arrays(made))
    return made


@cache
def _made_with() -> str:
    """A short hash of what decides on chunks and definitions: our rules, and the versions of the grammars."""
    found = [f"{VERSION} {LONGEST}"]
    for wheel in sorted({"tree-sitter", *(one.wheel.replace("_", "-") for one in GRAMMARS.values())}):
        with suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{wheel} {importlib.metadata.version(wheel)}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:12]


def _make(git: str, tree: str, key: str) -> tuple[CodeIndex, bool]:
    """(the index of a tree, whether it holds all that it should)."""
    paths: list[str] = []
    blobs: list[str] = []
    chunk_rows: list[tuple[int, int, int]] = []
    definition_rows: list[tuple[int, int, int, int]] = []
    names: list[str] = []
    end = time.monotonic() + _SECONDS
    left, whole = MOST_BYTES, True
    files = _files(git, tree)
    while some := list(islice(files, _AT_ONCE)):
        prepare((content, path) for path, _, content in some)
        for path, blob, content in some:
            left -= len(content)
            number = len(paths)
            paths.append(path)
            blobs.append(blob)
            chunk_rows += [(number, *lines) for lines in chunks(content, path)]
            for one in definitions(content, path):
                if one.kind in _KINDS and one.name:
                    definition_rows.append((number, one.start, one.end, _KINDS.index(one.kind)))
                    names.append(one.name)
        if left < 0 or len(paths) >= MOST_FILES or time.monotonic() > end:
            whole = next(files, None) is None
            break
    if not whole:
        warnings.warn(f"{Path(git).name}: only the first {len(paths):,} files are searched for context", stacklevel=2)
    rows = np.array(chunk_rows, dtype=np.int32).reshape(-1, 3)
    defined = np.array(definition_rows, dtype=np.int32).reshape(-1, 4)
    return CodeIndex(key, git, paths, blobs, rows, defined, names), whole


def _files(git: str, tree: str) -> Iterator[tuple[str, str, bytes]]:
    """(path, blob, content) of the files that are read."""
    entries = [
        entry
        for entry in Repository(Path(git)).entries(tree)
        if entry.mode in _FILE and language(entry.path) and not is_generated_or_vendored(entry.path)
    ]
    contents = reader_of(git).read_many(entry.id for entry in entries)
    for entry, content in zip(entries, contents, strict=True):
        if content and b"\x00" not in content[:_BINARY] and not is_generated_or_vendored(entry.path, content[:HEAD]):
            yield entry.path, entry.id, content


def _to_arrays(index: CodeIndex) -> Arrays:
    texts = {name: as_bytes(getattr(index, name)) for name in ("paths", "blobs", "names")}
    return {**texts, "chunks": index.chunk_rows, "definitions": index.definition_rows}


def _from_arrays(kept: Arrays, key: str, git: str) -> CodeIndex:
    paths, blobs, names = (as_texts(kept[name]) for name in ("paths", "blobs", "names"))
    return CodeIndex(key, git, paths, blobs, kept["chunks"], kept["definitions"], names)


# --- the nearest chunks ----------------------------------------------------------------------------------------------


def query_of(piece: Change) -> str:
    """The lines of the hunks of a piece, without their signs."""
    return "\n".join(line.text for _, hunk in hunks_of(piece) for line in hunk.lines)


def shown_chunks(index: CodeIndex, piece: Change) -> npt.NDArray[np.bool_]:
    """Which chunks hold a line that the hunks of `piece` show."""
    found = np.zeros(len(index.chunk_rows), dtype=np.bool_)
    for path, shown in lines_on(piece, Side.NEW).items():
        number = index.numbers.get(path)
        if number is not None and shown:
            begin, end = np.searchsorted(index.chunk_rows[:, 0], [number, number + 1])
            rows = index.chunk_rows[begin:end]
            at = np.array(shown)
            inside = (rows[:, 1, None] <= at) & (at <= rows[:, 2, None])
            found[begin:end] = inside.any(axis=1)
    return found


def nearest(index: CodeIndex, scores: npt.NDArray[np.float32], piece: Change, k: int) -> Iterator[Excerpt]:
    """The `k` chunks with the highest scores above 0, the highest first, as excerpts."""
    scores = np.where(shown_chunks(index, piece), 0, scores)
    best = np.argsort(-scores, kind="stable")[:k] if len(scores) <= 10 * k else _top(scores, k)
    best = best[scores[best] > 0]
    for number, text in zip(best.tolist(), index.texts(index.chunk_rows[best]), strict=True):
        chunk = index.chunk(number)
        if text:
            yield Excerpt(name=place_name(chunk.path, chunk.start, chunk.end), text=text)


def _top(scores: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.intp]:
    """The numbers of the `k` highest scores, the highest first, and of equal ones the first."""
    least = np.partition(scores, -k)[-k]
    some = np.flatnonzero(scores >= least)
    return some[np.argsort(-scores[some], kind="stable")][:k]
