"""Files of a data set that lie in a git repository: one commit is fetched, and its files are written out.

A commit's id is the checksum of its files: git refuses objects that do not belong to it.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from reviewgauge.core.base import Record, RelPath
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import read_file, write_whole
from reviewgauge.core.protocols import Progress, Tree
from reviewgauge.datasets.files import code
from reviewgauge.datasets.files.local_files import LARGEST_FILE
from reviewgauge.repo.git.containment import git_folder
from reviewgauge.repo.git.folders import scratch_folder
from reviewgauge.repo.git.repository import Repository

DONE = "COMMIT"  # the file that names the commit once all of its files are there
_SLOW = {"http.lowSpeedLimit": "1", "http.lowSpeedTime": "60"}  # a connection that stands still for a minute
_BLOBS = ("100644", "100755")


class _Checked(Record):
    name: RelPath


def fetch_tree(
    tree: Tree, folder: Path, *, url: str | None = None, progress: Progress | None = None
) -> tuple[int, int]:
    """Bring the files into `folder`: how many there are, and how many were fetched now.

    `url` is a mirror of the repository. Raises UserError where the commit cannot be fetched.
    """
    if _named(folder) == tree.commit:
        return sum(1 for file in _files(folder, tree)), 0
    address = url or tree.url
    if not code.is_address(address):
        raise UserError(f"{address!r} is not the address of a git server", remedy=tree.url)
    with scratch_folder() as scratch:
        git = Repository(scratch)
        git.run("init", "--bare", "--quiet")
        wanted = f"+{tree.commit}:refs/reviewgauge/files"
        protocols = (urllib.parse.urlsplit(address).scheme,)
        try:
            git.run("fetch", "--quiet", "--no-tags", "--depth=1", address, wanted, protocols=protocols, settings=_SLOW)
        except UserError as error:
            raise UserError(
                f"cannot fetch commit {tree.commit[:12]} of {address}: {error.problem.rpartition('fatal: ')[2]}",
                remedy="check the connection and run it again, or give a clone with --from",
            ) from None
        written = _write(git, tree, folder, progress)
    return written, written


def take_tree(tree: Tree, source: Path, folder: Path) -> tuple[int, bool]:
    """Bring the files out of `source`: how many there are, and whether they are the official ones.

    A clone that has the commit gives that commit's files, whatever is checked out. From any other folder the files are
    copied as they lie.
    """
    if (git_folder(source) / "HEAD").is_file() and (git := Repository(source)).exists(tree.commit):
        return _write(git, tree, folder, None), True
    if source.resolve() == folder.resolve():
        raise UserError(f"{source} is the target folder itself")
    found = list(_files(source, tree))
    if not found:
        raise UserError(
            f"{source} holds none of {', '.join(tree.paths)}",
            remedy=f"give a clone of {tree.url}",
        )
    (folder / DONE).unlink(missing_ok=True)
    for name in found:
        write_whole(folder / name, read_file(source / name, LARGEST_FILE))
    return len(found), False


def _named(folder: Path) -> str:
    file = folder / DONE
    return read_file(file, 100).decode("ascii", "replace").strip() if file.is_file() else ""


def _write(git: Repository, tree: Tree, folder: Path, progress: Progress | None) -> int:
    """Write the files of the commit, and its name last."""
    blobs = [entry.path for entry in git.entries(tree.commit) if entry.mode in _BLOBS and _is_wanted(entry.path, tree)]
    if not blobs:
        raise UserError(f"commit {tree.commit} of {tree.url} holds none of {', '.join(tree.paths)}")
    (folder / DONE).unlink(missing_ok=True)
    for done, (name, content) in enumerate(git.blobs(tree.commit, blobs).items(), 1):
        if content is None:
            raise UserError(
                f"commit {tree.commit} lacks the content of {name}", remedy="clone it again, without --filter"
            )
        write_whole(folder / _Checked(name=name).name, content)
        if progress is not None:
            progress(done, len(blobs), name)
    write_whole(folder / DONE, f"{tree.commit}\n".encode())
    return len(blobs)


def _is_wanted(name: str, tree: Tree) -> bool:
    return any(PurePosixPath(name).is_relative_to(path) for path in tree.paths)


def _files(folder: Path, tree: Tree) -> Iterator[str]:
    """The files of the tree that lie in a folder, without links."""
    for path in tree.paths:
        there = folder / path
        for file in sorted(there.rglob("*")) if there.is_dir() else [there]:
            if file.is_file() and not file.is_symlink():
                yield file.relative_to(folder).as_posix()
