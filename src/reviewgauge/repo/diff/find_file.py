"""Which file of a change a claimed path names: absolute paths, prefixes of diffs, old names."""

from __future__ import annotations

import re

from reviewgauge.core.records import Change, ChangedFile, FileStatus

_DRIVE = re.compile(r"/?[A-Za-z]:(?=/)")


def relative_path(path: str, root: str | None = None) -> str:
    """`path` with forward slashes, below `root` where it lies there, without a leading `./`.

    An absolute path outside `root` stays absolute (it begins with `/`), a drive letter is taken off.
    """
    clean = _slashed(path)
    if root:
        folder = _slashed(root).rstrip("/") + "/"
        if clean.startswith(folder):
            clean = clean[len(folder) :].lstrip("/")
    while clean.startswith("./"):
        clean = clean[2:].lstrip("/")
    return clean


def _slashed(path: str) -> str:
    clean = path.strip().replace("\\", "/")
    if clean.lower().startswith("file://"):
        clean = "/" + clean[7:].removeprefix("localhost").lstrip("/")
    return _DRIVE.sub("", clean, count=1) if _DRIVE.match(clean) else clean


def find_file(path: str, change: Change, root: str | None = None) -> ChangedFile | None:
    """The changed file that `path` names, None when it is not part of the change.

    By its path, then its old path, then without the `a/` or `b/` of diffs; an absolute path outside `root` by the
    longest of its ends that is a changed file.
    """
    if (found := _named(relative_path(path), change)) is not None:
        return found
    clean = relative_path(path, root)
    if not clean.startswith("/"):
        found = _named(clean, change)
        if found is None and clean.startswith(("a/", "b/")):
            found = _named(clean[2:], change)
        return found
    parts = clean.lstrip("/").split("/")
    return next((f for i in range(len(parts)) if (f := _named("/".join(parts[i:]), change)) is not None), None)


def _named(path: str, change: Change) -> ChangedFile | None:
    return next((f for f in change.files if f.path == path), None) or next(
        (f for f in change.files if f.old_path == path and f.status is not FileStatus.COPIED), None
    )
