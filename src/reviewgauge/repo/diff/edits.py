"""The edits that a review comment suggests, and the files that they make.

A comment suggests code in one of four ways, the first that it has counts: edits with their places (`EDITS` in `extra`,
from SARIF and rdjson), a suggestion block for the commented lines, unified diffs in fences, the diff of its claim.

GitLab's block `suggestion:-1+2` replaces the last commented line, one line above it and two below, at most 100 each
way and none above the first. Source: GitLab's documentation, "Suggest changes", and its `suggestions_parser.rb`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from pydantic import NonNegativeInt, PositiveInt, ValidationError

from reviewgauge.core.base import Record, Text
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Comment, FileStatus, Side, Span
from reviewgauge.repo.diff.diffs import parse_patch, split_diff

EDITS = "edits"  # in `Comment.extra`: a list of `TextEdit`
OFFSETS = "suggestion_lines"  # in `Comment.extra`: `-1+2` of GitLab's block
LONGEST = 200_000  # characters that a comment may suggest
_FARTHEST = 100  # lines that GitLab's block reaches above and below
_OPENING = re.compile(r"(`{3,20}|~{3,20})[ \t]{0,20}(\w{0,40})(?::([-+\d]{1,40}))?")
_OFFSETS = re.compile(r"(?:-(\d{1,9}))?(?:\+(\d{1,9}))?")


class Refusal(Exception):
    """Why a suggestion cannot be applied, in words that are counted: `group`, then the particulars."""

    def __init__(self, group: str, detail: str = "") -> None:
        super().__init__(f"{group}: {detail}" if detail else group)
        self.group = group


class TextEdit(Record):
    """Lines `start` to `end` of a file replaced by `text`; `end` = `start` - 1 inserts before `start`.

    With columns (1-based, of characters, the last one exclusive) only what lies between them. `edits` of one comment
    belong together.
    """

    path: str
    start: PositiveInt
    end: NonNegativeInt
    start_column: PositiveInt | None = None
    end_column: PositiveInt | None = None
    text: Text = ""


@dataclass(frozen=True)
class Block:
    """Lines `old` of a file replaced by `new`, wherever they are nearest to line `near`; without `old` right there.

    `creates`: the file is a new one.
    """

    path: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    near: int | None
    creates: bool = False


Edit = TextEdit | Block


def suggested_edits(comment: Comment) -> list[Edit]:
    """The edits that a comment suggests, none where it suggests nothing. Raises Refusal."""
    placed = comment.extra.get(EDITS)
    texts = [comment.suggestion or "", comment.body, (comment.claimed and comment.claimed.hunk) or ""]
    if sum(map(len, texts)) + len(str(placed or "")) > LONGEST:
        raise Refusal("too large", f"over {LONGEST:,} characters")
    if isinstance(placed, list) and placed:
        try:
            edits = [TextEdit.model_validate(one) for one in placed]
        except ValidationError:
            raise Refusal("cannot be read", "its edits do not say where") from None
        if comment.span is not None and comment.claimed is not None:  # the path as the change has it
            names = {comment.claimed.path: comment.span.path}
            edits = [one.model_copy(update={"path": names.get(one.path, one.path)}) for one in edits]
        return [*edits]
    blocks = list(_fences(comment.body))
    offsets, code = next(
        ((where, text.removesuffix("\n")) for word, where, text in blocks if word == "suggestion"),
        (str(comment.extra.get(OFFSETS, "")), None),
    )
    if (code := code if comment.suggestion is None else comment.suggestion) is not None:
        return [_of_block(code, comment.span, offsets)]
    diffs = [text for word, _, text in blocks if word != "suggestion"] or [texts[2]]
    return [edit for diff in diffs for edit in _of_diff(diff, comment.span)]


def _fences(body: str) -> Iterator[tuple[str, str, str]]:
    """(kind, GitLab's offsets, text) of the fenced suggestions and diffs of a text."""
    mark = word = offsets = ""
    lines: list[str] = []
    for line in body.split("\n"):
        if mark and line.rstrip() == mark:
            if word in ("suggestion", "diff", "patch"):
                yield word, offsets, "".join(f"{one}\n" for one in lines)
            mark = ""
        elif mark:
            lines.append(line)
        elif (found := _OPENING.match(line)) is not None:
            mark, word, offsets, lines = found[1], found[2].lower(), found[3] or "", []


def _of_block(code: str, span: Span | None, offsets: str) -> TextEdit:
    if span is None or span.start is None or span.end is None:
        raise Refusal("no place", "it names no lines to replace")
    if span.side is Side.OLD:
        raise Refusal("a deleted line", f"{span.path}:{span.start}")
    start, end = span.start, span.end
    if offsets and (found := _OFFSETS.fullmatch(offsets)) is not None:
        above, below = (min(int(lines or 0), _FARTHEST) for lines in found.groups())
        start, end = max(1, end - above), end + below
    return TextEdit(path=span.path, start=start, end=end, text=code.removesuffix("\n") + "\n" * bool(code))


def _of_diff(diff: str, span: Span | None) -> Iterator[Block]:
    """The blocks of a unified diff; one without file names is about the commented file."""
    if not re.search(r"^[+-]", diff, re.M):
        return
    try:
        files = [(f.path, f.status, f.patch or "") for f in split_diff(diff)]
    except UserError as error:
        raise Refusal("cannot be read", error.problem) from None
    if not files:
        if span is None:
            raise Refusal("no place", "a diff without the name of a file")
        files = [(span.path, FileStatus.MODIFIED, diff)]
    for path, status, patch in files:
        if status not in (FileStatus.MODIFIED, FileStatus.ADDED):
            raise Refusal("not an edit", f"{path} is {status}")
        hunks = parse_patch(patch)
        for hunk in hunks:
            old = tuple(line.text for line in hunk.lines if line.kind != "+")
            new = tuple(line.text for line in hunk.lines if line.kind != "-")
            creates = status is FileStatus.ADDED
            yield Block(path, old, new, hunk.old_start + (not hunk.old_count), creates)
        if not hunks:  # lines with signs, and no numbers
            lines = [line for line in patch.split("\n") if line and not line.startswith(("\\", "@@"))]
            old, new = (tuple(line[1:] for line in lines if line[0] != sign) for sign in "+-")
            yield Block(path, old, new, span.start if span else None)


Placed = tuple[int, int, Sequence[str]]  # lines [start, end) of a file, from 0, and what replaces them


def apply_edits(edits: Sequence[Edit], files: Mapping[str, str | None]) -> dict[str, str]:
    """The new text of each file that changes. `files` has every path of the edits, None where there is no such file.

    Lines end as most of the file's do. Raises Refusal: nothing is applied in part.
    """
    made: dict[str, str] = {}
    for path in dict.fromkeys(edit.path for edit in edits):
        own = [edit for edit in edits if edit.path == path]
        text = files[path]
        creates = any(isinstance(edit, Block) and edit.creates for edit in own)
        if creates != (text is None):
            raise Refusal("does not apply", f"{path} {'is there already' if creates else 'is not in the change'}")
        ending = "\r\n" if text and text.count("\r\n") * 2 > text.count("\n") else "\n"
        lines = [line.removesuffix("\r") for line in (text or "").split("\n")]
        placed = sorted((_place(edit, lines) for edit in own), key=lambda one: one[:2])
        if any(before[1] > after[0] for before, after in pairwise(placed)):
            raise Refusal("overlaps itself", path)
        for start, end, new in reversed(placed):
            lines[start:end] = new
        if (done := ending.join(lines)) != text:
            made[path] = done
    if not made:
        raise Refusal("changes nothing")
    return made


def _place(edit: Edit, lines: Sequence[str]) -> Placed:
    """Where an edit is in a file whose `lines` end with an empty one after the last newline."""
    if isinstance(edit, Block):
        return _find(edit, lines)
    columns = edit.start_column is not None or edit.end_column is not None
    count = len(lines) - (lines[-1] == "" and not columns)
    if edit.start > count + 1 or edit.end > count or edit.end < edit.start - 1:
        raise Refusal("does not apply", f"{edit.path} has {count} lines")
    new = edit.text.replace("\r\n", "\n")
    if not columns:
        return edit.start - 1, edit.end, new.removesuffix("\n").split("\n") if new else []
    if edit.end < edit.start:
        raise Refusal("cannot be read", "columns of no line")
    before = lines[edit.start - 1][: (edit.start_column or 1) - 1]
    last = lines[edit.end - 1]
    after = "" if edit.end_column is None else last[edit.end_column - 1 :]
    return edit.start - 1, edit.end, f"{before}{new}{after}".split("\n")


def _find(block: Block, lines: Sequence[str]) -> Placed:
    """The place nearest to where the diff says, by its old lines; only what changes in between is replaced."""
    old, new, size = (
        [o.removesuffix("\r") for o in block.old],
        [n.removesuffix("\r") for n in block.new],
        len(block.old),
    )
    if block.creates:
        return 0, len(lines), [*new, ""]
    near = (block.near or 1) - 1
    if not old:
        if block.near is None or near >= len(lines):
            raise Refusal("does not apply", f"no line {near + 1} in {block.path}")
        return near, near, new
    there = [at for at in range(len(lines) - size + 1) if list(lines[at : at + size]) == old]
    if not there or (block.near is None and len(there) > 1):
        raise Refusal("does not apply", f"its old lines are not in {block.path}" if not there else "several places fit")
    at = min(there, key=lambda one: abs(one - near))
    pairs = list(zip(old, new, strict=False))
    head = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    rest = list(zip(reversed(old[head:]), reversed(new[head:]), strict=False))
    tail = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], rest))
    return at + head, at + size - tail, new[head : len(new) - tail]
