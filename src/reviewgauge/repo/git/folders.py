"""Temporary folders that are removed whatever a program put into them, and the files of a commit in a folder.

Contents are blobs as they are: no filter, attribute or line-end setting applies. A symbolic link becomes a file that
holds its target, a submodule an empty folder.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.blobs import BlobReader
from reviewgauge.repo.git.repository import Repository, TreeEntry, is_sound
from reviewgauge.repo.paths import encode_path, refuses_name

_OURS = "reviewgauge-code-"


@contextmanager
def scratch_folder(within: Path | None = None) -> Iterator[Path]:
    """A new folder in `within` (the system's own for temporary files by default), removed with all that is in it then.

    It is locked as long as this process lives: the first call of a later one removes what a killed one left. Raises
    UserError where it cannot be made.
    """
    place = Path(within or tempfile.gettempdir())
    try:
        _remove_left_behind(place)
        top, lock = _locked_folder(place)
    except OSError as error:
        raise UserError(f"cannot make a folder for temporary files: {error}") from None
    try:
        yield top
    finally:
        remove_tree(top)
        os.close(lock)


def _locked_folder(place: Path) -> tuple[Path, int]:
    """A new folder and the descriptor of its lock; once more where another process took it for one left behind."""
    while True:
        top = Path(tempfile.mkdtemp(prefix=_OURS, dir=place)).resolve()
        with suppress(FileNotFoundError):
            lock = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(OSError):  # a file system without locks, where nobody can take the folder either
                fcntl.flock(lock, fcntl.LOCK_EX)
            if top.exists():
                return top, lock
            os.close(lock)


@cache
def _remove_left_behind(place: Path) -> None:
    """Remove this user's folders of processes that were killed."""
    for top in place.glob(f"{_OURS}*"):
        with suppress(OSError):
            lock = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(lock).st_uid == os.geteuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_tree(top)
            finally:
                os.close(lock)


def remove_tree(top: Path) -> None:
    """Remove `top` and what is in it as far as it can be removed: folders that are locked or too deep for a path too.

    Nothing outside of `top` is touched, also where `top` is gone or has become a link. Each folder is moved up before
    it is emptied, so that neither the length of a path nor the depth of the tree matters.
    """
    name = f".{secrets.token_hex(8)}-"
    if top.is_symlink() or not top.is_dir():
        return
    todo, count = [top], 0
    while todo:
        folder = todo.pop()
        with suppress(OSError):
            folder.chmod(0o700)
        for entry in _entries(folder):
            with suppress(OSError):
                if entry.is_symlink() or not entry.is_dir():
                    entry.unlink()
                    continue
                entry.chmod(0o700)  # a locked folder cannot be moved
                count += 1
                todo.append(entry.rename(top / f"{name}{count}"))
        if folder != top:
            with suppress(OSError):
                folder.rmdir()
    with suppress(OSError):
        top.rmdir()


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


LARGEST = 50_000_000  # bytes of a file; what is larger is left out and counted
LINK, MODULE, RUNS = "120000", "160000", "100755"
BY = "workspace"


class TreeFiles(NamedTuple):
    """The entries that can be in a folder, those that cannot, each with why, and how many files are not there."""

    entries: list[TreeEntry]
    left_out: list[Drop]
    missing: int
    files: int

    def words(self, name: str, commit: str) -> str:
        """A sentence about what is missing; `name` is the repository's."""
        return f"{name} holds only {self.files - self.missing:,} of the {self.files:,} files of {commit[:12]}"


def read_tree(repository: Repository, commit: str) -> TreeFiles:
    """The entries of the commit's tree that can be files in a folder, and those that cannot."""
    entries = list(repository.entries(commit))
    drops = [Drop(item=entry.path, by=BY, reason=why) for entry, why in _refused(entries)]
    refused = {drop.item for drop in drops}
    sound = [entry for entry in entries if entry.path not in refused]
    files = [entry for entry in sound if entry.mode != MODULE]
    with BlobReader(repository, LARGEST) as blobs:
        looked = zip(files, blobs.look_many(entry.id for entry in files), strict=True)
        problems = {entry.path: found for entry, found in looked if found.problem}
    for path, found in problems.items():
        here = found.size is not None
        reason = f"is larger than {LARGEST // 1_000_000} MB" if here else "is not in the repository"
        drops.append(Drop(item=path, by=BY, reason=reason, detail=found.problem))
    missing = sum(found.size is None for found in problems.values())
    return TreeFiles([entry for entry in sound if entry.path not in problems], drops, missing, len(files))


def write_files(repository: Repository, folder: Path, entries: Sequence[TreeEntry]) -> Iterator[Drop]:
    """Write the entries below `folder`, which is new; a Drop for each that is not there as it was in the commit.

    Raises OSError for other problems, such as a full disk: half of the code would look like all of it.
    """
    files = [entry for entry in entries if entry.mode != MODULE]
    with BlobReader(repository, LARGEST) as blobs:
        for entry, content in zip(files, blobs.read_many(entry.id for entry in files), strict=True):
            problem = _write(_target(folder, entry), entry.mode, content) if content is not None else "is damaged"
            if not problem and entry.mode == LINK:
                problem = "is a symbolic link: a file with its target"
            if problem:
                yield Drop(item=entry.path, by=BY, reason=problem)
    for entry in entries:
        if entry.mode == MODULE:
            problem = _write(_target(folder, entry), MODULE, b"")
            yield Drop(item=entry.path, by=BY, reason=problem or "is a submodule: an empty folder")


def export_files(
    repository: Repository, commit: str, folder: Path, paths: Iterable[str] | None = None
) -> tuple[Drop, ...]:
    """Write the files of `commit` (all, or `paths`) below `folder` under the paths that records have.

    Links, submodules, names that leave the folder and files that it does not have are not written: they are
    returned as Drops. `folder` must be new or empty, so that no link in it can lead elsewhere. Raises UserError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise UserError(f"{folder} is not empty", remedy="name a new folder")
    tree = {entry.path: entry for entry in repository.entries(commit)}
    wanted = list(dict.fromkeys(tree if paths is None else paths))
    problems = {path: why for path in wanted if (why := _refusal(tree.get(path), path))}
    try:
        for path, content in repository.blobs(commit, (path for path in wanted if path not in problems)).items():
            if problem := _write(folder / path, "", content or b""):
                problems[path] = problem
    except OSError as error:  # a full disk: a part of the files would look like all
        raise UserError(f"cannot write {folder}: {error.strerror}") from None
    return tuple(Drop(item=path, by="git", reason=why) for path, why in problems.items())


def _refusal(entry: TreeEntry | None, path: str) -> str:
    if entry is None:
        return "the commit has no such file"
    if entry.mode == LINK:
        return "is a symbolic link"
    if entry.mode == MODULE:
        return "is a submodule"
    if not is_sound(path) or path.startswith(("/", "~")) or "\\" in path:
        return "leaves its folder or is named like git's own"
    return ""


def _refused(entries: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, str]]:
    """The entries that may not be in a workspace, with why."""
    paths = {entry.path for entry in entries}
    seen: set[str] = set()
    for entry in entries:
        parents = accumulate(entry.path.split("/")[:-1], "{}/{}".format)
        if not is_sound(entry.path):
            yield entry, "has a name that leaves the folder or is git's own"
        elif entry.path in seen or not paths.isdisjoint(parents):
            yield entry, "occurs twice in the tree"
        elif entry.mode == LINK and entry.path.rpartition("/")[2].lower() == ".gitmodules":
            yield entry, "is a link where git wants a file"
        seen.add(entry.path)


def _target(folder: Path, entry: TreeEntry) -> Path:
    return Path(os.fsdecode(os.path.join(os.fsencode(folder), encode_path(entry.path))))  # noqa: PTH118 - bytes


def _write(target: Path, mode: str, content: bytes) -> str:
    """Write one new file, or make the folder of a submodule; the problem, empty where there was none."""
    try:
        if mode == MODULE:
            target.mkdir(parents=True, exist_ok=True)
            return ""
        target.parent.mkdir(parents=True, exist_ok=True)
        rights = 0o777 if mode == RUNS else 0o666
        with open(target, "xb", opener=lambda path, flags: os.open(path, flags, rights)) as file:
            file.write(content)
    except (FileExistsError, NotADirectoryError) as error:
        return _not_here(error) if mode == MODULE else "another file has this name on this file system"
    except OSError as error:
        return _not_here(error)
    return ""


def _not_here(error: OSError) -> str:
    """Why a file cannot be on this file system, whatever room there is."""
    if not refuses_name(error):
        raise error
    return f"cannot be written: {error.strerror}"
