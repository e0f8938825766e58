"""Whether two cases are about the same change, so that no reviewer learns from what it is to review.

Two cases share a mark when they have the same id in the same repository, the same head commit (by its first
characters), the same pull request, or the same changed lines: in all, in one file, or on one side of one hunk that is
long enough to tell. Line numbers, blanks, invisible characters and context lines do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from reviewgauge.core.base import INVISIBLE, content_id
from reviewgauge.core.records import Case, Change

_PULL = re.compile(r"/(?:pulls?|merge_requests)/(\d{1,10})(?!\d)")
_NUMBER = re.compile(r"#(\d{1,10})(?=/|\Z)")  # a part of a change is named `owner/name#12/hunk/3`
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_ABBREVIATED = 7  # characters, the fewest that git abbreviates to by itself
_TELLING = 60  # characters of a hunk's side or a file's lines; fewer (an import, a version) occur in many
_TELLING_WORDS = 40  # letters and digits of a comment; fewer ("nit: please add a blank line") are said of many changes
_BLANKS = re.compile(rf"[\s{re.escape(INVISIBLE)}]+")
_NO_WORD = re.compile(r"[\W_]+")


def identity_marks(case: str, change: Change) -> frozenset[str]:
    """The marks of a change under the id `case`; two changes that share one must not be learnt from and reviewed."""
    repo = change.repo.lower()
    found = {f"case {repo} {case}", *_code_marks(change)}
    if change.head:
        head = change.head.lower()
        found.add(f"commit {head[:_ABBREVIATED] if _COMMIT.fullmatch(head) else head}")
    number = _PULL.search(change.url or "") or _PULL.search(case) or _NUMBER.search(case)
    if number is not None:
        found.add(f"pull {repo} {number[1]}")
    return frozenset(found)


def answer_marks(case: Case) -> frozenset[str]:
    """A mark of each reference's words, of those that are long enough: who has one has the answer."""
    words = (_NO_WORD.sub("", reference.body).casefold() for reference in case.references)
    return frozenset(content_id(one, length=32) for one in words if len(one) >= _TELLING_WORDS)


def _code_marks(change: Change) -> Iterator[str]:
    """Of all changed lines, of those of each file, and of the added and of the deleted ones of each hunk."""
    whole: list[str] = []
    for file in change.files:
        hunks = [_changed(hunk) for hunk in _hunks(file.patch or "")]
        lines = [line for hunk in hunks for line in hunk]
        whole += lines
        for part in (lines, *(side for hunk in hunks for side in _sides(hunk))):
            if sum(len(line) - 1 for line in part) >= _TELLING:
                yield _mark(part)
    if whole:
        yield _mark(whole)


def _hunks(patch: str) -> Iterator[list[str]]:
    hunk: list[str] = []
    for line in patch.split("\n"):
        if line.startswith("@@"):
            yield hunk
            hunk = []
        else:
            hunk.append(line)
    yield hunk


def _changed(lines: Iterable[str]) -> list[str]:
    found = (line[0] + _BLANKS.sub("", line[1:]) for line in lines if line[:1] in ("+", "-"))
    return [line for line in found if len(line) > 1]


def _sides(lines: Sequence[str]) -> Iterator[list[str]]:
    for sign in "+-":
        yield [line for line in lines if line[0] == sign]


def _mark(lines: Sequence[str]) -> str:
    return "code " + content_id(*lines, length=32)
