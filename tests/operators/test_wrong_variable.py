from __future__ import annotations

import pytest

from planted import bodies, changes
from reviewgauge.operators.wrong_variable import WrongVariable

PYTHON = "def pay({}):\n    check(last)\n    check(first)\n    move(last)\n    return first\n"


@pytest.mark.parametrize(("language", "before", "after"), [
    ("python", PYTHON.format("first, last"), ["check(first)", "check(last)"]),
    ("python", PYTHON.format("first: int, last: int"), ["check(first)", "check(last)"]),
    ("python", PYTHON.format("first: int, last: str"), []),
    ("python", PYTHON.format("first, *last"), []),
    ("python", "def pay(first, last):\n    f(first)\n    f(last)\n", []),  # one would be unused
    ("python", "def pay(a, b):\n    a.x()\n    b.y()\n    return a.z\n", []),  # not used alike
    ("python", "def pay(old_sum, new_sum):\n    a(old_sum)\n    new_sum.b()\n    c.d = old_sum\n", ["c.d = new_sum"]),
    ("python", "def pay(a):\n    b = a\n    a.x()\n    b.x()\n    return a.y\n", []),  # another name of the same
    ("python", "def pay(k):\n    a = 1\n    f(a)\n    g(a)\n    b = 2\n    f(b)\n", []),  # not yet there
    ("javascript", "function pay(a, b) {\n  check(a);\n  check(b);\n  return a;\n}\n", ["check(b);"]),
    ("typescript",
        "function pay(a: Date, b: Date, c?: Date) {\n  check(a);\n  return a > b.x || c.x || b.y || a.x;\n}\n", []),
    ("typescript", "function pay(a: Date, b: Date | null, c: Date) {\n  a.x();\n  b.x();\n  c.x();\n  return a;\n}\n",
        ["c.x();"]),
    ("java", "class A {\n  int pay(int a, int b, long c) {\n    f(a);\n    f(b);\n    f(c);\n    return a;\n  }\n}\n",
        ["f(b);"]),
    ("go", "package a\n\nfunc f(a, b int) int {\n\tg(a)\n\tg(b)\n\treturn a\n}\n", ["g(b)"]),
    ("rust", "fn f(a: u8, b: u8) -> u8 {\n    g(a);\n    g(b);\n    a\n}\n", ["g(b);"]),
    ("go", "package a\n\nfunc f(n int) {\n\ta := make([]A, n)\n\tb := make([]B, n)\n\tg(a)\n\tg(b)\n\tg(b)\n}\n", []),
    ("rust", "fn f(a: String, b: String) -> String {\n    g(&a);\n    g(&b);\n    a\n}\n", []),  # it may be gone
])  # fmt: skip
def test_a_name_gives_way_to_another_of_its_kind(language: str, before: str, after: list[str]) -> None:
    assert changes(WrongVariable(), language, before) == after


@pytest.mark.parametrize(("last", "said"), [
    ("move(old_day)",
        "Wrong variable: `move` gets `new_day` here, so its result is wrong; it looks mixed up with `old_day`."),
    ("return old_day",
        "This returns the wrong variable, `new_day`, so the caller gets another value than it asks for; it looks "
        "mixed up with `old_day`."),
    ("a.b = old_day.x", "`new_day.x` uses the wrong variable: `new_day`, which looks mixed up with `old_day`."),
])  # fmt: skip
def test_the_sentence_names_both(last: str, said: str) -> None:
    source = f"def pay(old_day, new_day):\n    check(new_day)\n    check(old_day)\n    {last}\n"
    assert bodies(WrongVariable(), "python", source) == [said]
