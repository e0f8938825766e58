"""Objects from one repository into another: packed here, unpacked there, and each id computed anew on the way."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from typing import IO

from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.repository import Repository


class NotAllThere(UserError):
    """Objects could not be packed or did not hold what their ids say; its problem is what git said."""


def copy_objects(source: Repository, target: Repository, asked: Iterable[str], *options: str) -> None:
    """Bring `asked` (a line each, as `git pack-objects` with `options` takes them) from `source` into `target`.

    The pack is streamed and never held. Raises NotAllThere.
    """
    with tempfile.TemporaryFile() as lines, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as answered:
        lines.writelines(f"{line}\n".encode() for line in asked)
        if not lines.tell():
            return
        lines.seek(0)
        packing = source.start(
            "pack-objects", "--stdout", "--delta-base-offset", "-q", *options, stdin=lines, stderr=said
        )
        with packing:
            assert packing.stdout is not None
            unpacking = target.start(
                "index-pack", "--stdin", stdin=packing.stdout, stdout=subprocess.DEVNULL, stderr=answered
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
            words = _last_words(said) or _last_words(answered)
            if not words:
                raise UserError("git could not copy objects, and does not say why", remedy="is the disk full?")
            raise NotAllThere(words)


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
