"""Joins the raw entries of a commit, which name its files, with the diffs that follow them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from reviewgauge.core.parsing import first_problem
from reviewgauge.core.records import ChangedFile, FileStatus
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.log_stream import LogCommit, RawEntry
from reviewgauge.repo.git.paths import decode_path, unquote

_STATUS = {
    "A": FileStatus.ADDED,
    "D": FileStatus.DELETED,
    "R": FileStatus.RENAMED,
    "C": FileStatus.COPIED,
    "T": FileStatus.TYPE_CHANGED,
}
_TOO_LARGE = "its patch is over the limit and was left out"


@dataclass(frozen=True, slots=True)
class Blobs:
    """The two versions of a changed file as objects; empty where that side has no file. Modes are git's, in octal."""

    old: str = ""
    new: str = ""
    old_mode: str = ""
    new_mode: str = ""


@dataclass(frozen=True, slots=True)
class _Patch:
    """One file's patch from the first `@@` on; None for a binary file, one over the limit, and where none was asked."""

    text: str | None = None
    binary: bool = False
    problem: str = ""


def changed_files(found: LogCommit) -> tuple[tuple[ChangedFile, ...], tuple[Blobs, ...], tuple[Drop, ...]]:
    """The changed files of a commit, their objects one for one, and what was left out."""
    files: list[ChangedFile] = []
    blobs: list[Blobs] = []
    dropped: list[Drop] = []
    for entry, patch in zip(found.entries, _patches(found), strict=True):
        path = decode_path(entry.path)
        try:
            file = ChangedFile(
                path=path,
                old_path=None if entry.old_path is None else decode_path(entry.old_path),
                status=_STATUS.get(entry.letter, FileStatus.MODIFIED),
                patch=patch.text,
                binary=patch.binary,
            )
        except ValidationError as error:
            dropped.append(Drop(item=path[:500], by="git", reason=f"the path {first_problem(error)[1]}"))
            continue
        if patch.problem:
            dropped.append(Drop(item=path[:500], by="git", reason=patch.problem))
        files.append(file)
        blobs.append(_blobs(entry))
    return tuple(files), tuple(blobs), tuple(dropped)


def _blobs(entry: RawEntry) -> Blobs:
    has_old, has_new = entry.old_mode.strip("0") != "", entry.new_mode.strip("0") != ""
    return Blobs(
        old=entry.old if has_old else "",
        new=entry.new if has_new else "",
        old_mode=entry.old_mode if has_old else "",
        new_mode=entry.new_mode if has_new else "",
    )


def _patches(found: LogCommit) -> Iterator[_Patch]:
    """One for each entry. git prints diffs in the order of the entries; only a merge's own diff leaves some out."""
    if not found.diffs:
        yield from (_Patch() for _ in found.entries)
        return
    if any(entry.combined for entry in found.entries):
        named = dict(filter(None, map(_named, found.diffs)))
        for entry in found.entries:
            yield named.get(entry.path, _Patch(""))
        return
    counts = [2 if entry.letter == "T" else 1 for entry in found.entries]  # a change of type: a deletion, an addition
    if sum(counts) != len(found.diffs):  # not seen of git; a wrong patch would be worse than none
        yield from (_Patch(problem="git printed another number of diffs than files") for _ in found.entries)
        return
    diffs = iter(found.diffs)
    for count in counts:
        parts = [_patch(next(diffs)) for _ in range(count)]
        yield parts[0] if count == 1 else _joined(parts)


def _joined(parts: list[_Patch]) -> _Patch:
    problem = next((part.problem for part in parts if part.problem), "")
    binary = any(part.binary for part in parts)
    texts = [part.text for part in parts if part.text]
    return _Patch("\n".join(texts) if (texts or not binary) and not problem else None, binary, problem)


def _patch(diff: bytes | None) -> _Patch:
    if diff is None:
        return _Patch(problem=_TOO_LARGE)
    at = diff.find(b"\n@@")
    if at >= 0:
        text = diff[at + 1 :].decode("utf-8", "replace").removesuffix("\n")
        return _Patch(text.replace("\x00", "\ufffd"))
    return _Patch(binary=True) if b"\nBinary files " in diff else _Patch("")


def _named(diff: bytes | None) -> tuple[bytes, _Patch] | None:
    """The path and the patch of one file of a combined diff: `cc PATH` or `combined PATH` begin it."""
    if diff is None:
        return None
    name = diff.partition(b"\n")[0].partition(b" ")[2]
    return unquote(name.decode("utf-8", "surrogateescape")), _patch(diff)
