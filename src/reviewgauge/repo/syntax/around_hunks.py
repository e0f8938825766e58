"""The code around each hunk of a change, before and after: the smallest function, method or class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reviewgauge.core.records import Change, ChangedFile, FileStatus, Side, Snippet
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.repo.git.blobs import BlobReader, file_name
from reviewgauge.repo.syntax.functions import Enclosing, definitions, enclosing, prepare
from reviewgauge.repo.syntax.lines import line_count

_LOST = "is not in the repository"
Lines = tuple[int, int]
Found = tuple[Snippet | None, str]  # a snippet, and why it is a window or is missing


@dataclass(frozen=True)
class AroundHunks:
    """Snippets of both sides, one for each scope, for the hunks of a change, or of its `focus` alone.

    `changed`: by the changed lines; otherwise by all lines of the hunk. A scope of more than `longest` lines (0: none
    is too long) becomes a window: `window` lines on either side of the hunk. So does code whose syntax is not known.
    """

    changed: bool = False
    longest: int = 1000
    window: int = 20

    def find(self, change: Change, reader_of: Callable[[str], BlobReader]) -> list[Found] | str:
        """The distinct snippets of each side of each hunk; or why there is none, and a detail on a second line."""
        if not change.has_diff:
            return "no diff at hand"
        if change.git is None or change.base is None or change.head is None:
            return "no code at hand: base and head are not in a repository on this machine"
        reader = reader_of(change.git)
        found: dict[tuple[str, Side, int, int], Found] = {}
        for file in change.files:
            hunks = [hunk for hunk in parse_patch(file.patch or "") if in_focus(change, file, hunk)]
            if not hunks:
                continue
            sides: dict[Side, tuple[str, bytes]] = {}
            for side, commit, path in versions(change, file):
                looked = reader.look(file_name(commit, path))
                if looked.problem == _LOST:
                    return f"a version of a changed file is not in the repository\n{path} at {commit}"
                content = None if looked.problem else reader.read(looked.id)
                if content is None:
                    found[path, side, 0, 0] = None, f"not read: {looked.problem or 'damaged'}"
                else:
                    sides[side] = path, content
            prepare((content, path) for path, content in sides.values())
            for hunk in hunks:
                for side, (path, content) in sides.items():
                    scope = self._scope(hunk, side, sides)
                    snippet = _snippet(path, side, content, scope)
                    found[path, side, scope.start, scope.end] = snippet, scope.reason
        return list(found.values())

    def _scope(self, hunk: Hunk, side: Side, sides: dict[Side, tuple[str, bytes]]) -> Enclosing:
        path, content = sides[side]
        lines = _range(hunk.numbers(side, changed=self.changed))
        if lines is None:  # the hunk has no line on this side: its insertion point decides
            start, end = _gap(hunk, side, content, whole=not self.changed)
            other = Side.OLD if side is Side.NEW else Side.NEW
            if other in sides:
                there, text = sides[other]
                shown = hunk.numbers(other, changed=True) or hunk.numbers(other)
                around = enclosing(text, there, *(_range(shown) or (1, 1)), self.window)
                same = [d for d in definitions(content, path) if around.name and d.name == around.name]
                if len(same) == 1:
                    return self._cut(same[0], start, end, content)
            lines = start, end
        return self._cut(enclosing(content, path, *lines, self.window), *lines, content)

    def _cut(self, scope: Enclosing, start: int, end: int, content: bytes) -> Enclosing:
        if scope.kind == "window" or not self.longest or scope.end - scope.start < self.longest:
            return scope
        count = line_count(content)
        reason = f"the {scope.kind} around has more than {self.longest} lines"
        return Enclosing("window", scope.name, max(start - self.window, 1), min(end + self.window, count), reason)


def versions(change: Change, file: ChangedFile) -> Iterator[tuple[Side, str, str]]:
    """(side, commit, path) of the versions of a file that exist."""
    if file.status is not FileStatus.ADDED and change.base is not None:
        yield Side.OLD, change.base, file.old_path or file.path
    if file.status is not FileStatus.DELETED and change.head is not None:
        yield Side.NEW, change.head, file.path


def in_focus(change: Change, file: ChangedFile, hunk: Hunk) -> bool:
    """Whether the hunk covers the place that the change is about, if it is about one."""
    focus = change.focus
    if focus is None:
        return True
    return focus.path in (file.path, file.old_path) and (focus.start is None or hunk.covers(focus))


def _range(numbers: Sequence[int]) -> Lines | None:
    return (min(numbers), max(numbers)) if numbers else None


def _gap(hunk: Hunk, side: Side, content: bytes, *, whole: bool) -> Lines:
    """The lines around the insertion point on the side without the hunk's lines, skipping blank ones."""
    start, count = hunk.place(side)
    before = start if count == 0 else start - 1
    if not whole:
        for line in hunk.lines:
            if line.kind != " ":
                break
            before = line.number(side) or before
    lines = content.split(b"\n")
    above, below = before, before + 1
    while above > 1 and above <= len(lines) and not lines[above - 1].strip():
        above -= 1
    while below < len(lines) and not lines[below - 1].strip():
        below += 1
    return max(above, 1), max(below, 1)


def _snippet(path: str, side: Side, content: bytes, scope: Enclosing) -> Snippet | None:
    lines = content.split(b"\n")[scope.start - 1 : scope.end]
    text = b"\n".join(lines).decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    if not text:
        return None
    return Snippet(path=path, side=side, start=scope.start, end=scope.end, text=text, kind=scope.kind, name=scope.name)
