from __future__ import annotations

import pytest

from planted import bodies, changes
from reviewgauge.operators.swapped_arguments import SwappedArguments

PYTHON = "def pay(a, b, c: int):\n    return {}\n"
JAVA = "class A {{\n  int pay(int a, int b, String c) {{\n    return {};\n  }}\n}}\n"
GO = "package a\n\nfunc pay(a, b int, c string) int {{\n\treturn {}\n}}\n"
TYPED = "function pay(a: number, b: number, c: string) {{\n  return {};\n}}\n"
RUST = "fn pay(a: u8, b: u8, c: &str) -> u8 {{\n    {}\n}}\n"


@pytest.mark.parametrize(("language", "frame", "before", "after"), [
    ("python", PYTHON, "move(a, b)", "return move(b, a)"),
    ("python", PYTHON, "move(1, a, b)", "return move(1, b, a)"),
    ("python", PYTHON, "move(a, c)", None),  # one is a number
    ("python", PYTHON, "move(a.x, a.y)", None),  # nothing is known of either
    ("python", PYTHON, "move(x=a, y=b)", None),
    ("python", PYTHON, "move(a, a)", None),
    ("python", PYTHON, "max(a, b)", None),
    ("python", PYTHON, "is_same_day(a, b)", None),
    ("javascript", "function pay(a, b) {{\n  return {};\n}}\n", "till.move(a, b)", "return till.move(b, a);"),
    ("typescript", TYPED, "move(a, b)", "return move(b, a);"),
    ("tsx", TYPED, "move(a, c)", None),
    ("java", JAVA, "move(a, b)", "return move(b, a);"),
    ("java", JAVA, "move(b, c)", None),
    ("go", GO, "move(a, b)", "return move(b, a)"),
    ("go", GO, "fmt.Printf(a, b)", None),
    ("rust", RUST, "shift(a, b)", "shift(b, a)"),
    ("rust", RUST, "shift(b, c)", None),
])  # fmt: skip
def test_two_of_a_kind_change_places(language: str, frame: str, before: str, after: str) -> None:
    assert changes(SwappedArguments(), language, frame.format(before)) == ([] if after is None else [after])


DEFINED = "def move(source, target):\n    pass\n\n\ndef pay(a):\n    move(a.old, a.new)\n"


def test_what_the_function_takes_is_said_and_the_safe_twin_passes_by_name() -> None:
    assert changes(SwappedArguments(), "python", DEFINED) == ["move(a.new, a.old)"]
    assert changes(SwappedArguments(), "python", DEFINED, safe=True) == ["move(target=a.new, source=a.old)"]
    assert bodies(SwappedArguments(), "python", DEFINED) == [
        "The arguments of `move` are in the wrong order: it takes `source` before `target`, so `a.new` arrives as "
        "`source` and `a.old` as `target`."
    ]
