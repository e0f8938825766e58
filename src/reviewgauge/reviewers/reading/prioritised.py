"""A whole change as one diff within a budget, its most important files first. What is left out is named."""

from __future__ import annotations

from reviewgauge.core.records import Change, ChangedFile
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.repo.syntax.languages import is_documentation, is_generated_or_vendored, is_test, language
from reviewgauge.reviewers.reading.change_text import Piece, Pieces, diff_text, hunk_texts, pieces_of
from reviewgauge.reviewers.reading.context_text import CHARACTERS


def prioritised(change: Change, tokens: int) -> Pieces:
    """One piece with as much of the change as fits into `tokens` by estimate.

    First come source files, then tests, other text, documentation, generated and vendored files; within each those
    that add most lines. Files and hunks that only delete, and files without hunks, come last. A file that does not fit
    as a whole is shown with the hunks that do; a change of which not even a hunk fits is cut off.
    """
    ranked = change.model_copy(update={"files": tuple(sorted(change.files, key=_rank))})
    whole = pieces_of(ranked, "change")
    if not whole.pieces or len(whole.pieces[0].text) <= tokens * CHARACTERS:
        return whole
    left = tokens * CHARACTERS
    shown: list[ChangedFile] = []
    unread = list(whole.unread)
    for file in ranked.files:
        part, missing = _fitting(file, left)
        if part is not None:
            shown.append(part)
            left -= _length(part)
        if missing:
            unread.append(f"{file.path}:{missing}left out for the budget of {tokens:,} tokens")
    if not any(file.patch for file in shown):
        return pieces_of(ranked, "change", tokens * CHARACTERS)
    kept = change.model_copy(update={"files": tuple(shown)})
    return Pieces([Piece("the change", diff_text(kept), kept)], unread)


def _rank(file: ChangedFile) -> tuple[int, int, str]:
    """The smaller, the more important."""
    hunks = parse_patch(file.patch or "")
    added = sum(line.kind == "+" for hunk in hunks for line in hunk.lines)
    return (_kind(file.path) if added else 5 if hunks else 6, -added, file.path)


def _kind(path: str) -> int:
    if is_generated_or_vendored(path):
        return 4
    if is_documentation(path):
        return 3
    if is_test(path):
        return 1
    return 0 if language(path) else 2


def _fitting(file: ChangedFile, room: int) -> tuple[ChangedFile | None, str]:
    """(the file with what fits into `room` characters, or None; what does not fit, for a sentence, or nothing)."""
    if _length(file) <= room:
        return file, ""
    hunks = list(zip(parse_patch(file.patch or ""), hunk_texts(file.patch or ""), strict=True))
    room -= _length(file.model_copy(update={"patch": ""})) + len("\n--- a/\n+++ b/") + 2 * len(file.path)
    chosen: set[int] = set()
    for number in sorted(range(len(hunks)), key=lambda n: (not _adds(hunks[n][0]), n)):
        if len(hunks[number][1]) < room:
            chosen.add(number)
            room -= len(hunks[number][1]) + 1
    if not chosen:
        return None, " "
    patch = "\n".join(text for number, (_, text) in enumerate(hunks) if number in chosen)
    return file.model_copy(update={"patch": patch}), f" {len(hunks) - len(chosen)} of {len(hunks)} hunks "


def _adds(hunk: Hunk) -> bool:
    return any(line.kind == "+" for line in hunk.lines)


def _length(file: ChangedFile) -> int:
    return len(diff_text(Change(repo="one", files=(file,)))) + 1
