"""Temporary folders that are removed afterwards, whatever a program put into them."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reviewgauge.core.errors import UserError

PREFIX = "reviewgauge-"


@contextmanager
def scratch_folder(within: Path | None = None) -> Iterator[Path]:
    """A new folder in `within` (the system's own for temporary files by default), removed with all that is in it then.

    Raises UserError where it cannot be made.
    """
    try:
        top = Path(tempfile.mkdtemp(prefix=PREFIX, dir=within)).resolve()
    except OSError as error:
        raise UserError(f"cannot make a folder for temporary files: {error}") from None
    try:
        yield top
    finally:
        remove_tree(top)


def remove_tree(top: Path) -> None:
    """Remove `top` and what is in it as far as it can be removed: folders that are locked or too deep for a path too.

    Nothing outside of `top` is touched, also where `top` is gone or has become a link. Each folder is moved up before
    it is emptied, so that neither the length of a path nor the depth of the tree matters.
    """
    name = f".{secrets.token_hex(8)}-"
    if top.is_symlink() or not top.is_dir():
        return
    todo, count = [top], 0
    while todo:
        folder = todo.pop()
        with suppress(OSError):
            folder.chmod(0o700)
        for entry in _entries(folder):
            with suppress(OSError):
                if entry.is_symlink() or not entry.is_dir():
                    entry.unlink()
                    continue
                entry.chmod(0o700)  # a locked folder cannot be moved
                count += 1
                todo.append(entry.rename(top / f"{name}{count}"))
        if folder != top:
            with suppress(OSError):
                folder.rmdir()
    with suppress(OSError):
        top.rmdir()


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
