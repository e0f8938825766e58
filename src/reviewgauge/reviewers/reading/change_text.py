"""A change as text: as one diff, or in the pieces that a prompt shows. Whatever cannot be shown is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from reviewgauge.core.errors import NeedsCode
from reviewgauge.core.records import Change, ChangedFile, FileStatus
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.repo.diff.positions import Marker, find_file
from reviewgauge.repo.git.repository import Repository

Scope = Literal["hunk", "change"]


class Piece(NamedTuple):
    """The part of a change that one call shows. `place` names it; `change` holds only this part, to anchor quotes in.

    `cut` counts the characters that were left out of `text`.
    """

    place: str
    text: str
    change: Change
    cut: int = 0


class Pieces(NamedTuple):
    """The pieces of a change, and a line on each part that no piece shows."""

    pieces: Sequence[Piece]
    unread: Sequence[str]

    @property
    def remarks(self) -> list[str]:
        """A line on each part that was not shown."""
        return [
            *(f"{piece.place}: {piece.cut:,} characters were cut off" for piece in self.pieces if piece.cut),
            *self.unread,
        ]


def pieces_of(change: Change, scope: Scope, longest: int = 0) -> Pieces:
    """Cut a change into pieces, each of at most `longest` characters (0: whole), cut off at a line's end.

    A file without text hunks (binary, renamed only, no patch at hand) has no piece of its own. In the whole change it
    stands with its name.
    """
    unread = [reason for file in change.files if (reason := _unread(file))]
    if scope == "hunk":
        whole = [piece for file in change.files for piece in _hunks(change, file)]
    elif len(unread) < len(change.files):
        whole = [Piece("the change", diff_text(change), change)]
    else:
        whole = []
    return Pieces([_shortened(piece, longest) for piece in whole], unread)


def focus_piece(change: Change, longest: int = 0, *, numbered: bool = False) -> Pieces:
    """The hunks that the change's focus lies in as one piece: all of its file, or of the change, where none does.

    `numbered`: each line begins with its marker `[old][new]`, as ContextCRBench shows a hunk.
    """
    file = find_file(change.focus.path, change) if change.focus else None
    files = [_focused(change, one) for one in ([file] if file else change.files)]
    shown = [one for one in files if one.patch and parse_patch(one.patch)]
    if not shown:
        return Pieces((), [reason for one in change.files if (reason := _unread(one))])
    text = "\n".join(_numbered_text(one) if numbered else (one.patch or "") for one in shown)
    place = shown[0].path if len(shown) == 1 else "the change"
    return Pieces([_shortened(Piece(place, text, change.model_copy(update={"files": tuple(shown)})), longest)], ())


def _focused(change: Change, file: ChangedFile) -> ChangedFile:
    hunks, texts = parse_patch(file.patch or ""), list(hunk_texts(file.patch or ""))
    inside = [text for hunk, text in zip(hunks, texts, strict=True) if change.focus and hunk.covers(change.focus)]
    return file.model_copy(update={"patch": "\n".join(inside or texts) or None})


def _numbered_text(file: ChangedFile) -> str:
    return "\n".join([file.path, *(line for hunk in parse_patch(file.patch or "") for line in _numbered_lines(hunk))])


def _numbered_lines(hunk: Hunk) -> Iterator[str]:
    yield f"{hunk.header} {hunk.heading}".rstrip()
    for line in hunk.lines:
        yield f"{Marker(line.old, line.new)} {line.kind}{line.text}"


def diff_text(change: Change) -> str:
    """Every file of a change as `git diff` prints it, without the last line break."""
    return "\n".join(_file_text(file) for file in change.files)


def _unread(file: ChangedFile) -> str:
    if file.patch is not None and parse_patch(file.patch):
        return ""
    if file.binary:
        return f"{file.path}: a binary file has no hunks"
    if file.patch is None and file.status not in (FileStatus.RENAMED, FileStatus.COPIED):
        return f"{file.path}: no patch is at hand"
    return f"{file.path}: {file.status.value.replace('_', ' ')}, without a changed line"


def _hunks(change: Change, file: ChangedFile) -> Iterator[Piece]:
    for text in hunk_texts(file.patch or ""):
        alone = change.model_copy(update={"files": (file.model_copy(update={"patch": text}),)})
        yield Piece(f"{file.path} {text[: text.index('@@', 2) + 2]}", text, alone)


def hunk_texts(patch: str) -> Iterator[str]:
    """Each hunk of one file's patch as it stands, header included, without its last line break."""
    lines = patch.split("\n")
    at = 0
    for hunk in parse_patch(patch):
        while not lines[at].startswith("@@ -") or not parse_patch(lines[at]):
            at += 1
        begin, at, body = at, at + 1, len(hunk.lines)
        while at < len(lines) and (body or lines[at].startswith("\\")):
            body -= not lines[at].startswith("\\")
            at += 1
        # a blank line whose space was lost is the hunk's last one only with it
        yield "\n".join([*lines[begin : at - 1], lines[at - 1] or " "])


def _file_text(file: ChangedFile) -> str:
    """One file as `git diff` prints it."""
    old, new = file.old_path or file.path, file.path
    head = [f"diff --git a/{old} b/{new}"]
    if file.status is FileStatus.RENAMED:
        head += [f"rename from {old}", f"rename to {new}"]
    if file.binary:
        return "\n".join([*head, "Binary files differ"])
    if not file.patch:
        return "\n".join(head)
    before = "/dev/null" if file.status is FileStatus.ADDED else f"a/{old}"
    after = "/dev/null" if file.status is FileStatus.DELETED else f"b/{new}"
    return "\n".join([*head, f"--- {before}", f"+++ {after}", file.patch.removesuffix("\n")])


def _shortened(piece: Piece, longest: int) -> Piece:
    if not longest or len(piece.text) <= longest:
        return piece
    end = piece.text.rfind("\n", 0, longest + 1)
    text = piece.text[: end if end > 0 else longest]
    return piece._replace(text=text, cut=len(piece.text) - len(text))


def with_patches(change: Change, who: str) -> Change:
    """`change` with the patches of its files. Raises NeedsCode when neither they nor the commits are at hand."""
    if change.has_diff:
        return change
    if change.git is None or change.base is None or change.head is None:
        raise NeedsCode(who)
    files = Repository(Path(change.git)).changed_files(change.base, change.head)
    return change.model_copy(update={"files": files})
