"""A repository's own objects and nothing else of it: no configuration, hooks, alternates, refs or replaced objects.

They are copied as packs, and each id is computed again on the way. What a commit reaches is found by reading commits:
bitmaps and commit graphs are a repository's own word for it.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.containment import check_objects
from reviewgauge.repo.git.repository import Repository

_CONFIG = """[core]
\trepositoryformatversion = {version}
\tbare = true
[gc]
\tauto = 0
{extensions}"""
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PACK = ("--stdout", "--delta-base-offset", "-q", "--no-use-bitmap-index")
_OWN_WORD = {"core.commitGraph": "false", "core.multiPackIndex": "false"}
_SHA256 = "[extensions]\n\tobjectFormat = sha256\n"


class MissingObjects(NamedTuple):
    """Whether a repository lacks commits behind a cut (`shallow`) or files left at its origin (`partial`)."""

    shallow: bool = False
    partial: bool = False


def missing_objects(repository: Repository) -> MissingObjects:
    """What `repository` lacks."""
    common = common_folder(repository)
    packs = common / "objects" / "pack"
    promised = packs.is_dir() and any(entry.name.endswith(".promisor") for entry in os.scandir(packs))
    return MissingObjects(bool(cuts(common)), promised and _lacks_any(repository))


def _lacks_any(repository: Repository) -> bool:
    """Whether a partial clone lacks an object still; a complete one keeps its mark."""
    found = repository.run("rev-list", "--objects", "--all", "--missing=print", "--quiet")
    return any(line.startswith(b"?") for line in found.splitlines())


def common_folder(repository: Repository) -> Path:
    """The git directory that holds the objects: a linked work tree's is not its own."""
    printed = repository.run("rev-parse", "--git-common-dir").decode("utf-8", "surrogateescape").rstrip("\n")
    return (repository.git_dir / printed).resolve()


def object_format(repository: Repository) -> str:
    """`sha1` or `sha256`."""
    return repository.run("rev-parse", "--show-object-format").decode("ascii").strip()


def plain_config(object_format: str) -> str:
    """The minimal configuration of a bare repository of ours."""
    sha256 = object_format == "sha256"
    return _CONFIG.format(version=int(sha256), extensions=_SHA256 * sha256)


def cuts(common: Path) -> frozenset[str]:
    """The commits of a shallow repository whose parents are not there."""
    file = common / "shallow"
    if file.is_symlink() or not file.is_file():
        return frozenset()
    return frozenset(line for line in file.read_text("ascii", "replace").split() if _ID.fullmatch(line))


class NotAllThere(UserError):
    """Objects could not be packed, or their content does not match their ids; its problem is git's message."""


def copy_objects(source: Repository, target: Repository, asked: Iterable[str], *options: str) -> None:
    """Bring `asked` (a line each, as `git pack-objects` with `options` takes them) from `source` into `target`.

    The pack is streamed and never held. Raises UserError where `source` borrows objects, and NotAllThere.
    """
    check_objects(common_folder(source))
    with (
        tempfile.TemporaryFile() as lines,
        tempfile.TemporaryFile() as printed,
        tempfile.TemporaryFile() as unpacking_errors,
    ):
        lines.writelines(f"{line}\n".encode() for line in asked)
        if not lines.tell():
            return
        lines.seek(0)
        packing = source.start("pack-objects", *_PACK, *options, stdin=lines, stderr=printed, settings=_OWN_WORD)
        with packing:
            assert packing.stdout is not None
            unpacking = target.start(
                "index-pack", "--stdin", stdin=packing.stdout, stdout=subprocess.DEVNULL, stderr=unpacking_errors
            )
            packing.stdout.close()  # so that packing ends when unpacking does
            try:
                unpacking.wait()
                packing.wait()
            finally:
                unpacking.kill()
                packing.kill()
                unpacking.wait()
        if packing.returncode or unpacking.returncode:
            reason = _last_words(printed) or _last_words(unpacking_errors)
            if not reason:
                raise UserError("git could not copy objects and printed no reason", remedy="is the disk full?")
            raise NotAllThere(reason)


def present(repository: Repository, ids: Sequence[str]) -> list[str]:
    """Those of `ids` that are objects of `repository`."""
    if not ids:
        return []
    answer = repository.run("cat-file", "--batch-check", stdin="".join(f"{oid}\n" for oid in ids).encode())
    lines = answer.decode("ascii", "replace").splitlines()
    return [oid for oid, line in zip(ids, lines, strict=True) if not line.endswith(" missing")]


def _last_words(file: IO[bytes]) -> str:
    file.seek(0)
    lines = [line for line in file.read(65536).decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("fatal: ").removeprefix("error: ") if lines else ""
