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
from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from reviewgauge.core.base import RelPath
from reviewgauge.core.errors import BadInput, UserError, one_line
from reviewgauge.core.files import replacing
from reviewgauge.core.protocols import Progress

MOST_FILES = 10_000
LARGEST = 4 * 1024**3  # bytes, unpacked, of all files together
_STAMP = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip archive can say
_MODE = stat.S_IFREG | 0o644
_PIECE = 1 << 20
_ENCRYPTED = 0x1
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


def write_archive(path: Path, files: Mapping[str, Path], progress: Progress | None = None) -> None:
    """Write these files (by their name in the archive), sorted and without times; whole or not at all.

    The same content gives the same bytes with the same zlib. Raises UserError for a full disk and the like.
    """
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for done, name in enumerate(sorted(files), start=1):
            info = zipfile.ZipInfo(name, _STAMP)
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, _MODE << 16
            with archive.open(info, "w", force_zip64=True) as out, files[name].open("rb") as source:
                shutil.copyfileobj(source, out)
            if progress is not None:
                progress(done, len(files), name)


def unpack(path: Path, into: Path) -> dict[str, str]:
    """Unpack an archive into the empty folder `into`; returns the SHA-256 of each file, by its name.

    Raises BadInput for what is not a whole zip archive and for names, kinds and sizes that no bundle has.
    """
    found: dict[str, str] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            _refuse(path, infos)
            for info in infos:
                found[info.filename] = _unpack_one(archive, info, into)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise BadInput(
            str(path), f"is not a whole bundle: {one_line(str(error), 120)}", remedy="is the file complete?"
        ) from None
    return found


def copy_unpacked(path: Path, into: Path) -> dict[str, str]:
    """Copy an unpacked bundle into the empty folder `into`; returns as `unpack` does. Raises BadInput for links."""
    found: dict[str, str] = {}
    for file in sorted(one for one in path.rglob("*") if one.is_symlink() or not one.is_dir()):
        name = file.relative_to(path).as_posix()
        if file.is_symlink() or not file.is_file() or len(found) >= MOST_FILES:
            raise BadInput(str(path), "holds a link or a device, or too many files", record=name)
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, into / name)
        with (into / name).open("rb") as stream:
            found[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


def _refuse(path: Path, infos: list[zipfile.ZipInfo]) -> None:
    """Raise BadInput for an archive that no bundle is, before anything of it is written."""
    source = str(path)
    if len(infos) > MOST_FILES:
        raise BadInput(source, f"holds {len(infos):,} files, over {MOST_FILES:,}")
    if (total := sum(info.file_size for info in infos)) > LARGEST:
        raise BadInput(source, f"unpacks to {total:,} bytes, over {LARGEST:,}")
    seen: set[str] = set()
    for info in infos:
        name = one_line(info.filename, 120)
        try:
            TypeAdapter(RelPath).validate_python(info.filename)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise BadInput(source, f"holds a file whose name {problem}", record=name) from None
        if info.filename != info.orig_filename or any(part in ("", ".") for part in info.filename.split("/")):
            raise BadInput(source, "holds a file with an unclear name", record=name)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise BadInput(source, "holds a link or a device, not a file", record=name)
        if info.flag_bits & _ENCRYPTED:
            raise BadInput(source, "holds an encrypted file", record=name)
        if info.filename.casefold() in seen:
            raise BadInput(source, "holds one name twice", record=name)
        seen.add(info.filename.casefold())


def _unpack_one(archive: zipfile.ZipFile, info: zipfile.ZipInfo, into: Path) -> str:
    target = into / info.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with archive.open(info) as source, target.open("xb") as out:
        while piece := source.read(_PIECE):  # zipfile stops at the size that was declared, which was added up before
            digest.update(piece)
            out.write(piece)
    return digest.hexdigest()
