"""Reads the syntax of a file with tree-sitter: enclosing functions, definitions, what is code and comment.

Eleven languages have a grammar; every other file, and what is too large, binary or beyond the parser, gets a window
of lines and a reason. Parsing happens in a process of its own, which hostile code may kill. Results are kept by the
content of the file. Lines are 1-based and end at a line feed only.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import threading
from bisect import bisect_right
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from reviewgauge.core.errors import UserError
from reviewgauge.repo.processes import Child, ChildEnded, RecentlyUsed, start_worker
from reviewgauge.repo.syntax.grammars import grammar_of
from reviewgauge.repo.syntax.languages import language
from reviewgauge.repo.syntax.lines import LineKinds, comments_by_prefix, line_count, line_starts

LARGEST = 1_000_000  # bytes; a larger file is generated or data
WINDOW = 20  # lines on either side of what was asked for, where no syntax is known
_KEPT = 50_000  # scopes in the cache, or bytes of source / 100; some tens of megabytes
_BINARY = 8000  # bytes in which git looks for a NUL
_CPP = re.compile(rb"^[ \t]*(class|namespace|template|using|public:|private:|protected:)\b", re.MULTILINE)
_GAVE_UP = "the parser gave up on this file"


@dataclass(frozen=True, slots=True)
class Enclosing:
    """Lines `start` to `end` of a file. `kind` is function, method, class, file or window; `name` is qualified.

    A window is what is left where syntax does not help, and `reason` says why; it is empty for the others.
    """

    kind: str
    name: str
    start: int
    end: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Scope:
    """A definition. Rows count from 0; `above` is its start with the comments right above it."""

    kind: str
    name: str
    byte: int
    row: int
    last: int
    above_byte: int
    above_row: int

    @property
    def lines(self) -> Enclosing:
        return Enclosing(self.kind, self.name, self.row + 1, self.last + 1)


@dataclass(frozen=True, slots=True)
class _File:
    """The scopes of a file: where its lines begin, its definitions, the rows that do not parse."""

    starts: tuple[int, ...] = ()
    scopes: tuple[_Scope, ...] = ()
    errors: tuple[tuple[int, int], ...] = ()
    reason: str = ""


def enclosing(source: bytes, path: str, start: int, end: int, window: int = WINDOW) -> Enclosing:
    """The smallest function, method or class around the lines `start` to `end`, which are cut to those of the file.

    Decorators and attributes belong to their definition, comments right above it do when the lines begin there, and
    a lambda or closure counts when it is given a name. Blank lines at both ends are not looked at. Lines that lie
    in no definition have the file around them.
    """
    file = _file(source, path)
    count = len(file.starts) or line_count(source)
    start = min(max(start, 1), count)
    end = min(max(end, start), count)
    if file.reason:
        return _window(start, end, count, window, file.reason)
    first, last, at = _trimmed(source, file.starts, start - 1, end - 1)
    found = _smallest(file.scopes, first, last, at)
    if found is not None:
        return Enclosing(found.kind, found.name, min(found.row, first) + 1, found.last + 1)
    if any(a <= last and first <= b for a, b in file.errors):
        return _window(start, end, count, window, "the code around these lines does not parse")
    return Enclosing("file", "", 1, count)


def _smallest(scopes: Iterable[_Scope], first: int, last: int, at: int) -> _Scope | None:
    """The innermost scope that begins before the byte `at` of row `first` and reaches row `last`.

    A scope of several rows that begins later in that row, as in `on("x", function f() {`, holds the rows too.
    """
    found: _Scope | None = None
    for scope in scopes:
        if scope.last < last or scope.above_row > first:
            continue
        if scope.above_byte <= at:
            found = scope if found is None or scope.byte >= found.byte else found
        elif scope.last > scope.row and (found is None or (found.byte <= scope.byte and scope.last <= found.last)):
            return scope
    return found


def prepare(files: Iterable[tuple[bytes, str]]) -> None:
    """Parse several (source, path) side by side, so that `enclosing` and `definitions` find them cached."""
    with ThreadPoolExecutor(PROCESSES) as threads:
        list(threads.map(lambda file: _file(*file), files))


def definitions(source: bytes, path: str) -> tuple[Enclosing, ...]:
    """The functions, methods and classes of a file, in its order; none for a file without syntax."""
    return tuple(scope.lines for scope in _file(source, path).scopes)


def code_lines(source: bytes, path: str) -> LineKinds:
    """The lines of a file: blank, comment or code, and their tokens.

    In Python a string that is a statement by itself, such as a docstring, is a comment. Where no grammar reads
    the file (`known` is False), lines that begin with the language's comment mark are comments, if it has one.
    """
    key, reason = grammar_for(source, path)

    def read() -> LineKinds:
        answer = None if reason else PARSERS.ask(key, "text", source)
        if answer is not None:
            return LineKinds.of(source, answer["comment"], answer["literal"], answer["types"], known=True)
        comments = comments_by_prefix(source, language(path))
        return LineKinds.of(source, comments, [], known=False, reason=reason or _GAVE_UP)

    return _LINES.of(_digest(source, f"lines:{key or language(path)}"), read, lambda _: len(source) // 100 + 1)


def _file(source: bytes, path: str) -> _File:
    """The scopes of a file, kept by its content; no line starts where no grammar reads it."""
    key, reason = grammar_for(source, path)
    if reason:
        return _File(reason=reason)

    def parse() -> _File:
        starts, answer = line_starts(source), PARSERS.ask(key, "scopes", source)
        if answer is None:
            return _File(starts, reason=_GAVE_UP)
        return _File(starts, tuple(_Scope(*row) for row in answer["scopes"]), tuple(map(tuple, answer["errors"])))

    def weigh(file: _File) -> int:
        return len(file.scopes) + len(file.errors) + len(file.starts) // 10 + 1

    return _FILES.of(_digest(source, f"scopes:{key}"), parse, weigh)


def grammar_for(source: bytes, path: str) -> tuple[str, str]:
    """(the key of the grammar that reads a file, why there is none)."""
    if len(source) > LARGEST:
        return "", f"the file is larger than {LARGEST:,} bytes"
    if source.find(b"\x00", 0, _BINARY) >= 0:
        return "", "the file is binary"
    header = path.lower().endswith(".h") and _CPP.search(source) is not None
    key = grammar_of(language(path), path, header)
    return key, "" if key else f"no grammar for {language(path) or 'such files'}"


def _trimmed(source: bytes, starts: tuple[int, ...], first: int, last: int) -> tuple[int, int, int]:
    """(first row, last row, first byte) of what is not blank in some rows; the rows themselves if all is."""
    begin = starts[first]
    end = starts[last + 1] if last + 1 < len(starts) else len(source)
    text = source[begin:end]
    inner = text.lstrip()
    if not inner:
        return first, last, begin
    at = begin + len(text) - len(inner)
    through = begin + len(text.rstrip()) - 1
    return bisect_right(starts, at) - 1, bisect_right(starts, through) - 1, at


def _window(start: int, end: int, count: int, window: int, reason: str) -> Enclosing:
    return Enclosing("window", "", max(start - window, 1), min(end + window, count), reason)


@lru_cache(maxsize=4)  # hunks of one file come one after the other; the sources are held
def _digest(source: bytes, what: str) -> bytes:
    return hashlib.blake2b(source, digest_size=16, key=what.encode()[:64]).digest()


_FILES: RecentlyUsed[bytes, _File] = RecentlyUsed(_KEPT)
_LINES: RecentlyUsed[bytes, LineKinds] = RecentlyUsed(_KEPT)


SECONDS = 10.0  # for one source; ordinary ones take milliseconds
PROCESSES = 2
_READY = b"ready"
_SECONDS_TO_START = 60.0


class Parsers:
    """Up to two parsing processes, started when they are needed. Safe to use from several threads."""

    def __init__(self, most: int = PROCESSES, seconds: float = SECONDS) -> None:
        self._most, self._seconds, self._owner = most, seconds, os.getpid()
        self._turns = threading.Semaphore(most)
        self._idle: list[Child] = []

    def ask(self, key: str, want: str, source: bytes) -> dict[str, Any] | None:
        """The worker's answer about a source; None where it died or took too long.

        Raises UserError where the process does not start at all.
        """
        if self._owner != os.getpid():  # this process was forked: the pipes belong to the other one
            self.__init__(self._most, self._seconds)  # type: ignore[misc]
        head = json.dumps({"grammar": key, "want": want, "size": len(source)}).encode()
        with self._turns:
            child = self._take()
            child.seconds = self._seconds
            try:
                child.ask(head + b"\n" + source)
                answer: dict[str, Any] = json.loads(child.line())
            except ChildEnded:
                return None
            except BaseException:
                child.close()
                raise
            self._idle.append(child)
            return answer

    def close(self) -> None:
        """End the processes that are idle; those of the process that this one was forked from are left alone."""
        while self._idle:
            child = self._idle.pop()
            if self._owner == os.getpid():
                child.close()

    def _take(self) -> Child:
        while self._idle:
            child = self._idle.pop()
            if child.alive:
                return child
            child.close()  # ended by something else
        return _started()


def _started() -> Child:
    """A parsing process that is ready. Raises UserError where it does not start at all."""
    child = Child("the parser", partial(start_worker, "reviewgauge.repo.syntax.worker"), _SECONDS_TO_START)
    try:
        child.ask(b"")
        ready = child.line() == _READY
        reason = "" if ready else "it printed something else than that it is ready"
    except ChildEnded as error:
        reason = error.errors.strip().rpartition("\n")[2] or str(error)
    if reason:
        child.close()
        raise UserError(f"the parsing process does not start: {reason}")
    return child


PARSERS = Parsers()
atexit.register(PARSERS.close)
