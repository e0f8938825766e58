"""The files of one commit, read-only and without a checkout: for reviewers and contexts that look beyond the diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import NamedTuple, Self

from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.blobs import LARGEST, BlobReader
from reviewgauge.repo.git.paths import decode_path, encode_path
from reviewgauge.repo.git.repository import Repository, is_sound

_FILES = ("100644", "100755", "100664")
_LONGEST = 70_000  # bytes of a path and a number
_SECONDS = 60.0  # that one search may take


class Hit(NamedTuple):
    """A line that was found: its path, its number (from 1) and its text."""

    path: str
    line: int
    text: str


class CodeAt:
    """The files of `commit`. Links and submodules are none. Safe to use from several threads; close it after use."""

    def __init__(self, repository: Repository, commit: str, largest: int = LARGEST) -> None:
        if not repository.exists(commit):
            raise UserError(f"{repository.name} has no commit {commit}")
        self._repository, self._commit = repository, commit
        self._blobs = BlobReader(repository, largest)
        self._ids: dict[str, str] | None = None

    def paths(self) -> tuple[str, ...]:
        """Every file, in git's order."""
        return tuple(self._files())

    def read(self, path: str) -> bytes | None:
        """The content of one file; None where there is no such file, or it is missing, damaged or too large."""
        found = self._files().get(path)
        return None if found is None else self._blobs.read(found)

    def grep(self, words: str, paths: Sequence[str] = (), *, ignore_case: bool = False, most: int = 1000) -> list[Hit]:
        """The lines that hold `words` as they stand, in text files (all, or below `paths`), at most so many.

        Raises UserError where the search takes longer than a minute.
        """
        if not words or "\n" in words or "\x00" in words:
            raise UserError("a search needs words on one line")
        options = ["-I", "-n", "-z", "-F", "--full-name", *(["-i"] if ignore_case else []), "-e", words]
        below = [f":(literal,top){encode_path(path).decode('utf-8', 'surrogateescape')}" for path in paths]
        try:
            said = self._repository.run("grep", *options, self._commit, "--", *below, seconds=_SECONDS)
        except UserError as error:
            if error.problem.endswith("exit code 1"):  # and not a word: nothing was found
                return []
            raise
        return list(_hits(said, len(self._commit) + 1, most))

    def close(self) -> None:
        """End the processes that read."""
        self._blobs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _files(self) -> dict[str, str]:
        if self._ids is None:
            entries = self._repository.entries(self._commit)
            self._ids = {e.path: e.id for e in entries if e.mode in _FILES and is_sound(e.path)}
        return self._ids


def _hits(said: bytes, prefix: int, most: int) -> Iterator[Hit]:
    """What `grep -n -z` prints: `COMMIT:PATH NUL NUMBER NUL TEXT`, a line each. A path may have line breaks in it."""
    at = 0
    while at < len(said) and most > 0:
        path, _, rest = said[at : at + _LONGEST].partition(b"\x00")
        number = rest.partition(b"\x00")[0]
        start = at + len(path) + len(number) + 2
        end = said.find(b"\n", start)
        end = len(said) if end < 0 else end
        yield Hit(decode_path(path[prefix:]), int(number), said[start:end].decode("utf-8", "replace"))
        at, most = end + 1, most - 1
