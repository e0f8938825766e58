"""What git reads of a repository: every path, before it is opened.

`find_escape` checks that a repository which data of others name stays within the allowed folders, `check_objects` that
it keeps all of its objects itself. `check_readable` refuses what git would wait for without end: a pipe or a device in
the place of a file.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from reviewgauge.core.errors import UserError

_MOST = 1_000  # links and borrowed folders that are looked at; more is not a repository of anybody's
_LONGEST = 1 << 20  # bytes of a file that leads elsewhere
_WHOLE = ("HEAD", "packed-refs", "shallow", "config", "config.worktree")  # what git, or we, read as a whole
_LARGEST_WHOLE = 1 << 28  # bytes
_UNREAD = frozenset(
    {"annex", "hooks", "lfs", "logs", "modules", "rr-cache"}
)  # of a git directory, by the commands that we use
_QUOTED = re.compile(r'"([^"\\]*)"')
_WORK_TREE = re.compile(r"^[ \t]*worktree[ \t]*=[ \t]*(\S.{0,4000})$", re.MULTILINE)
_UNKNOWN = Path("/")  # for a path that we do not take apart as git does: it is in no folder that is allowed


def git_folder(given: Path) -> Path:
    """The git directory of a checkout, a linked work tree (`gitdir: PATH`), or of itself."""
    inner = given / ".git"
    found = (inner if inner.exists() else given).absolute()
    if found.is_file():
        found = (found.parent / _text(found).partition("gitdir:")[2].strip()).absolute()
    return found


def find_escape(git: Path, folders: Sequence[Path]) -> Path | None:
    """The first path outside of `folders` that git would read for the repository at `git`; None where there is none.

    Follows links, the `gitdir:` and `commondir` of linked work trees, and alternates, which lend objects. What does not
    exist is allowed.
    """
    if not git.exists():
        return None
    roots = [folder.resolve() for folder in folders]
    for number, place in enumerate(_paths_read(git)):
        found = place.resolve()
        if number > _MOST or not any(found.is_relative_to(root) for root in roots):
            return found
    return None


def check_own(given: Path) -> None:
    """Raise UserError where a folder only says that its git directory is elsewhere, and that one does not know of it.

    A linked work tree is named by its git directory (`gitdir`), a submodule by `core.worktree`; a `.git` file alone, in
    a folder of others, could name any repository of this machine.
    """
    folder, inner = git_folder(given), given / ".git"
    common = _common(folder)
    home = folder.resolve().parent
    known = common == folder or (home.name == "worktrees" and home.parent == common.resolve())
    if known and inner.is_file():
        tree = _WORK_TREE.search(_text(folder / "config"))
        named = [_text(folder / "gitdir").strip(), f"{tree[1]}/.git" if tree else ""]
        known = any(name and (folder / name).resolve() == inner.resolve() for name in named)
    if not known:
        elsewhere = folder if common == folder else common
        raise UserError(
            f"{given} says that its repository is {elsewhere}, which does not know of it",
            remedy="name that one if you mean it",
        )


def check_objects(folder: Path) -> None:
    """Raise UserError where the git directory `folder` borrows objects from elsewhere, or has links to some."""
    top = folder.resolve()
    found = next((path for path in _object_paths(top / "objects") if not path.resolve().is_relative_to(top)), None)
    if found is not None:
        raise UserError(
            f"{folder} borrows objects, which are not read: {found} lies elsewhere, or is a link",
            remedy="clone it first: git clone --no-local --bare SOURCE COPY",
        )


def check_readable(folder: Path) -> bool:
    """Whether the configuration of the git directory `folder` includes other files.

    Raises UserError for a pipe or a device: git would wait for it, or read it, for ever.
    """
    try:
        states = [(folder / name).stat().st_mtime_ns for name in (".", "config") if (folder / name).exists()]
        return _check_readable(folder, *states)
    except OSError as error:
        raise UserError(f"{folder} cannot be read: {error.strerror}") from None


@lru_cache(maxsize=4096)
def _check_readable(folder: Path, *_: int) -> bool:
    for place in _paths_read(folder):
        try:
            kind = place.stat().st_mode
        except (OSError, ValueError):  # a link to nowhere
            continue
        if stat.S_ISFIFO(kind) or stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            what = "a pipe" if stat.S_ISFIFO(kind) else "a device"
            raise UserError(f"{place} is {what}, not a file", remedy="is it a repository that you know?")
    for place in {folder, _common(folder)}:
        for file in (place / name for name in _WHOLE):
            if file.is_file() and file.stat().st_size > _LARGEST_WHOLE:
                raise UserError(f"{file} is over {_LARGEST_WHOLE:,} bytes", remedy="is it a repository that you know?")
    found = [folder / "config", folder / "config.worktree", _common(folder) / "config"]
    return any("include" in _text(file).lower() for file in found)


def _paths_read(git: Path) -> Iterator[Path]:
    """Folders that git reads, links in them wherever they are, and whatever is neither a file nor a folder."""
    yield git
    if not git.is_dir():
        return
    yield git / ".git"
    folder = git_folder(git)
    yield folder
    yield from _odd_entries(folder)
    if (common := _common(folder)) != folder:
        yield common
        yield from _odd_entries(common)
    yield from _object_paths(common / "objects")


def _object_paths(top: Path) -> Iterator[Path]:
    """A folder of objects, links in it, and the same of those that it borrows from."""
    objects, seen = [top], set[Path]()
    while objects:
        place = objects.pop()
        yield place
        if (same := place.resolve()) in seen:
            continue
        seen.add(same)
        yield from _odd_entries(place)
        for line in _text(place / "info" / "alternates").split("\n"):
            if line and not line.startswith("#"):
                objects.append(place / _alternate(line))


def _common(folder: Path) -> Path:
    """The git directory that a linked work tree shares, as git reads `commondir`; else the folder itself."""
    text = _text(folder / "commondir").rstrip("\r\n")
    return folder / text if text else folder


def _alternate(line: str) -> Path:
    if line.startswith('"'):
        quoted = _QUOTED.fullmatch(line)
        return Path(quoted[1]) if quoted else _UNKNOWN
    return Path(line)


def _odd_entries(top: Path) -> Iterator[Path]:
    """What is below a git directory, or a folder of objects, and neither a plain file nor a folder."""
    todo = [os.fspath(top)]
    while todo:
        folder = todo.pop()
        try:
            entries = os.scandir(folder)
        except (FileNotFoundError, NotADirectoryError, PermissionError):  # what we may not read, git may not
            continue
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if folder != os.fspath(top) or entry.name not in _UNREAD:
                        todo.append(entry.path)
                elif not entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)


def _text(file: Path) -> str:
    """The beginning of a plain file; empty where there is none."""
    if not file.is_file():
        return ""
    with file.open("rb") as stream:
        return os.fsdecode(stream.read(_LONGEST))
