"""One generic comment on every hunk: the baseline of noise.

The value of a match by location alone: it comments on every changed line without reading anything. The idea of
a spam probe is from microsoft/BC-Bench#681 and the doctor's probes of this project.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.base import content_id
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Anchoring, Change, ChangedFile, Comment, Review
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import Word
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.reviewers.reading.change_text import with_patches
from reviewgauge.reviewers.reading.placing import changed_lines

TEXT = "Please double-check this change: is it correct, covered by a test and easy to read?"


@dataclass(frozen=True)
class Parrot(Reviewer):
    """Posts `text` once per hunk, on the lines that it adds, or deletes where it adds none."""

    needs_diff: ClassVar[bool] = True
    baseline: ClassVar[bool] = True

    text: Word = TEXT

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Count the files without a patch: they get no comment."""
        files = [file for change in changes for file in change.files if change.has_diff]
        blank = sum(file.patch is None and not file.binary for file in files)
        binary = sum(file.binary for file in files)
        found = ((blank, "text", "no patch is at hand"), (binary, "binary", "a binary file has no hunks"))
        return tuple(
            Drop(item=f"{n} {kind} file{'s' * (n != 1)}", by="parrot", reason=why) for n, kind, why in found if n
        )

    def review(self, change: Change) -> Review:
        """One comment per hunk. Raises NeedsCode without a diff."""
        change = with_patches(change, "parrot")
        comments = tuple(self._comments(change.files))
        return Review(case=change.id or change.repo, system=self.system, comments=comments)

    def _comments(self, files: Sequence[ChangedFile]) -> Iterator[Comment]:
        for file in files:
            for number, hunk in enumerate(parse_patch(file.patch or "")):
                span = changed_lines(file, hunk)
                name = content_id("parrot", file.path, number)
                yield Comment(id=name, body=self.text, span=span, anchoring=Anchoring.AS_GIVEN, author="parrot")
