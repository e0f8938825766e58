"""The function, method or class around the hunk, before the change, after it, or both.

Source: "B" and "A" of ContextCRBench (arXiv:2511.07017), 2.2.2: the smallest enclosing scope, by tree-sitter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from reviewgauge.contexts.code.places import first_changed, hunks_of, path_on, place_name
from reviewgauge.contexts.code.readers import code_of, reader_of
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.parameters import Positive
from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change, Side, Snippet
from reviewgauge.core.results import Drop
from reviewgauge.repo.syntax.around_hunks import AroundHunks

_SIDES = {"before": (Side.OLD,), "after": (Side.NEW,), "both": (Side.NEW, Side.OLD)}


@dataclass(frozen=True)
class Function(Context):
    """One excerpt a scope and version, those after the change first.

    Where the data came with the code around its hunks (ContextCRBench, `add_functions`), that is taken. Otherwise it
    is read from the commits, by all lines of the hunk, as in the paper, or with `changed` by its changed lines. A scope
    of more than `longest` lines, or code without a grammar, becomes 20 lines on either side.
    """

    which: Literal["before", "after", "both"] = "both"
    changed: bool = False
    longest: Positive = 1000

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Nothing to leave out. Raises NeedsCode where no change has code, or the code around its hunks."""
        if changes and not any(change.snippets or (change.git and change.head) for change in changes):
            raise NeedsCode("the context function")
        return ()

    def excerpts(self, change: Change, piece: Change) -> Iterator[Excerpt]:
        """The scopes around the hunks of `piece`."""
        found = change.snippets or self._read(change, piece)
        for side in _SIDES[self.which]:
            for snippet in found:
                at = _first_line(snippet, piece) if snippet.side is side else None
                if at is not None:
                    what = f"{snippet.kind} {snippet.name}".strip() if snippet.kind != "window" else ""
                    name = place_name(snippet.path, snippet.start, snippet.end, what, side)
                    yield Excerpt(name=name, text=snippet.text, around=at - snippet.start + 1)

    def _read(self, change: Change, piece: Change) -> Sequence[Snippet]:
        code_of(change, "function")
        found = AroundHunks(self.changed, self.longest).find(piece, reader_of)
        if isinstance(found, str):
            raise UserError(f"the context function: {found}")
        return [snippet for snippet, _ in found if snippet is not None]


def _first_line(snippet: Snippet, piece: Change) -> int | None:
    """The first changed line of `piece` that lies in a snippet, or near its end; None where no hunk touches it."""
    for file, hunk in hunks_of(piece):
        if path_on(file, snippet.side) != snippet.path:
            continue
        numbers = hunk.numbers(snippet.side) or [first_changed(hunk, snippet.side)]
        if numbers[0] <= snippet.end and snippet.start <= numbers[-1]:
            return min(max(first_changed(hunk, snippet.side), snippet.start), snippet.end)
    return None
