"""Drop changes whose diff repeats an earlier one's.

Source: ContextCRBench's format filtering (arXiv:2511.07017, section 2.3.1) leaves entries "devoid of duplicate
entries"; the diff is compared as git-scm.com/docs/git-patch-id does it, but for changed lines only, so that a backport
is found where the lines around it differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import Change
from reviewgauge.repo.diff.diffs import normal, parse_patch


@dataclass(frozen=True)
class DropDuplicates(Stage):
    """Keep the first of equal diffs.

    White space, line numbers and the order of files do not count. Two tasks on one diff, or two places of it, are no
    duplicates; what has nothing to compare (a binary file) is kept.
    """

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        """Each candidate, or which earlier one it repeats. Holds a digest and an id of each."""
        first: dict[bytes, str] = {}
        for item in items:
            if not item.case.change.has_diff:
                yield self.drop(item.id, "no diff at hand")
            elif (key := _key(item.case.change)) is None or (earlier := first.setdefault(key, item.id)) == item.id:
                yield item
            else:
                yield self.drop(item.id, "same diff", f"as {earlier}")


def _key(change: Change) -> bytes | None:
    parts = _changed_text(change)
    if not parts:
        return None
    parts += [change.task.value, _place(change)]
    return hashlib.blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _changed_text(change: Change) -> list[str]:
    found: list[str] = []
    for file in sorted(change.files, key=lambda file: file.path):
        shown = (line for hunk in parse_patch(file.patch or "") for line in hunk.lines)
        lines = [line.kind + normal(line.text) for line in shown if line.kind != " "]
        if lines:
            found += [file.path, *(line for line in lines if len(line) > 1)]
    return found


def _place(change: Change) -> str:
    """The place that the change is narrowed to, by the text of its lines; the whole change is not a place."""
    focus = change.focus
    if focus is None or focus.start is None or focus.end is None:
        return focus.path if focus is not None else ""
    patches = [file.patch or "" for file in change.files if file.path == focus.path]
    lines = [line for patch in patches for hunk in parse_patch(patch) for line in hunk.lines]
    span = range(focus.start, focus.end + 1)
    texts = (normal(n.text) for n in lines if n.number(focus.side) in span)
    return "\x1e".join([focus.path, *texts])
