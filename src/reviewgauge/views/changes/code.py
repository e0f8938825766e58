"""The code around the hunks of a change, read from its repository once, before pages show it.

The lines between hunks are the same on both sides, so the file after the change holds them all. A text that does not
fit the diff to the letter is left out, and so is what is large: pages then show the diff alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reviewgauge.core.base import Prose, Record, Text
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Change, ChangedFile, FileStatus, Span
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.repo.git.blobs import BlobReader, file_name
from reviewgauge.repo.git.repository import Repository

LARGEST = 500_000  # bytes of a file
_OF_A_CHANGE = 4_000_000  # characters of all files of one change

Texts = dict[str, str]  # the text of a file after the change, by its path


class ShownText(Record):
    """A comment, a claim or a reference as a page shows it: its place and words, never its author, system or id."""

    body: Prose
    span: Span | None = None
    quote: Text | None = None


def texts_of(changes: Mapping[str, Change], repo: str | Path | None = None) -> dict[str, Texts]:
    """The changed files of each change, by its case, whose repository is at hand: `repo`, or the one that it names.

    Raises UserError where `repo` is given and holds none of them.
    """
    found: dict[str, Texts] = {}
    readers: dict[str, BlobReader] = {}
    try:
        for case, change in changes.items():
            git = str(repo or change.git or "")
            if not git or change.head is None or not Path(git).is_dir():
                continue
            if git not in readers:
                readers[git] = BlobReader(Repository(Path(git)), LARGEST)
            if texts := _texts(change, change.head, readers[git]):
                found[case] = texts
    finally:
        for reader in readers.values():
            reader.close()
    if repo is not None and not found:
        raise UserError(f"{repo} holds none of the changes", remedy="name a clone that has their commits")
    return found


def _texts(change: Change, head: str, reader: BlobReader) -> Texts:
    wanted = [file for file in change.files if file.patch and file.status is not FileStatus.DELETED and not file.binary]
    names = [file_name(head, file.path) for file in wanted]
    found: Texts = {}
    left = _OF_A_CHANGE
    for file, raw in zip(wanted, reader.read_many(names), strict=True):
        text = (raw or b"").decode("utf-8", "replace")
        if len(text) <= left and fits(file, text):
            found[file.path] = text
            left -= len(text)
    return found


def lines_of(text: str) -> list[str]:
    """The lines of a file, as diffs count them."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def fits(file: ChangedFile, text: str) -> bool:
    """Whether a text is the file after its patch, as far as the patch tells, with whole hunks in order."""
    lines, old, new = lines_of(text), 1, 1
    hunks = parse_patch(file.patch or "")
    for hunk in hunks:
        before, after = starts(hunk)
        shown = [(line.new, line.text) for line in hunk.lines if line.new is not None]
        whole = len(shown) == hunk.new_count and sum(line.old is not None for line in hunk.lines) == hunk.old_count
        if not whole or after < new or after - new != before - old:
            return False
        if any(at > len(lines) or lines[at - 1] != one for at, one in shown):
            return False
        old, new = before + hunk.old_count, after + hunk.new_count
    return bool(hunks) and "\x00" not in text


def starts(hunk: Hunk) -> tuple[int, int]:
    """The first line of a hunk before and after the change; git names the line before where there is none."""
    return hunk.old_start + (hunk.old_count == 0), hunk.new_start + (hunk.new_count == 0)
