"""The functions of a file: which one a line is in, without reading all of them for each line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

Function = tuple[str, int, int]  # qualified name, first line, last line


class Functions:
    """Functions of which each lies within another or apart from it."""

    def __init__(self, functions: Iterable[Function] = ()) -> None:
        self._known = sorted(functions, key=lambda one: (one[1], -one[2]))
        self._starts = [start for _, start, _ in self._known]
        self._outer: list[int] = []  # the number of the function around each, -1 for none
        nested: list[int] = []
        for number, (_, start, _) in enumerate(self._known):
            while nested and self._known[nested[-1]][2] < start:
                nested.pop()
            self._outer.append(nested[-1] if nested else -1)
            nested.append(number)

    def around(self, line: int) -> str:
        """The name of the innermost function that holds a line, empty where there is none."""
        number = bisect_right(self._starts, line) - 1
        while number >= 0 and self._known[number][2] < line:
            number = self._outer[number]
        return self._known[number][0] if number >= 0 else ""
