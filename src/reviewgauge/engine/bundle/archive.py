"""Zip archives whose bytes depend on their content alone, and safe reading of archives from elsewhere.

An archive from elsewhere is hostile data: nothing is written outside the folder it is unpacked into, links and
devices are refused, and so is anything that claims to be, or turns out, larger than it may.
"""

from __future__ import annotations

import hashlib
import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from pydantic import TypeAdapter, ValidationError

from reviewgauge.core.base import RelPath, unsafe
from reviewgauge.core.errors import BadInput, UserError, one_line
from reviewgauge.core.files import replacing
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.protocols import Progress

MOST_FILES = 10_000
LARGEST = 4 * 1024**3  # bytes, unpacked, of all files together
_STAMP = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip archive can say
_MODE = stat.S_IFREG | 0o644
_MAGIC = b"PK\x03\x04"


def is_bundle(path: Path) -> bool:
    """Whether a file is meant to be an archive, whole or not, or a folder is an unpacked one."""
    if path.is_dir():
        return all((path / name).is_file() for name in ("bundle.json", "SHA256SUMS"))
    try:
        with path.open("rb") as stream:
            return path.is_file() and (path.suffix.lower() == ".zip" or stream.read(len(_MAGIC)) == _MAGIC)
    except OSError:
        return False


def write_archive(path: Path, folder: Path, progress: Progress | None = None) -> None:
    """Write the files below `folder`, sorted and without times; whole or not at all.

    The same content gives the same bytes with the same zlib. Raises UserError for a full disk and the like.
    """
    files = sorted((file.relative_to(folder).as_posix(), file) for file in folder.rglob("*") if file.is_file())
    with replacing(path) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for done, (name, file) in enumerate(files, start=1):
            info = zipfile.ZipInfo(name, _STAMP)
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, _MODE << 16
            with archive.open(info, "w", force_zip64=True) as target, file.open("rb") as source:
                shutil.copyfileobj(source, target)
            if progress is not None:
                progress(done, len(files), name)


def unpack(path: Path, into: Path) -> dict[str, str]:
    """Put the files of a bundle, an archive or unpacked, into the new folder `into`; returns what `digests` does.

    Raises BadInput for what is not a whole archive, and for names, kinds and sizes that no bundle has.
    """
    try:
        if path.is_dir():
            shutil.copytree(path, into, symlinks=True)
        else:
            with zipfile.ZipFile(path) as archive:
                _refuse(path, archive.infolist())
                archive.extractall(into)  # zipfile stops at the size that a file declares, which was added up before
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or one_line(str(error), 120)}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise BadInput(
            str(path), f"is not a whole bundle: {one_line(str(error), 120)}", remedy="is the file complete?"
        ) from None
    return digests(into, str(path))


def digests(folder: Path, source: str) -> dict[str, str]:
    """The SHA-256 of every file below a folder, by its name there. Raises BadInput for links and devices."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not path.is_file():
            raise BadInput(source, "holds a link or a device, not a file", record=name)
        with path.open("rb") as stream:
            found[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


def _refuse(path: Path, infos: list[zipfile.ZipInfo]) -> None:
    """Raise BadInput for an archive that no bundle is, before anything of it is written."""
    if len(infos) > MOST_FILES:
        raise BadInput(str(path), f"holds {len(infos):,} files, over {MOST_FILES:,}")
    if (total := sum(info.file_size for info in infos)) > LARGEST:
        raise BadInput(str(path), f"unpacks to {total:,} bytes, over {LARGEST:,}")
    seen: set[str] = set()
    for info in infos:
        if problem := _problem(info, seen):
            raise BadInput(str(path), f"holds {problem}", record=one_line(info.filename, 120))
        seen.add(info.filename.casefold())


def _problem(info: zipfile.ZipInfo, seen: set[str]) -> str:
    """What is wrong with one file of an archive; empty where nothing is."""
    name = info.filename.removesuffix("/")
    try:
        TypeAdapter(RelPath).validate_python(name)
    except ValidationError as error:
        return f"a file whose name {unsafe(name) or first_problem(error)[1]}"
    if info.filename != info.orig_filename or PurePosixPath(name).as_posix() != name:
        return "a file with an unclear name"
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "a link or a device, not a file"
    return "one name twice" if info.filename.casefold() in seen else ""
