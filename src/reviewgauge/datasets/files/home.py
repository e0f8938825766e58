"""Where the files of data sets lie on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from reviewgauge.core.errors import UserError


def data_home() -> Path:
    """The folder that fetched data sets lie in, one folder each.

    `$REVIEWGAUGE_DATA`, else `$XDG_DATA_HOME/reviewgauge`, else `~/.local/share/reviewgauge`. Nothing is created.
    """
    if own := os.environ.get("REVIEWGAUGE_DATA"):
        return Path(own).expanduser()
    # The XDG rule: a relative value is invalid and is ignored.
    if (shared := os.environ.get("XDG_DATA_HOME")) and Path(shared).is_absolute():
        return Path(shared) / "reviewgauge"
    try:
        return Path.home() / ".local" / "share" / "reviewgauge"
    except RuntimeError:
        raise UserError("this user has no home folder to keep data in", remedy="set REVIEWGAUGE_DATA") from None


def locate(name: str, path: str) -> Path:
    """The files of data set `name`: `path` where one is given, else its folder in the data home.

    Raises UserError that names the remedy where nothing is there.
    """
    if path:
        given = Path(path).expanduser()
        if not given.exists():
            raise UserError(f"there is nothing at {path}", remedy=f"give the folder that holds {name}'s files")
        return given
    home = data_home() / name
    if not home.is_dir():
        raise UserError(f"the data set {name} is not on this machine", remedy=f"reviewgauge get {name}")
    return home
