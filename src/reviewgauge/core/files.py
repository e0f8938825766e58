"""Files that may be somebody else's: opened without following links, plain files only, and not without a limit.

A run folder, a benchmark or a bundle may come from a stranger, and may be changed while it is open. What the user names
on the command line may be a link; what lies within the folder that was named may not.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from reviewgauge.core.errors import BadInput, UserError

LONGEST_FILE = 64 * 1024 * 1024  # bytes of a file that is read as a whole
REMEDY = "remove it if you do not know it"
_DEEPEST = 200  # levels of folders
_PIECE = 1 << 20
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # errors of a disk without room


def search_path(variable: str = "PATH") -> str:
    """A variable such as PATH without its empty and relative entries: they lie in the current folder, often others'."""
    folders = [folder for folder in os.environ.get(variable, "").split(os.pathsep) if Path(folder).is_absolute()]
    return os.pathsep.join(folders) or (os.defpath if variable == "PATH" else "")


def check_plain(folder: Path, *subfolders: str) -> None:
    """Raise UserError for a link, a device or a pipe among the entries of a folder and of those folders in it."""
    for place in (folder, *(folder / name for name in subfolders)):
        try:
            entries = list(os.scandir(place)) if place is folder or not place.is_symlink() else []
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise UserError(f"cannot read {place}: {error.strerror}") from None
        for entry in entries:
            if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
                what = "a link" if entry.is_symlink() else "neither a file nor a folder"
                raise UserError(f"{place / entry.name} is {what}, which could lead out of the folder", remedy=REMEDY)


def check_tree(folder: Path) -> None:
    """Raise UserError for a link, a device or a pipe anywhere below a folder, or in its place."""
    if folder.is_symlink():
        raise UserError(f"{folder} is a link, which could lead out of the folder", remedy=REMEDY)
    for place in _folders_below(folder):
        check_plain(place)


def files_below(folder: Path) -> Iterator[Path]:
    """The files, and the links to files, anywhere below a folder; folders behind links are left alone."""
    for place in _folders_below(folder):
        yield from (Path(entry) for entry in os.scandir(place) if entry.is_file())


def _folders_below(folder: Path) -> Iterator[Path]:
    """The folder and those below. Raises UserError for more than `_DEEPEST` levels."""
    waiting = [(folder, 0)]
    while waiting:
        place, level = waiting.pop()
        if level > _DEEPEST:
            raise UserError(f"{folder} has more than {_DEEPEST} levels of folders", remedy=REMEDY)
        try:
            inner = [Path(entry) for entry in os.scandir(place) if entry.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UserError(f"cannot read {place}: {error.strerror}") from None
        yield place
        waiting += [(one, level + 1) for one in inner]


def plain_file(path: Path, top: Path | None = None) -> Path:
    """The path of a file in a folder that the user named. Raises UserError for a link and for a pipe.

    With `top` also where a folder between the two is a link.
    """
    for place in (path, *(folder for folder in path.parents if top is not None and top in folder.parents)):
        if place.is_symlink():
            raise UserError(f"{place} is a link, which could lead out of the folder", remedy=REMEDY)
    if not path.is_file():
        raise UserError(f"{path} is not a plain file", remedy=REMEDY)
    return path


def check_unnamed(folder: Path) -> None:
    """Raise UserError where a folder that the user did not name is a link, or lies behind one in the current folder."""
    for place in (folder, *folder.parents):
        if not place.is_absolute() and place.is_symlink():
            raise UserError(
                f"{place} is a link, which could lead anywhere", remedy="remove it, or name a folder with -o"
            )


def open_within(path: Path, flags: int) -> int:
    """A descriptor of a plain file, relative to its opened folder and without following a link in its place.

    Raises UserError for a link and for what is not a plain file, and OSError for what the machine refuses.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        no_wait = os.O_NONBLOCK  # a pipe in the place of a file would wait for a reader
        found = os.open(path.name, flags | os.O_NOFOLLOW | os.O_CLOEXEC | no_wait, 0o644, dir_fd=folder)
    except OSError:
        if path.is_symlink():
            raise UserError(f"{path} is a link, which could lead out of the folder", remedy=REMEDY) from None
        raise
    finally:
        os.close(folder)
    kind = os.fstat(found)
    if not stat.S_ISREG(kind.st_mode) or (kind.st_nlink > 1 and flags & (os.O_WRONLY | os.O_RDWR)):
        os.close(found)
        what = "is not a plain file" if not stat.S_ISREG(kind.st_mode) else "is the same file as another one elsewhere"
        raise UserError(f"{path} {what}", remedy=REMEDY)
    return found


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """A plain file within a folder that may be somebody else's, to be read. Raises UserError, and OSError."""
    with os.fdopen(open_within(path, os.O_RDONLY), "rb") as stream:
        yield stream


def read_within(path: Path, most: int = LONGEST_FILE) -> bytes:
    """The whole of such a file. Raises UserError, BadInput for one over `most` bytes, and OSError."""
    with reading(path) as stream:
        return _read(stream, str(path), most)


def read_file(path: Path, most: int = LONGEST_FILE) -> bytes:
    """The whole of a file that the user named, which may be a link or a pipe. Raises BadInput, and OSError."""
    with path.open("rb") as stream:
        if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode) and not stream.isatty():
            raise BadInput(str(path), "is a device, not a file")
        return _read(stream, str(path), most)


def _read(stream: BinaryIO, source: str, most: int) -> bytes:
    pieces: list[bytes] = []
    left = most + 1
    while left > 0 and (piece := stream.read(min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    if left <= 0:
        raise BadInput(source, f"is longer than {most:,} bytes", remedy="is it the right file?")
    return b"".join(pieces)


def write_error(path: Path, error: OSError) -> UserError:
    """The UserError for a file that cannot be written."""
    if error.errno in FULL:
        return UserError(
            f"{path}: no room left to write ({error.strerror})",
            remedy="free some space and run the same command again; nothing recorded before is lost",
        )
    return UserError(f"cannot write {path}: {error.strerror or error}")


@contextmanager
def writing(path: Path, append: bool = False) -> Iterator[BinaryIO]:
    """Such a file to be written anew, or with `append` from its end. Raises UserError, and OSError."""
    if not append:
        path.unlink(missing_ok=True)  # of a killed process, or a link that somebody put there
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_EXCL)
    with os.fdopen(open_within(path, flags), "ab" if append else "wb") as stream:
        yield stream


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees all of it or none; its folder is made. Raises UserError."""
    with replacing(path) as out:
        out.write(data)


def write_named(path: Path, data: bytes | Iterable[bytes]) -> int:
    """Write a file that the user named: whole or not at all; a pipe or a device is written to directly.

    `data` may come in pieces. Returns the number of bytes.

    A link to one in a folder that may be somebody else's is replaced, as a link to a file is.
    """
    ours = not path.is_symlink() or path.is_relative_to("/dev")  # /dev/stdout is a link
    if ours and path.exists() and not path.is_file():
        opened: AbstractContextManager[BinaryIO] = path.open("wb")
    else:
        opened = replacing(path)
    with opened as out:
        return sum(map(out.write, [data] if isinstance(data, bytes) else data))


def check_page(out: str | Path | None) -> None:
    """Raise UserError where a page would replace a file of another kind: before anything is done or paid for it."""
    path = Path(out or "")
    if not path.is_file() or not path.stat().st_size:
        return
    begins = b""
    with suppress(OSError), path.open("rb") as stream:
        begins = stream.read(100)
    if b"<html" not in begins.lower():
        raise UserError(f"{path} is not an HTML page, and would be replaced", remedy="name another file")


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` when the block ends, on the disk; not if anything is raised.

    The folder of `path` is made. Raises UserError for what the machine refuses.
    """
    temporary = path.with_name(path.name + ".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(temporary) as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)  # a link in its place is replaced, not followed
        sync_folder(path.parent)
    except OSError as error:
        raise write_error(path, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- SQLite files -----------------------------------------------------------------------------------------------------
#
# A database decides more than its rows. Views and triggers compute without end, and a journal left beside it may name
# another file, which SQLite deletes once the journal is played back (https://www.sqlite.org/fileformat.html#rollbackjournal).

_LARGEST_VALUE = 1 << 28  # bytes
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")  # at a journal's end: the name of a super-journal stands before it


def open_database(path: Path, tables: Sequence[str] = (), *, timeout: float = 5.0) -> sqlite3.Connection:
    """A connection for several threads, in autocommit mode.

    `tables` are the statements that create the tables, which are run; any other table, index, view or trigger is then
    refused. Without `tables` only views and triggers are. Raises UserError, OSError and sqlite3.Error.
    """
    for side in ("", "-wal", "-shm"):
        _check_side(path.with_name(path.name + side))
    check_journal(path)
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=timeout)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
        found = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        ours = {table.replace("IF NOT EXISTS ", "") for table in tables}
        for kind, name, sql in found:
            if (ours and sql not in ours) or kind in ("view", "trigger"):
                raise UserError(f"{path} holds the {kind} {name!r}, which is not ours", remedy=REMEDY)
        for table in tables:
            connection.execute(table)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_side(path: Path) -> None:
    """Raise UserError for a link and for what is not a plain file.

    Nothing is opened: whoever closes any descriptor of a file ends all locks that its process holds on it
    (https://www.sqlite.org/howtocorrupt.html#posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
    """
    with suppress(FileNotFoundError):
        kind = path.lstat().st_mode
        if stat.S_ISLNK(kind):
            raise UserError(f"{path} is a link, which could lead out of the folder", remedy=REMEDY)
        if not stat.S_ISREG(kind):
            raise UserError(f"{path} is not a plain file", remedy=REMEDY)


def check_journal(path: Path) -> None:
    """Raise UserError where the journal beside a database names another file. Raises OSError for one that is locked."""
    journal = path.with_name(f"{path.name}-journal")
    try:
        found = open_within(journal, os.O_RDONLY)
    except FileNotFoundError:
        return
    with os.fdopen(found, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - len(_JOURNAL_MAGIC)))
        if stream.read() == _JOURNAL_MAGIC:
            raise UserError(f"{journal} names another file, which would be deleted", remedy=REMEDY)
