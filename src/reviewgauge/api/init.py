"""`reviewgauge init`: a settings file with every setting in it, commented out, with its meaning and default."""

from __future__ import annotations

import textwrap
from pathlib import Path

from reviewgauge.api.settings import FILES, descriptions, read_settings
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole

_HEAD = """# Settings of reviewgauge for this folder. Take the # off a line to change a default; a flag overrides each.
# `reviewgauge info` shows what holds and where it comes from. This file may name no program, address or file outside of
# its folder, unless you name it: export REVIEWGAUGE_SETTINGS={path}
"""


class InitResult(Record):
    """The file that was written."""

    schema_version: int = 1
    file: str


def init(folder: str | Path = ".") -> InitResult:
    """Write `reviewgauge.toml` with every setting commented out. Raises UserError where settings are there already."""
    path = Path(folder) / FILES[0]
    if path.exists():
        raise UserError(f"{path} is there already", remedy="edit it; reviewgauge info shows what it says")
    if there := read_settings(folder).file:
        raise UserError(f"{there} holds settings already", remedy="edit it: of two files one would not count")
    parts = [_HEAD.format(path=path.absolute())]
    for key, one in descriptions().items():
        text = textwrap.fill(f"{one['meaning']} Default: {one['default']}.", 118, break_long_words=False)
        parts.append(f"{textwrap.indent(text, '# ')}\n#{key} = {one['example']}\n")
    write_whole(path, "\n".join(parts).encode())
    return InitResult(file=str(path))
