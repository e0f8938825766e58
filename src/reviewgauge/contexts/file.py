"""The whole file that the hunk is in, after the change; before it where the change deletes the file.

Source: the context level "file" of AACR-Bench (arXiv:2601.19494), Table 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.contexts.code.places import first_changed
from reviewgauge.contexts.code.readers import code_of, reader_of
from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change, FileStatus, Side
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.git.blobs import file_name

_BINARY = 8000  # bytes in which git looks for a NUL


@dataclass(frozen=True)
class File(Context):
    """One excerpt a file. A budget keeps the lines around the first hunk. Files over 1 MB and binary ones have none."""

    needs_code: ClassVar[bool] = True

    def excerpts(self, change: Change, piece: Change) -> Iterator[Excerpt]:
        """The files of `piece` that have a hunk."""
        code = code_of(change, "file")
        for file in piece.files:
            hunks = parse_patch(file.patch or "")
            if not hunks:
                continue
            side = Side.OLD if file.status is FileStatus.DELETED else Side.NEW
            content = reader_of(code.git).read(file_name(code.base if side is Side.OLD else code.head, file.path))
            if content is None or not content.strip() or b"\x00" in content[:_BINARY]:
                continue
            when = "before the change deletes it" if side is Side.OLD else "after the change"
            text = content.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")
            yield Excerpt(name=f"{file.path}, {when}", text=text, around=first_changed(hunks[0], side))
