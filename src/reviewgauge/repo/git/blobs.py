"""Reads many blobs through two long-lived git processes: one returns the size of an object, one its content.

Nothing over the limit is read, nothing that is not a blob, and nothing is fetched: a blob that a partial clone lacks is
missing here.
"""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from types import TracebackType
from typing import IO, Self

from reviewgauge.repo.git.repository import Repository, check_commit, git_error
from reviewgauge.repo.paths import encode_path
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
    content: bytes | None = None


_UNASKABLE = Found(problem="has a name that git cannot look up")


class BlobReader:
    """The blobs of one repository, by id or as `commit:path`. Safe to use from several threads; close it after use."""

    def __init__(self, repository: Repository, largest: int = LARGEST) -> None:
        self._repository, self._largest = repository, largest
        self._lock = threading.Lock()
        self._sizes = Child("git cat-file", partial(self._start, "--batch-check"), None)
        self._contents = Child("git cat-file", partial(self._start, "--batch"), None)

    def _start(self, mode: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        return self._repository.start("cat-file", mode, stdin=subprocess.PIPE, stderr=errors)

    def read(self, name: str) -> bytes | None:
        """The content of the blob `name`; None where it is missing, damaged, not a blob or over the limit."""
        return next(self.read_many([name]))

    def read_many(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """The contents of `names`, in order, fewer waits in between than with `read`."""
        wanted = iter(names)
        while some := list(islice(wanted, _AHEAD)):
            for group in _groups(list(self.look_many(some))):
                contents = self._ask(self._contents, [one.id for one in group if not one.problem])
                for one in group:
                    yield None if one.problem else next(contents).content

    def look(self, name: str) -> Found:
        """The object called `name`, without reading it."""
        return next(self.look_many([name]))

    def look_many(self, names: Iterable[str]) -> Iterator[Found]:
        """The object of each of `names`, in order."""
        for found in self._ask(self._sizes, list(names)):
            if found.size is not None and found.size > self._largest:
                yield replace(found, problem=f"{found.size:,} bytes, over the limit of {self._largest:,}")
            else:
                yield found

    def close(self) -> None:
        """End both processes."""
        with self._lock:
            self._sizes.close()
            self._contents.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _ask(self, git: Child, names: list[str]) -> Iterator[Found]:
        """One answer for each name. Threads take turns by the batch, so batches are answered at once."""
        requests = [_request(name) for name in names]
        most = 1 if any(len(request) > _LONGEST for request in requests) else _AHEAD
        for at in range(0, len(requests), most):
            with self._lock:
                answers = self._batch(git, requests[at : at + most])
            yield from answers

    def _batch(self, git: Child, requests: list[bytes]) -> list[Found]:
        answers: list[Found] = []
        again = False
        while len(answers) < len(requests):
            left = requests[len(answers) :]
            try:
                git.ask(b"".join(left))
                for request in left:
                    answers.append(self._receive(git) if request else _UNASKABLE)
                    again = False
            except ChildEnded as error:  # perhaps of another object: once more from here
                if again:  # the object is damaged, or missing from a partial clone
                    problem = git_error("cat-file", self._repository.name, error.errors, error.code)
                    answers.append(Found(problem=str(problem)))
                again = not again
        return answers

    def _receive(self, git: Child) -> Found:
        found = _ANSWER.fullmatch(line := git.line())
        if found is None:  # "NAME missing", "NAME ambiguous"
            answer = line.rpartition(b" ")[2].decode("ascii", "replace")
            return Found(problem="is not in the repository" if answer == "missing" else f"git says: {answer}")
        name, kind, size = found[1].decode(), found[2].decode(), int(found[3])
        content = git.take(size + 1)[:-1] if git is self._contents else None
        return Found(name, size, content=content) if kind == "blob" else Found(problem=f"is a {kind}, not a file")


def file_name(commit: str, path: str) -> str:
    """The name for a `BlobReader` of `path` (as records have it) in `commit`. Raises UserError for a bad commit."""
    check_commit(commit)
    return f"{commit}:{encode_path(path).decode('utf-8', 'surrogateescape')}"


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


def _request(name: str) -> bytes:
    """A line for git; empty for a name that fits into none."""
    raw = name.encode("utf-8", "surrogateescape")
    return b"" if b"\n" in raw or b"\x00" in raw or not raw else raw + b"\n"
