"""The definitions of the functions, methods and classes that the hunk uses, from anywhere in the repository.

Source: tree-sitter finds names and definitions (https://tree-sitter.github.io); AACR-Bench (arXiv:2601.19494), Table 1,
counts the findings that need other files. Names are matched as they stand: no types are inferred.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import ClassVar

from reviewgauge.contexts.code.index import CodeIndex, Definition, code_index
from reviewgauge.contexts.code.places import hunks_of, lines_on, path_on, place_name
from reviewgauge.contexts.code.readers import Code, code_of, reader_of
from reviewgauge.core.parameters import Positive
from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change, Side
from reviewgauge.models.text.words import is_identifier
from reviewgauge.repo.git.blobs import file_name
from reviewgauge.repo.syntax.functions import code_lines
from reviewgauge.repo.syntax.languages import language

_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Definitions(Context):
    """At most `most` definitions, of names on changed lines first, and of names that are called before others.

    A name that is not called counts where it looks like one: `max_size`, `MaxSize`, not `size`.
    Of several with one name the nearest by folder is taken; a name that more than `alike` share, none of them in the
    hunk's own file, is left out. Of each the first `longest` lines are shown. The one that the hunk is in is left out.
    """

    needs_code: ClassVar[bool] = True

    most: Positive = 10
    alike: Positive = 5
    longest: Positive = 60

    def excerpts(self, change: Change, piece: Change) -> Iterator[Excerpt]:
        """The definitions as they are after the change."""
        code = code_of(change, "definitions")
        index = code_index(code.git, code.head)
        shown = lines_on(piece, Side.NEW)
        numbers: list[int] = []
        for name, path in _names(code, piece):
            number = self._nearest(index, name, path, shown)
            if number is not None and number not in numbers:
                numbers.append(number)
            if len(numbers) == self.most:
                break
        rows = index.definition_rows[numbers].copy()
        rows[:, 2] = rows[:, 2].clip(max=rows[:, 1] + self.longest - 1)
        for number, row, text in zip(numbers, rows.tolist(), index.texts(rows), strict=True):
            one = index.definition(number)
            yield Excerpt(name=place_name(one.path, row[1], row[2], f"{one.kind} {one.name}"), text=text)

    def _nearest(self, index: CodeIndex, name: str, path: str, shown: dict[str, list[int]]) -> int | None:
        """The number of the definition that `name` means in the file `path`; None where that is not clear, or shown."""
        found = index.by_name.get(name, ())
        if len(found) > 20 * self.alike:  # as good as a word of the language
            return None
        others = [(number, index.definition(number)) for number in found]
        if not others or (len(others) > self.alike and all(one.path != path for _, one in others)):
            return None
        number, one = min(others, key=lambda pair: (_distance(pair[1].path, path), pair[0]))
        return None if _overlaps(one, shown) else number


def _overlaps(one: Definition, shown: dict[str, list[int]]) -> bool:
    return any(one.start <= line <= one.end for line in shown.get(one.path, ()))


def _distance(path: str, other: str) -> int:
    """How many steps from folder to folder lie between two files; -1 for the same file."""
    if path == other:
        return -1
    one, two = path.split("/")[:-1], other.split("/")[:-1]
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False))))
    return len(one) + len(two) - 2 * shared


def _names(code: Code, piece: Change) -> list[tuple[str, str]]:
    """(name, path of its file) of the names in the code of a piece, without comments and strings, the likeliest first.

    Names on changed lines come first; of those names that are called, or begin with a capital letter as classes do.
    """
    found: dict[tuple[str, str], tuple[bool, bool]] = {}
    for file, hunk in hunks_of(piece):
        side = Side.NEW if hunk.numbers(Side.NEW) else Side.OLD
        path = path_on(file, side)
        content = reader_of(code.git).read(file_name(code.head if side is Side.NEW else code.base, path))
        if content is None or not language(path):  # data and prose use nothing
            continue
        lines = code_lines(content, path)
        for line in hunk.lines:
            number = line.number(side)
            tokens = lines.tokens(number) if number is not None else ()
            for token, after in pairwise((*tokens, "")):
                called = after == "(" or token[:1].isupper()
                if _NAME.fullmatch(token) and (called or is_identifier(token)):
                    rank = line.kind == " ", not called
                    found[token, path] = min(rank, found.get((token, path), rank))
    return sorted(found, key=lambda one: found[one])
