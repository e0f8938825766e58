"""Looks for a text in the files of a commit by `git grep`, within limits of time and of what it prints.

The text is looked for as it is, never as a pattern: one that takes for ever, or all of the memory, cannot be asked for.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reviewgauge.repo.git.repository import Repository, check_commit
from reviewgauge.repo.paths import decode_path, encode_path
from reviewgauge.repo.processes import end_group, pieces

_MOST_BYTES = 2_000_000  # that git may print
_IN_A_FILE = 1_000  # hits
_LONGEST = 30_000  # characters of an argument, four bytes each at worst: systems allow 128 KiB
_MOST_EXCLUDED = 1_000  # paths, each of which git compares with every file
_EXCLUDED_BYTES = 400_000  # of these paths: systems allow about a megabyte of arguments


class Hit(NamedTuple):
    """A line that holds the text."""

    path: str
    line: int
    text: str


class Hits(NamedTuple):
    """The hits in the order of the paths. `cut`: why there may be more of them, empty where these are all."""

    found: tuple[Hit, ...]
    cut: str = ""


def search_text(
    repository: Repository,
    commit: str,
    text: str,
    *,
    below: str = "",
    without: Iterable[str] = (),
    words: bool = False,
    ignore_case: bool = False,
    seconds: float = 10.0,
) -> Hits:
    """The lines of the commit's text files that hold `text`, of the file or folder `below` alone where it is given.

    `without` are paths that are left out, `words` wants whole words. Raises UserError where git does not start.
    """
    check_commit(commit)
    if not text or "\n" in text or "\x00" in text:
        return Hits(())
    if len(text) + len(below) > _LONGEST:
        return Hits((), f"a text and a path of {_LONGEST:,} characters at most can be looked for")
    left_out = frozenset(without)
    options = ["-n", "-z", "-I", "-F", "--full-name", "--threads=2", f"--max-count={_IN_A_FILE}"]
    options += ["-w"] * words + ["-i"] * ignore_case
    where = [_pathspec("literal", below)] if below else []
    where += _exclusions(left_out)
    asked = ("grep", "--no-column", *options, "-e", text, commit, "--", *where)
    with repository.start(*asked, stderr=subprocess.DEVNULL) as process:
        try:
            printed, cut = _printed(process, seconds)
        finally:
            end_group(process)
    if not cut and process.returncode not in (0, 1):
        cut = "git could not read all of the files"
    return Hits(tuple(hit for hit in _hits(printed, len(commit) + 1) if hit.path not in left_out), cut)


def _exclusions(paths: Iterable[str]) -> Iterator[str]:
    """As many as a command line holds. Lines of the other paths are dropped when they come."""
    left = _EXCLUDED_BYTES
    for path in sorted(paths, key=len)[:_MOST_EXCLUDED]:
        left -= len(encode_path(path))
        if left < 0 or len(path) > _LONGEST:
            return
        yield _pathspec("exclude,literal", path)


def _pathspec(magic: str, path: str) -> str:
    return f":({magic}){encode_path(path).decode('utf-8', 'surrogateescape')}"


def _printed(process: subprocess.Popen[bytes], seconds: float) -> tuple[bytes, str]:
    """What a process prints until its end, and which limit ended it before."""
    assert process.stdout is not None
    out = bytearray()
    try:
        for _, piece in pieces([process.stdout.fileno()], time.monotonic() + seconds):
            out += piece
            if len(out) > _MOST_BYTES:
                return bytes(out), f"the search ended after {_MOST_BYTES // 1_000_000} MB of lines"
    except TimeoutError:
        return bytes(out), f"the search ended after {seconds:g} seconds"
    process.wait()
    return bytes(out), ""


def _hits(printed: bytes, prefix: int) -> Iterator[Hit]:
    """The hits in git's output, of which the last may be cut off: COMMIT:PATH NUL LINE NUL TEXT."""
    at = 0
    while (name := printed.find(b"\x00", at)) >= 0 and (number := printed.find(b"\x00", name + 1)) >= 0:
        end = printed.find(b"\n", number)
        end = end if end >= 0 else len(printed)
        text = printed[number + 1 : end].decode("utf-8", "replace")
        yield Hit(decode_path(printed[at + prefix : name]), int(printed[name + 1 : number]), text)
        at = end + 1
