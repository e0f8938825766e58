"""Bring a data set's files from their public origin, or from a folder, each checked against its checksum.

Nothing but the addresses on a card is ever called. A file takes its place only when it is whole and right; what an
interrupted fetch left behind is continued, and what is there and right is not fetched again.
"""

from __future__ import annotations

import hashlib
import shutil
import urllib.parse
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import IO, Literal, NamedTuple

import urllib3

from reviewgauge.core.base import Record, RelPath
from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.protocols import Origin, Progress
from reviewgauge.repo.forge.transport import connection_pool, network_problem

TIMEOUT = 30.0  # seconds without a byte
LARGEST = 4 * 1024**3  # bytes; a card that names more is a mistake
_PIECE = 256 * 1024
_REDIRECTS_ONLY = urllib3.Retry(total=None, connect=0, read=0, status=0, other=0, redirect=10)


class Fetched(NamedTuple):
    """One file after `fetch`: was it brought now, or was it there already?"""

    name: str
    state: Literal["fetched", "at hand"]
    bytes: int


class Taken(NamedTuple):
    """One file after `take`: is it the official version, another one, or was it not in the folder?"""

    name: str
    state: Literal["official", "differs", "absent"]


class _Checked(Record):
    name: RelPath


def fetch(
    origins: Iterable[Origin], target: Path, *, base_url: str | None = None, progress: Progress | None = None
) -> list[Fetched]:
    """Bring every file of `origins` into `target`.

    `base_url` is a mirror to use in place of the files' own origins: each is asked for at `base_url/NAME`. Raises
    UserError for the first file that cannot be had or is not the official version; the others stay.
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
    """Copy the data set's files from the folder `source` into `target`, and say of each whether it is the official one.

    Another version is taken all the same, since people hold excerpts. Raises UserError where none is there.
    """
    if not source.is_dir():
        raise UserError(f"{source} is not a folder", remedy="give the folder that holds the data set's files")
    wanted = list(origins)
    if source.resolve() == target.resolve():
        raise UserError(f"{source} is the place that the files would be copied to")
    if not any((source / origin.name).is_file() for origin in wanted):
        raise UserError(f"{source} holds none of {', '.join(origin.name for origin in wanted[:3])} ...")
    return [_take_one(origin, source / origin.name, _place(target, origin.name)) for origin in wanted]


def _take_one(origin: Origin, source: Path, place: Path) -> Taken:
    if not source.is_file():
        return Taken(origin.name, "absent")
    part = _part(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, part)
        same = part.stat().st_size == origin.size and _sha256(part) == origin.sha256
        part.replace(place)
    except OSError as error:
        raise UserError(f"cannot copy {source} to {place}: {error.strerror}") from None
    return Taken(origin.name, "official" if same else "differs")


def _place(target: Path, name: str) -> Path:
    return target / _Checked(name=name).name  # a card that climbs out of its folder is refused


def _part(place: Path) -> Path:
    return place.with_name(place.name + ".part")


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch_one(origin: Origin, url: str, place: Path, progress: Progress | None) -> None:
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise UserError(f"{origin.name}: only http and https are fetched, not {url}")
    if origin.size > LARGEST:
        raise UserError(f"{origin.name} would be {origin.size:,} bytes, over {LARGEST:,}")
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
                f"{origin.name}: {url} ended after {found:,} of {origin.size:,} bytes", remedy="run it again to go on"
            )
        if _sha256(part) != origin.sha256:
            part.unlink()
            raise UserError(
                f"{origin.name}: what came from {url} is not the official version (wrong checksum)",
                remedy="nothing was kept; try again, or take the files with --from",
            )
        part.replace(place)
    except OSError as error:
        raise UserError(f"{origin.name}: cannot write {place}: {error.strerror or error}") from None


def _download(origin: Origin, url: str, part: Path, progress: Progress | None) -> None:
    """Append what is missing to `part`. Stops one byte after the size that the card names."""
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
            enforce_content_length=False,  # a cut file is kept, to be continued
        ) as answer:
            if answer.status >= HTTPStatus.BAD_REQUEST:
                if answer.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                    part.unlink()
                raise UserError(f"{origin.name}: {url} answered {answer.status} {one_line(answer.reason or '', 60)}")
            if start and answer.status != HTTPStatus.PARTIAL_CONTENT:
                start = 0  # a server that knows no ranges sends the whole file again
            with part.open("ab" if start else "wb") as stream:
                _copy(answer, stream, origin, start, progress)
    except urllib3.exceptions.HTTPError as error:
        raise UserError(
            f"{origin.name}: cannot reach {url}: {network_problem(error)}",
            remedy="check the connection and run it again, or take the files with --from",
        ) from None


def _copy(
    answer: urllib3.BaseHTTPResponse, stream: IO[bytes], origin: Origin, start: int, progress: Progress | None
) -> None:
    done = start
    while piece := answer.read(_PIECE):
        done += len(piece)
        if done > origin.size:
            stream.close()
            Path(stream.name).unlink()
            raise UserError(f"{origin.name}: {answer.geturl()} sends more than the official {origin.size:,} bytes")
        stream.write(piece)
        if progress is not None:
            progress(done, origin.size, origin.name)
