"""Errors for what git prints when it fails: one line, with what to do about it."""

from __future__ import annotations

import re
from pathlib import Path

from reviewgauge.core.errors import UserError

_FULL = r"no space left on device|out of disk ?space|disk quota exceeded"
_MAKE_ROOM = "free some space and run the same command again; what was recorded is kept"
_REMEDIES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), remedy)
    for pattern, remedy in (
        (_FULL, _MAKE_ROOM),
        (
            r"promisor|could not fetch [0-9a-f]{40}|lazy fetching",
            "objects of a partial clone are missing: clone the repository again without --filter",
        ),
        (
            r"does not have any commits|unknown revision|bad default revision|bad revision|ambiguous argument"
            r"|needed a single revision|not a valid object name",
            "the repository has no such branch or commit: name one that it has; an empty repository has none",
        ),
        (
            r"corrupt|inflate|unable to read|could not read|cannot read|is empty$|bad object|bad tree|not a tree"
            r"|object file .* is empty|missing (?:tree|blob|commit)|failed to (?:read|traverse)|loose object"
            r"|packfile|not a commit|unable to (?:unpack|parse)",
            "objects are damaged or missing: `git fsck` names them; clone the repository again",
        ),
        (r"unknown repository extension|repo(?:sitory)? version|reftable", "a newer git is needed"),
        (r"not a git repository", "name a folder that holds a git repository"),
        (r"permission denied|insufficient permission", "the files of the repository cannot be read by this account"),
        (r"out of memory|malloc|mmap failed|cannot allocate", "a file of the repository is too large for this machine"),
    )
)
_NOISE = ("hint:", "warning:", "remote: Enumerating", "remote: Counting", "remote: Compressing")


def is_full(message: str) -> bool:
    """Whether git's message says that the disk is full."""
    return re.search(_FULL, message, re.IGNORECASE) is not None


def no_room(path: Path) -> UserError:
    """The error for a disk that was full when git wrote to `path`."""
    return UserError(f"{path}: no room left to write", remedy=_MAKE_ROOM)


def git_error(command: str, name: str, message: str, code: int) -> UserError:
    """The error for `git command` that ended with `code` in the repository `name` and printed `message`."""
    lines = [line.strip() for line in message.splitlines() if line.strip() and not line.startswith(_NOISE)]
    if not lines:
        lines = [f"ended by signal {-code}" if code < 0 else f"exit code {code}"]
    text = "; ".join(lines)
    remedy = next((remedy for pattern, remedy in _REMEDIES if pattern.search(text)), "")
    return UserError(f"git {command} failed in {name}: {text}", remedy=remedy)
