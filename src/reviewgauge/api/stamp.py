"""Whether files that were made before are still what the same inputs would make: the second time nothing is computed.

A stamp file holds a digest of all that went in, the code included, and of each file that came out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

from reviewgauge.engine.run.journal import write_whole

STAMP = "validity.stamp"
_CODE = ("analysis", "core", "views")
_LIBRARIES = ("numpy", "scipy", "altair", "vl-convert-python")


def digest(inputs: Iterable[object]) -> str:
    """A digest of these values by what they print as, of the code that computes and draws, and of its libraries."""
    found = hashlib.sha256()
    for value in inputs:
        found.update(repr(value).encode("utf-8", "backslashreplace"))
    home = Path(__file__).parents[1]
    for file in sorted(file for name in _CODE for file in (home / name).rglob("*") if file.suffix != ".pyc"):
        if file.is_file():
            found.update(file.read_bytes())
    for library in _LIBRARIES:
        try:
            found.update(metadata.version(library).encode())
        except metadata.PackageNotFoundError:
            found.update(b"-")
    return found.hexdigest()


def unchanged(folder: Path, made_of: str) -> tuple[str, ...] | None:
    """The names of the files in `folder` if they were made of the same and are as they were; None otherwise."""
    try:
        stamp = json.loads((folder / STAMP).read_bytes())
        files = {str(name): str(sha) for name, sha in stamp["files"].items()}
        if stamp["made_of"] != made_of or any(_sha(folder / name) != sha for name, sha in files.items()):
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # no stamp, or one that somebody else wrote: made anew
    return tuple(files)


def write_stamp(folder: Path, made_of: str, files: Sequence[str]) -> None:
    """Note what the files were made of and what they are; the last thing that is written."""
    stamp = {"made_of": made_of, "files": {name: _sha(folder / name) for name in files}}
    write_whole(folder / STAMP, json.dumps(stamp, indent=1).encode())


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
