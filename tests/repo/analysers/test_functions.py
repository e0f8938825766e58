"""Which function a line is in, against reading all of them."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.repo.analysers.run import Function, Functions


def planted(sizes: list[int], start: int = 1, name: str = "f") -> list[Function]:
    """Functions side by side; those of three lines and more hold one of their own."""
    found: list[Function] = []
    for number, size in enumerate(sizes):
        end = start + size - 1
        here = f"{name}.{number}"
        found.append((here, start, end))
        if size > 2:
            found += planted([size - 2], start + 1, here)
        start = end + 1 + number % 2
    return found


@given(st.lists(st.integers(1, 9), max_size=6))
def test_the_innermost_function_of_every_line(sizes: list[int]) -> None:
    functions = planted(sizes)
    index = Functions(reversed(functions))
    for line in range(70):
        around = [(end - start, name) for name, start, end in functions if start <= line <= end]
        assert index.around(line) == (min(around)[1] if around else "")


def test_many_functions_and_many_lines_take_no_minutes() -> None:
    index = Functions((f"f{line}", line, line) for line in range(1, 70_001))
    began = time.process_time()
    assert [index.around(line) for line in range(1, 70_001)][-1] == "f70000"
    assert time.process_time() - began < 5
