"""What a commit changed, without context lines: the diffs that SZZ starts from, as bytes.

Reads `git diff-tree --raw -p -U0`: every content line has a mark before it there, so that no content can look like a
header, and the raw lines name the paths, modes and blobs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from reviewgauge.repo.git.paths import decode_path, unquote

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NONE = "0"
SUBMODULE, LINK = "160000", "120000"


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
    """What became of one file. `old` or `new` is None where the file is not there; blobs are object names."""

    status: str
    old: str | None
    new: str | None
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str
    body: bytes

    @property
    def path(self) -> str:
        """The file's path after the change, else before it."""
        return self.new if self.new is not None else self.old or ""

    @property
    def binary(self) -> bool:
        """Whether git shows no lines: binary, or larger than what it was told to read."""
        return b"\nBinary files " in self.body

    @cached_property
    def patches(self) -> tuple[Patch, ...]:
        """Its hunks, read when first asked for."""
        return tuple(_patches(self.body))


def read_diff(answer: bytes) -> tuple[FileDiff, ...]:
    """The files of one commit's `--raw -p -U0 --full-index` output; a line with the commit's id may stand first."""
    raw, *sections = (b"\n" + answer).split(b"\ndiff --git ")
    at = 0
    files = []
    for line in raw.split(b"\n"):
        if line.startswith(b":"):
            head, *names = line.split(b"\t")
            old_mode, new_mode, old_blob, new_blob, status = head[1:].decode("ascii").split(" ")
            count = 2 if status.startswith("T") else 1  # a file that became a link: a deletion and an addition
            body = b"\n".join(sections[at : at + count])
            at += count
            paths = [git_path(name) for name in names]
            old = None if set(old_mode) == {_NONE} else paths[0]
            new = None if set(new_mode) == {_NONE} else paths[-1]
            files.append(FileDiff(status[0], old, new, old_mode, new_mode, old_blob, new_blob, body))
    return tuple(files)


@lru_cache(maxsize=8192)
def git_path(raw: bytes) -> str:
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
