"""Diffs as GitHub shows them: patches by file, positions in them, and where a line of an old state stands now.

Written apart from the package's own reader, so that the two can be held against each other.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from fake_forge.git_side import git

_SECTION = re.compile(r"^diff --git ", re.MULTILINE)
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_STATUS = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}


@dataclass(frozen=True)
class FileDiff:
    """One file of a diff, with the names that GitHub has for what happened to it. `patch` is None for binaries."""

    path: str
    status: str
    blob: str
    patch: str | None
    old_path: str | None = None

    def count(self, mark: str) -> int:
        """Added (`+`) or deleted (`-`) lines."""
        return sum(line.startswith(mark) for line in (self.patch or "").split("\n"))

    def position(self, line: int, side: str) -> int | None:
        """GitHub's diff position of a line: lines below the first hunk header, later headers counted."""
        for at, kind, old, new in _walk(self.patch or ""):
            if kind != "@" and (new if side == "RIGHT" else old) == line and kind != ("-" if side == "RIGHT" else "+"):
                return at
        return None

    def hunk_until(self, line: int, side: str) -> str:
        """What GitHub keeps as `diff_hunk`: the hunk from its header to that line."""
        position = self.position(line, side)
        if position is None:
            raise ValueError(f"{self.path} has no line {line} on the {side} in its diff")
        lines = (self.patch or "").split("\n")
        start = max(n for n in range(position + 1) if lines[n].startswith("@@"))
        return "\n".join(lines[start : position + 1])


def _walk(patch: str) -> list[tuple[int, str, int, int]]:
    """(position, kind, old line, new line) of each line below the first header; kind `@` is a further header."""
    found: list[tuple[int, str, int, int]] = []
    old = new = 0
    for at, line in enumerate(patch.split("\n")):
        if (header := _HUNK.match(line)) is not None:
            old, new = int(header[1]), int(header[2])
            if at:
                found.append((at, "@", 0, 0))
        elif line[:1] in (" ", "+", "-"):
            found.append((at, line[0], old, new))
            old, new = old + (line[0] != "+"), new + (line[0] != "-")
    return found


def diff(git_dir: Path, base: str, head: str) -> list[FileDiff]:
    """The diff from base to head, renames found."""
    raw = git(git_dir, "diff-tree", "-r", "-M", "--raw", "--full-index", "-z", base, head).decode().split("\x00")
    text = git(git_dir, "diff-tree", "-r", "-M", "-p", "--full-index", base, head).decode("utf-8", "replace")
    sections = _SECTION.split(text)[1:]
    found: list[FileDiff] = []
    at = 0
    while at < len(raw) - 1:
        _, _, old_blob, blob, status = raw[at].split(" ")
        moved = status[0] in "RC"
        path = raw[at + 2] if moved else raw[at + 1]
        section = sections[len(found)]
        begin = section.find("\n@@ ")
        patch = None if "\nBinary files " in section else section[begin + 1 :].rstrip("\n") if begin >= 0 else ""
        found.append(
            FileDiff(
                path,
                _STATUS[status[0]],
                old_blob if status[0] == "D" else blob,
                patch,
                raw[at + 1] if moved else None,
            )
        )
        at += 3 if moved else 2
    return found


def line_of(text: bytes, anchor: str) -> int:
    """The number of the one line that holds `anchor`."""
    numbers = [n for n, line in enumerate(text.decode().split("\n"), 1) if anchor in line]
    if len(numbers) != 1:
        raise ValueError(f"{anchor!r} stands on {len(numbers)} lines")
    return numbers[0]


def line_now(before: bytes, after: bytes | None, line: int) -> int | None:
    """Where a line stands in a later state of its file; None when it was changed or is gone."""
    if after is None:
        return None
    old, new = before.decode().split("\n"), after.decode().split("\n")
    for block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        if block.a <= line - 1 < block.a + block.size:
            return line - block.a + block.b
    return None
