"""`reviewgauge get`: fetches a data set's files, each verified by its checksum, and the code behind its changes.

Only the addresses on a card are called. A file takes its place once it is complete and verified; an interrupted
download is resumed, and verified files are not fetched again. Files in a git repository are those of one commit, whose
id is their checksum: git refuses objects that do not belong to it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import shutil
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, TypeVar

import urllib3

from reviewgauge.core.base import Record, RelPath
from reviewgauge.core.data_card import Card, Origin, Tree
from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.files import read_file, replacing, write_whole, writing
from reviewgauge.core.protocols import Dataset, Progress
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
TIMEOUT = 30.0  # seconds without a byte
LARGEST = 4 * 1024**3  # bytes; a larger size on a card is a mistake
_SLOW = {"http.lowSpeedLimit": "1", "http.lowSpeedTime": "60"}  # a connection that stands still for a minute
_BLOBS = ("100644", "100755")
_PIECE = 256 * 1024
_COMMIT = re.compile(r"[0-9a-f]{40}")
_IN_COMMIT = re.compile(rf"/{_COMMIT.pattern}/(?P<path>.+)")
_REDIRECTS_ONLY = urllib3.Retry(total=None, connect=0, read=0, status=0, other=0, redirect=10)


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
    commit: str = "",
    progress: Progress | None = None,
) -> FilesGot:
    """Bring the files of `dataset` from their public origin, or from the folder `source`, into `out` or the data home.

    `commit` is another version than the card's, into a folder of its own: 40 hex digits. From a folder other versions
    are taken, too, since people keep excerpts; the result names them. Raises UserError.
    """
    name, origins = plugin_name(dataset), dataset.card.files
    tree = _tree_at(dataset.card, commit, name) if commit else dataset.card.tree
    folder = Path(out).expanduser() if out else data_home() / (f"{name}-{commit[:12]}" if commit else name)
    given = Path(source).expanduser() if source is not None else None
    if given is not None and given.resolve() == folder.resolve():
        raise UserError(f"{given} is the target folder itself")
    if commit and given is not None and not _holds(given, commit):
        raise UserError(
            f"{given} is not a clone that holds commit {commit[:12]}", remedy="leave out --from to fetch it"
        )
    if tree is not None:
        return _fetch_tree(tree, folder, progress) if given is None else _take_tree(tree, given, folder)
    if not origins:
        files = dataset.check_out(folder)
        return FilesGot(folder, files, files)
    return _fetch_all(origins, folder, progress) if given is None else _take_all(origins, given, folder)


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


# --- out of a git repository ---------------------------------------------------------------------------------------


def _tree_at(card: Card, commit: str, name: str) -> Tree:
    """The files of the card in another commit of the repository that they come from. Raises UserError."""
    if not _COMMIT.fullmatch(commit):
        raise UserError(f"{commit!r:.60} is not a whole commit id", remedy="give all 40 hex digits")
    if card.tree is not None:
        return card.tree.model_copy(update={"commit": commit})
    known = {one.name: _IN_COMMIT.search(urllib.parse.unquote(one.url)) for one in card.files}
    places = {name: found["path"] for name, found in known.items() if found}
    if not places or len(places) < len(known):
        raise UserError(f"{name} does not come from a git repository: there is one version of it")
    below = next(path.removesuffix(name).strip("/") for name, path in places.items() if name != "LICENSE")
    tops = {PurePosixPath(name).parts[0] for name in places if name != "LICENSE"}
    paths = ("LICENSE", *(f"{below}/{top}".strip("/") for top in sorted(tops)))
    return Tree(url=f"{card.origin}.git", commit=commit, paths=paths, below=below)


def _holds(folder: Path, commit: str) -> bool:
    return (git_folder(folder) / "HEAD").is_file() and Repository(folder).exists(commit)


def _fetch_tree(tree: Tree, folder: Path, progress: Progress | None) -> FilesGot:
    file = folder / DONE
    if file.is_file() and read_file(file, 100).decode("ascii", "replace").strip() == tree.commit:
        return FilesGot(folder, sum(one.is_file() for one in folder.rglob("*")) - 1, 0)
    if not code.is_address(tree.url):
        raise UserError(f"{tree.url!r} is not the address of a git server")
    with scratch_folder() as scratch:
        git = Repository(scratch)
        git.run("init", "--bare", "--quiet")
        what = ("fetch", "--quiet", "--no-tags", "--depth=1", tree.url, f"+{tree.commit}:refs/reviewgauge/files")
        try:
            git.run(*what, protocols=(urllib.parse.urlsplit(tree.url).scheme,), settings=_SLOW)
        except UserError as error:
            raise UserError(
                f"cannot fetch commit {tree.commit[:12]} of {tree.url}: {error.problem.rpartition('fatal: ')[2]}",
                remedy="check the connection and run it again, or give a clone with --from",
            ) from None
        return _write(git, tree, folder, progress)


def _take_tree(tree: Tree, source: Path, folder: Path) -> FilesGot:
    """The commit's files out of a clone that has it, whatever is checked out; else the files as they lie."""
    if _holds(source, tree.commit):
        return _write(Repository(source), tree, folder, None)
    found = list(_files(source, tree))
    if not found:
        raise UserError(f"{source} holds none of {', '.join(tree.paths)}", remedy=f"give a clone of {tree.url}")
    (folder / DONE).unlink(missing_ok=True)
    for name in found:
        write_whole(folder / name, read_file(source / name, LARGEST_FILE))
    return FilesGot(folder, len(found), len(found), (f"what lies in {source}",))


def _write(git: Repository, tree: Tree, folder: Path, progress: Progress | None) -> FilesGot:
    """Write the files of the commit, and its name last."""
    entries = (entry for entry in git.entries(tree.commit) if entry.mode in _BLOBS)
    blobs = [e.path for e in entries if any(PurePosixPath(e.path).is_relative_to(path) for path in tree.paths)]
    if not blobs:
        raise UserError(f"commit {tree.commit} of {tree.url} holds none of {', '.join(tree.paths)}")
    (folder / DONE).unlink(missing_ok=True)
    for done, (name, content) in enumerate(git.blobs(tree.commit, blobs).items(), 1):
        if content is None:
            problem = f"commit {tree.commit} lacks the content of {name}"
            raise UserError(problem, remedy="clone it again, without --filter")
        write_whole(_place(folder, name.removeprefix(f"{tree.below}/")), content)
        if progress is not None:
            progress(done, len(blobs), name)
    write_whole(folder / DONE, f"{tree.commit}\n".encode())
    return FilesGot(folder, len(blobs), len(blobs))


def _files(folder: Path, tree: Tree) -> Iterator[str]:
    """The files of the tree that lie in a folder, without links."""
    for path in tree.paths:
        there = folder / path
        for file in sorted(there.rglob("*")) if there.is_dir() else [there]:
            if file.is_file() and not file.is_symlink():
                yield file.relative_to(folder).as_posix()


# --- single files --------------------------------------------------------------------------------------------------


class _Checked(Record):
    name: RelPath


def _fetch_all(origins: Sequence[Origin], target: Path, progress: Progress | None) -> FilesGot:
    """Every file; raises UserError for the first that is not to be had or not official, and earlier ones stay."""
    fetched = 0
    for origin in origins:
        place = _place(target, origin.name)
        if not _is_official(place, origin):
            _fetch_one(origin, place, progress)
            fetched += 1
        if progress is not None:
            progress(origin.size, origin.size, origin.name)
    return FilesGot(target, len(origins), fetched)


def _take_all(origins: Iterable[Origin], source: Path, target: Path) -> FilesGot:
    if not source.is_dir():
        raise UserError(f"{source} is not a folder", remedy="give the folder that holds the data set's files")
    there = [origin for origin in origins if (source / origin.name).is_file()]
    names = [origin.name for origin in origins]
    if not there:
        raise UserError(f"{source} holds none of {', '.join(names[:3])} ...")
    differs: list[str] = []
    for origin in there:
        place = _place(target, origin.name)
        try:
            with (source / origin.name).open("rb") as given, replacing(place) as copy:
                shutil.copyfileobj(given, copy)
            differs += [] if _is_official(place, origin) else [origin.name]
        except OSError as error:
            raise UserError(f"cannot copy {source / origin.name} to {place}: {error.strerror}") from None
    absent = [name for name in names if name not in {origin.name for origin in there}]
    return FilesGot(target, len(there), len(there), tuple(differs), tuple(absent))


def _place(target: Path, name: str) -> Path:
    return target / _Checked(name=name).name  # refuses names that leave the folder


def _is_official(file: Path, origin: Origin) -> bool:
    return file.is_file() and file.stat().st_size == origin.size and _sha256(file) == origin.sha256


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch_one(origin: Origin, place: Path, progress: Progress | None) -> None:
    url, part = origin.url, place.with_name(place.name + ".part")
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise UserError(f"{origin.name}: {url} is not an http or https address")
    if origin.size > LARGEST:
        raise UserError(f"{origin.name} has {origin.size:,} bytes on its card, over {LARGEST:,}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if part.is_file() and part.stat().st_size > origin.size:
            part.unlink()
        if not part.is_file() or part.stat().st_size < origin.size:
            _download(origin, part, progress)
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


def _download(origin: Origin, part: Path, progress: Progress | None) -> None:
    """Append the missing bytes to `part`. Stops one byte after the size on the card."""
    url, start = origin.url, part.stat().st_size if part.is_file() else 0
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
