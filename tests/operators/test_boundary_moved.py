from __future__ import annotations

import pytest

from planted import bodies, changes
from reviewgauge.operators.boundary_moved import BoundaryMoved

PYTHON = "def pay(a, b):\n    return {}\n"
SCRIPT = "function pay(a, b) {{\n  return {};\n}}\n"


@pytest.mark.parametrize(("language", "frame", "before", "after"), [
    ("python", PYTHON, "a < b", "return a <= b"),
    ("python", PYTHON, "a >= 3", "return a > 3"),
    ("python", PYTHON, "0 < a < b", None),  # a chain
    ("python", PYTHON, "len(a) > 0", None),  # always so with `>=`
    ("python", PYTHON, "len(a) > 1", "return len(a) >= 1"),
    ("python", PYTHON, "a == b", None),
    ("python", PYTHON, "time.time() > b", None),  # never equal
    ("python", PYTHON, "a > b.timeout", None),
    ("python", "def pay(a, b):\n    if a > b:\n        b = a\n    return b\n", "", None),  # the larger in any case
    ("python", "RUN = A < B\n", "", None),
    ("python", PYTHON, "a > 0", None),  # for none there is nothing to do
    ("python", PYTHON, "a >= 0", "return a > 0"),
    ("python", PYTHON, "a < 0", "return a <= 0"),
    ("python", PYTHON, "a <= 0", None),
    ("python", PYTHON, "len(b) > 2 and b[-1] == a", None),
    ("python", PYTHON, "not (a < b or b)", None),  # the sentence would say the contrary
    ("python", PYTHON, "a >= 1 and b[0] == 2", None),  # what follows decides
    ("python", PYTHON, "a < len(b) and b[a]", "return a <= len(b) and b[a]"),
    ("python", PYTHON, "a >= len(b) or b[a]", "return a > len(b) or b[a]"),
    ("python", "def pay(a, b):\n    if a > b:\n        return b\n    return a\n", "", None),
    ("python", "def pay(a, b):\n    return a[:b] + '..' if len(a) > b else a\n", "", None),
    ("python", "def pay(a, b):\n    if len(a) > b:\n        a = a[:b]\n    return a\n", "", None),
    ("go", "package a\n\nfunc f(a []int, b int) []int {{\n\tif len(a) > b {{\n\t\ta = a[:b]\n\t}}\n\treturn a\n}}\n",
        "", None),
    ("rust", "fn f(a: &[u8], m: usize) -> &[u8] {{\n    if a.len() <= m {{ a }} else {{ &a[..m] }}\n}}\n", "", None),
    ("java",
        "class A {{\n  int f(int a, int b) {{\n    if (a > b) {{\n      return b;\n    }}\n    return a;\n  }}\n}}", "",
        None),
    ("javascript", SCRIPT, "a < b - 1", None),  # reads what is undefined, which is equal to nothing
    ("javascript", "function pay(a, b) {{\n  if (a.length > b) {{\n    a = a.slice(0, b);\n  }}\n}}\n", "", None),
    ("javascript", SCRIPT, "a.length > 0", None),
    ("javascript", SCRIPT, "a.indexOf(b) > -1", None),
    ("javascript", SCRIPT, "a.length > b", "return a.length >= b;"),
    ("typescript", SCRIPT, "b as Map<string, number>", None),
    ("typescript", SCRIPT, "a <= pay<string>(b)", "return a < pay<string>(b);"),
    ("java", "class A {{\n  void f(int n) {{\n    for (int i = 0; {}; i++) {{\n      g(i);\n    }}\n  }}\n}}\n",
        "i < n", "for (int i = 0; i <= n; i++) {"),
    ("go", "package a\n\nfunc f(a, b int) bool {{\n\treturn {}\n}}\n", "a < b", "return a <= b"),
    ("rust", "fn f(a: u8, b: u8) -> bool {{\n    {}\n}}\n", "a.len() as u8 <= b", "a.len() as u8 < b"),
    ("rust", "fn f(a: u8) -> Vec<u8> {{\n    {}\n}}\n", "Vec::<u8>::new()", None),
])  # fmt: skip
def test_a_bound_moves(language: str, frame: str, before: str, after: str) -> None:
    assert changes(BoundaryMoved(), language, frame.format(before)) == ([] if after is None else [after])


def test_the_safe_twin_mirrors_what_has_no_literal() -> None:
    assert changes(BoundaryMoved(), "python", PYTHON.format("a < b"), safe=True) == ["return b > a"]
    assert changes(BoundaryMoved(), "python", PYTHON.format("a < 3"), safe=True) == []


@pytest.mark.parametrize(("source", "said"), [
    (PYTHON.format("a < b"), "Off by one: `a <= b` also holds when `a` equals `b`, which belongs on the other side."),
    ("def pay(a, b):\n    if a >= b:\n        raise ValueError(a)\n",
        "Off by one at the bound: with `a > b` this does not raise `ValueError` when `a` equals `b`."),
    ("def pay(a, b):\n    while a < b:\n        a += 1\n",
        "Off by one: with `a <= b` this loop runs one round too many, for it also runs when `a` equals `b`."),
])  # fmt: skip
def test_the_sentence_says_what_happens_at_the_bound(source: str, said: str) -> None:
    assert bodies(BoundaryMoved(), "python", source) == [said]
