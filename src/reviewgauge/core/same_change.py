"""Whether two cases are about the same change, so that no reviewer learns from what it is to review.

Two cases share a mark when they have the same id in the same repository, the same changed lines, the same head commit,
or the same pull request. Line numbers, blanks around lines and context lines do not count.
"""

from __future__ import annotations

import re

from reviewgauge.core.base import content_id
from reviewgauge.core.records import Change

_PULL = re.compile(r"/(?:pulls?|merge_requests)/(\d{1,10})(?!\d)")
_NUMBER = re.compile(r"#(\d{1,10})(?=/|\Z)")  # a part of a change is named `owner/name#12/hunk/3`


def identity_marks(case: str, change: Change) -> frozenset[str]:
    """The marks of a change under the id `case`; two changes that share one must not be learnt from and reviewed."""
    repo = change.repo.lower()
    found = {f"case {repo} {case}"}
    if lines := _changed_lines(change):
        found.add("code " + content_id(*lines, length=32))
    if change.head:
        found.add(f"commit {change.head.lower()}")
    number = _PULL.search(change.url or "") or _PULL.search(case) or _NUMBER.search(case)
    if number is not None:
        found.add(f"pull {repo} {number[1]}")
    return frozenset(found)


def _changed_lines(change: Change) -> list[str]:
    lines = [line for file in change.files for line in (file.patch or "").split("\n")]
    return [line[0] + line[1:].strip() for line in lines if line[:1] in ("+", "-") and line[1:].strip()]
