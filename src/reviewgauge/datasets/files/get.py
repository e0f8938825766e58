"""`reviewgauge get`: fetches a data set's files, each verified by its checksum, and the code behind its changes.

Only the addresses on a card are called. A file takes its place once it is complete and verified; an interrupted
download is resumed, and verified files are not fetched again.

Files of a data set that lie in a git repository: one commit is fetched, and its files are written out.

A commit's id is the checksum of its files: git refuses objects that do not belong to it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
import urllib.parse
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import IO, Literal, NamedTuple, TypeVar

import urllib3

from reviewgauge.core.base import Record, RelPath
from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.files import read_file, replacing, write_whole, writing
from reviewgauge.core.protocols import Dataset, Origin, Progress, Tree
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import plugin_name
from reviewgauge.datasets.files import code
from reviewgauge.datasets.files.local_files import LARGEST_FILE, data_home, locate
from reviewgauge.repo.forge.replies import connection_pool, network_problem
from reviewgauge.repo.git.containment import git_folder
from reviewgauge.repo.git.folders import scratch_folder
from reviewgauge.repo.git.repository import Repository

D = TypeVar("D", bound=Dataset)


DONE = "COMMIT"  # the file that names the commit once all of its files are there
_SLOW = {"http.lowSpeedLimit": "1", "http.lowSpeedTime": "60"}  # a connection that stands still for a minute
_BLOBS = ("100644", "100755")


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


class FilesGot(NamedTuple):
    """The folder of the files, their number, how many were fetched now, and which are not the official version."""

    folder: Path
    files: int
    fetched: int
    differs: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class CodeGot(NamedTuple):
    """Repositories with code, changes fetched now and before, and each failure with its reason."""

    repositories: int
    fetched: int
    at_hand: int
    failed: tuple[Drop, ...]


def fetch_files(
    dataset: Dataset,
    *,
    source: str | Path | None = None,
    out: str | Path | None = None,
    base_url: str | None = None,
    progress: Progress | None = None,
) -> FilesGot:
    """Bring the files of `dataset` from their public origin, or from the folder `source`, into `out` or the data home.

    `base_url` is a mirror that holds the files under their names, or of their git repository. Raises UserError.
    """
    name = plugin_name(dataset)
    origins, tree = dataset.card.files, dataset.card.tree
    if tree is not None:
        folder = Path(out).expanduser() if out else data_home() / name
        if source is None:
            files, now = fetch_tree(tree, folder, url=base_url, progress=progress)
            return FilesGot(folder, files, now)
        files, official = take_tree(tree, Path(source).expanduser(), folder)
        return FilesGot(folder, files, files, () if official else (f"what lies in {source}",))
    if not origins:
        where = Path(out).expanduser() if out else data_home() / name
        files = dataset.check_out(where)
        return FilesGot(where, files, files)
    folder = Path(out).expanduser() if out else data_home() / name
    if source is not None:
        taken = take(origins, Path(source).expanduser(), folder)
        by_state = {state: tuple(t.name for t in taken if t.state == state) for state in ("differs", "absent")}
        there = len(taken) - len(by_state["absent"])
        return FilesGot(folder, there, there, by_state["differs"], by_state["absent"])
    done = fetch(origins, folder, base_url=base_url, progress=progress)
    return FilesGot(folder, len(done), sum(file.state == "fetched" for file in done))


def fetch_code(
    dataset: Dataset, folder: str | Path, *, forge: str = code.GITHUB, progress: Progress | None = None
) -> CodeGot:
    """Fetch the commits behind the changes of `dataset`, whose files are in `folder`, into mirrors in `folder/code`.

    Raises UserError for a data set that names no commits.
    """
    name = plugin_name(dataset)
    where = locate(name, str(folder))
    cases = list(_bare(dataset, where).cases())
    named = [case for case in cases if case.change.base and case.change.head]
    if not named:
        raise UserError(f"{name} names no commits, so there is no code to fetch")
    path = dataset.card.code_at
    totals = code.fetch_code(named, where / code.CODE, forge=forge, path=path, progress=progress)
    repositories = len({key.repo for key in code.read_diffs(where / code.CODE)})
    return CodeGot(repositories, totals.fetched, totals.at_hand, totals.failed)


def _bare(dataset: D, folder: Path) -> D:
    """The data set without its code: with it, the base would already be the merge base."""
    assert dataclasses.is_dataclass(dataset)
    changes: dict[str, object] = {"path": str(folder)}
    if any(field.name == "code" for field in dataclasses.fields(dataset)):
        changes["code"] = False
    return dataclasses.replace(dataset, **changes)


TIMEOUT = 30.0  # seconds without a byte
LARGEST = 4 * 1024**3  # bytes; a larger size on a card is a mistake
_PIECE = 256 * 1024
_REDIRECTS_ONLY = urllib3.Retry(total=None, connect=0, read=0, status=0, other=0, redirect=10)


class Fetched(NamedTuple):
    """One file after `fetch`: fetched now or already there."""

    name: str
    state: Literal["fetched", "at hand"]
    bytes: int


class Taken(NamedTuple):
    """One file after `take`: the official version, another one, or absent."""

    name: str
    state: Literal["official", "differs", "absent"]


class _Checked(Record):
    name: RelPath


def fetch(
    origins: Iterable[Origin], target: Path, *, base_url: str | None = None, progress: Progress | None = None
) -> list[Fetched]:
    """Bring every file of `origins` into `target`.

    `base_url` is a mirror that serves each file at `base_url/NAME`. Raises UserError for the first file that cannot be
    fetched or is not the official version; earlier ones stay.
    """
    done = []
    for origin in origins:
        place = _place(target, origin.name)
        if place.is_file() and place.stat().st_size == origin.size and _sha256(place) == origin.sha256:
            done.append(Fetched(origin.name, "at hand", origin.size))
        else:
            url = origin.url if base_url is None else f"{base_url.rstrip('/')}/{urllib.parse.quote(origin.name)}"
            _fetch_one(origin, url, place, progress)
            done.append(Fetched(origin.name, "fetched", origin.size))
        if progress is not None:
            progress(origin.size, origin.size, origin.name)
    return done


def take(origins: Iterable[Origin], source: Path, target: Path) -> list[Taken]:
    """Copy the data set's files from the folder `source` into `target`; the result says which are official.

    Other versions are copied too, since people keep excerpts. Raises UserError where there are none.
    """
    if not source.is_dir():
        raise UserError(f"{source} is not a folder", remedy="give the folder that holds the data set's files")
    wanted = list(origins)
    if source.resolve() == target.resolve():
        raise UserError(f"{source} is the target folder itself")
    if not any((source / origin.name).is_file() for origin in wanted):
        raise UserError(f"{source} holds none of {', '.join(origin.name for origin in wanted[:3])} ...")
    return [_take_one(origin, source / origin.name, _place(target, origin.name)) for origin in wanted]


def _take_one(origin: Origin, source: Path, place: Path) -> Taken:
    if not source.is_file():
        return Taken(origin.name, "absent")
    try:
        with source.open("rb") as given, replacing(place) as copy:
            shutil.copyfileobj(given, copy)
        same = place.stat().st_size == origin.size and _sha256(place) == origin.sha256
    except OSError as error:
        raise UserError(f"cannot copy {source} to {place}: {error.strerror}") from None
    return Taken(origin.name, "official" if same else "differs")


def _place(target: Path, name: str) -> Path:
    return target / _Checked(name=name).name  # refuses names that leave the folder


def _part(place: Path) -> Path:
    return place.with_name(place.name + ".part")


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch_one(origin: Origin, url: str, place: Path, progress: Progress | None) -> None:
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise UserError(f"{origin.name}: {url} is not an http or https address")
    if origin.size > LARGEST:
        raise UserError(f"{origin.name} has {origin.size:,} bytes on its card, over {LARGEST:,}")
    part = _part(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if part.is_file() and part.stat().st_size > origin.size:
            part.unlink()
        if not part.is_file() or part.stat().st_size < origin.size:
            _download(origin, url, part, progress)
        found = part.stat().st_size
        if found < origin.size:
            raise UserError(
                f"{origin.name}: {url} ended after {found:,} of {origin.size:,} bytes", remedy="run it again to resume"
            )
        if _sha256(part) != origin.sha256:
            part.unlink()
            raise UserError(
                f"{origin.name}: {url} is not the official version (wrong checksum)",
                remedy="the download was deleted; try again, or give the files with --from",
            )
        part.replace(place)
    except OSError as error:
        raise UserError(f"{origin.name}: cannot write {place}: {error.strerror or error}") from None


def _download(origin: Origin, url: str, part: Path, progress: Progress | None) -> None:
    """Append the missing bytes to `part`. Stops one byte after the size on the card."""
    start = part.stat().st_size if part.is_file() else 0
    headers = {"User-Agent": "reviewgauge", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        with connection_pool(url).request(
            "GET",
            url,
            headers=headers,
            timeout=TIMEOUT,
            retries=_REDIRECTS_ONLY,
            preload_content=False,
            enforce_content_length=False,  # a partial file is kept, to be resumed
        ) as answer:
            if answer.status >= HTTPStatus.BAD_REQUEST:
                if answer.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                    part.unlink()
                raise UserError(f"{origin.name}: {url} answered {answer.status} {one_line(answer.reason or '', 60)}")
            if start and answer.status != HTTPStatus.PARTIAL_CONTENT:
                start = 0  # a server without range support sends the whole file
            with writing(part, append=start > 0) as stream:
                whole = _copy(answer, stream, origin, start, progress)
            if not whole:
                part.unlink()
                raise UserError(f"{origin.name}: {url} sends more than the official {origin.size:,} bytes")
    except urllib3.exceptions.HTTPError as error:
        raise UserError(
            f"{origin.name}: cannot reach {url}: {network_problem(error)}",
            remedy="check the connection and run it again, or give the files with --from",
        ) from None


def _copy(
    answer: urllib3.BaseHTTPResponse, stream: IO[bytes], origin: Origin, start: int, progress: Progress | None
) -> bool:
    """Whether the answer was not longer than the file should be."""
    done = start
    while piece := answer.read(_PIECE):
        done += len(piece)
        if done > origin.size:
            return False
        stream.write(piece)
        if progress is not None:
            progress(done, origin.size, origin.name)
    return True
