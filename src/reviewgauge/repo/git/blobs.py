"""Reads many blobs through two long-lived git processes: one returns the size of an object, one its content.

Nothing over the limit is read, nothing that is not a blob, and nothing is fetched: a blob that a partial clone lacks is
missing here. `None` always has a reason, which `why_not` returns.
"""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import IO, Self

from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.paths import encode_path
from reviewgauge.repo.git.repository import Repository, check_commit, git_error
from reviewgauge.repo.processes import Child, ChildEnded

LARGEST = 10_000_000  # bytes
_AHEAD = 100  # requests that are on their way at once: together they fit into a pipe
_AT_ONCE = 20_000_000  # bytes of contents that are held at once
_LONGEST = 400  # bytes of a request that may be on its way with others
_ANSWER = re.compile(rb"([0-9a-f]{40,64}) (blob|tree|commit|tag) (\d+)")


@dataclass(frozen=True, slots=True)
class Found:
    """The object of a name: its id and size in bytes, or why it cannot be read as a file."""

    id: str = ""
    size: int | None = None
    problem: str = ""


class BlobReader:
    """The blobs of one repository, by id or as `commit:path`. Safe to use from several threads; close it after use."""

    def __init__(self, repository: Repository, largest: int = LARGEST) -> None:
        self._repository, self._largest = repository, largest
        self._sizes = _Dialogue(repository, "--batch-check")
        self._contents = _Dialogue(repository, "--batch")

    def read(self, name: str) -> bytes | None:
        """The content of the blob `name`; None where it is missing, damaged, not a blob or over the limit."""
        return next(self.read_many([name]))

    def read_file(self, commit: str, path: str) -> bytes | None:
        """The content of `path` (as records have it) in `commit`; None as `read` does."""
        name = file_name(commit, path)
        if "\n" in name:  # requests are lines: such a file goes by its object's id
            try:
                name = self._repository.run("rev-parse", "--verify", "--end-of-options", name).decode("ascii").strip()
            except UserError:
                return None
        return self.read(name)

    def read_many(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """The contents of `names`, in order, fewer waits in between than with `read`."""
        wanted = iter(names)
        while some := list(islice(wanted, _AHEAD)):
            found = list(self.look_many(some))
            for group in _groups(found):
                contents = self._contents.ask([one.id for one in group if not one.problem], content=True)
                for one in group:
                    yield None if one.problem else next(contents).content

    def size(self, name: str) -> int | None:
        """The size in bytes of the blob `name`, however large; None where it is missing or not a blob."""
        return self.look(name).size

    def why_not(self, name: str) -> str:
        """Why `read` gives None for `name`; empty where it does not."""
        found = self.look(name)
        if found.problem:
            return found.problem
        return next(self._contents.ask([found.id], content=True)).problem

    def look(self, name: str) -> Found:
        """The object called `name`, without reading it."""
        return next(self.look_many([name]))

    def look_many(self, names: Iterable[str]) -> Iterator[Found]:
        """The object of each of `names`, in order."""
        for answer in self._sizes.ask(list(names), content=False):
            if answer.problem:
                yield Found(problem=answer.problem)
            elif answer.kind != "blob":
                yield Found(problem=f"is a {answer.kind}, not a file")
            elif answer.size > self._largest:
                problem = f"{answer.size:,} bytes, over the limit of {self._largest:,}"
                yield Found(answer.id, answer.size, problem)
            else:
                yield Found(answer.id, answer.size)

    def close(self) -> None:
        """End both processes."""
        self._sizes.close()
        self._contents.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def file_name(commit: str, path: str) -> str:
    """The name for a `BlobReader` of `path` (as records have it) in `commit`. Raises UserError for a bad commit."""
    check_commit(commit)
    return f"{commit}:{encode_path(path).decode('utf-8', 'surrogateescape')}"


@dataclass(frozen=True, slots=True)
class _Answer:
    """One answer of `cat-file`."""

    id: str = ""
    kind: str = ""
    size: int = 0
    content: bytes | None = None
    problem: str = ""


_UNASKABLE = _Answer(problem="has a name that git cannot look up")


class _Dialogue:
    """One long-lived `git cat-file` process, restarted after it died."""

    def __init__(self, repository: Repository, mode: str) -> None:
        self._repository, self._mode = repository, mode
        self._lock = threading.Lock()
        self._git = Child("git cat-file", self._start, None)

    def _start(self, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        return self._repository.start("cat-file", self._mode, stdin=subprocess.PIPE, stderr=errors)

    def ask(self, names: list[str], *, content: bool) -> Iterator[_Answer]:
        """One answer for each name. Several threads take turns by the batch, so batches are answered at once."""
        requests = [_request(name) for name in names]
        for at in range(0, len(requests), _AHEAD):
            with self._lock:
                answers = self._batch(requests[at : at + _AHEAD], content)
            yield from answers

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._git.close()

    def _batch(self, requests: list[bytes | None], content: bool) -> list[_Answer]:
        if any(request is not None and len(request) > _LONGEST for request in requests) and len(requests) > 1:
            return [answer for request in requests for answer in self._batch([request], content)]
        answers: list[_Answer] = []
        again = False
        while len(answers) < len(requests):
            left = requests[len(answers) :]
            try:
                self._git.ask(b"".join(request for request in left if request is not None))
                for request in left:
                    answers.append(_UNASKABLE if request is None else self._receive(content))
                    again = False
            except ChildEnded as error:  # perhaps of another object: once more from here
                if again:
                    answers.append(_Answer(problem=self._problem(error)))
                again = not again
        return answers

    def _receive(self, content: bool) -> _Answer:
        found = _ANSWER.fullmatch(line := self._git.line())
        if found is None:  # "NAME missing", "NAME ambiguous"
            answer = line.rpartition(b" ")[2].decode("ascii", "replace")
            return _Answer(problem="is not in the repository" if answer == "missing" else f"git says: {answer}")
        size = int(found[3])
        data = self._git.take(size + 1)[:-1] if content else None
        return _Answer(found[1].decode(), found[2].decode(), size, data)

    def _problem(self, error: ChildEnded) -> str:
        """Git's message when it gave up on an object: it is damaged, or missing from a partial clone."""
        return str(git_error("cat-file", self._repository.name, error.errors, error.code))


def _groups(found: list[Found]) -> Iterator[list[Found]]:
    """The same, in groups whose contents together stay within bounds."""
    group: list[Found] = []
    held = 0
    for one in found:
        size = 0 if one.problem or one.size is None else one.size
        if group and held + size > _AT_ONCE:
            yield group
            group, held = [], 0
        group.append(one)
        held += size
    yield group


def _request(name: str) -> bytes | None:
    raw = name.encode("utf-8", "surrogateescape")
    return None if b"\n" in raw or b"\x00" in raw or not raw else raw + b"\n"
