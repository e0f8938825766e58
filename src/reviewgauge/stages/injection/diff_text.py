"""A change's diff as text for a model: files under their paths, lines under their numbers in the new version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reviewgauge.core.records import ChangedFile
from reviewgauge.repo.diff.diffs import parse_patch


def numbered_diff(files: Iterable[ChangedFile]) -> str:
    """`=== path`, then `  12 + code` for each line of its hunks; a deleted line has no number."""
    return "\n".join(line for file in files if file.patch for line in _lines(file))


def _lines(file: ChangedFile) -> Iterator[str]:
    yield f"=== {file.path}"
    for hunk in parse_patch(file.patch or ""):
        yield f"@@ {hunk.heading}".rstrip()
        for line in hunk.lines:
            yield f"{line.new or '':>5} {line.kind} {line.text}"
