from __future__ import annotations

import pytest

from planted import bodies, changes
from reviewgauge.operators.missing_null_check import MissingNullCheck

GUARD = "def pay(till):\n    note = 1\n    if till is None:\n        {}\n    return {}\n"


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("python", GUARD.format("return None", "till.total"), [""]),
        ("python", GUARD.format("till = Till()", "till.total"), [""]),
        ("python", GUARD.format("raise ValueError(till)", "till.total"), []),  # another fault: nothing is validated
        ("python", GUARD.format("return None", "count(till)"), []),  # which may take it
        ("python", GUARD.format("return None", "till and till.total"), []),  # checked again
        ("python", "def pay(till):\n    if not till:\n        return\n    till.close()\n    a()\n", []),  # may be empty
        ("python", "def pay(till=None):\n    if not till:\n        return\n    till.close()\n    a()\n", [""]),
        ("python", "def pay(till):\n    if till is not None:\n        till.close()\n    a()\n", ["till.close()"]),
        ("python", "def pay(a):\n    return a.b is not None and a.b.c > 2\n", ["return a.b.c > 2"]),
        ("python", "def pay(a):\n    return a is None or a.b\n", ["return a.b"]),
        ("python", "def pay(a, b):\n    return b and (a is not None and a.b)\n", ["return b and a.b"]),
        ("python", "def pay(a):\n    return a is None and a.b\n", []),  # never sound
        ("python", "def pay(a):\n    if a is None:\n        return\n    return a is not None and a.b\n", []),  # twice
        ("javascript", "function pay(a) {\n  return a && a.b;\n}\n", ["return a.b;"]),
        ("javascript", "function pay(a) {\n  return a && a?.b;\n}\n", []),
        (
            "javascript",
            "function pay(a) {\n  if (a) {\n    try {\n      a.b();\n    } catch (e) {}\n    c();\n  }\n}\n",
            [],
        ),
        ("javascript", "function pay(a) {\n  if (!a) {\n    return;\n  }\n  a.b();\n}\n", [""]),
        ("typescript", "function pay(a: Till | null) {\n  return a !== null && a.b;\n}\n", []),  # would not compile
        ("typescript", "function pay(a: any) {\n  return a !== null && a.b;\n}\n", ["return a.b;"]),
        ("java", "class A {\n  int b(C c) {\n    return c != null && c.d();\n  }\n}\n", ["return c.d();"]),
        ("java", "class A {\n  void b(C c) {\n    if (c != null) {\n      c.d();\n    }\n  }\n}\n", ["c.d();"]),
        ("go", "package a\n\nfunc f(c *C) int {\n\tif c == nil {\n\t\treturn 0\n\t}\n\treturn c.d\n}\n", [""]),
        (
            "go",
            'package a\n\nimport "errors"\n\nfunc f(c *C) error {\n\tif c == nil {\n\t\treturn errors.New("no")\n\t}\n'
            "\treturn c.d\n}\n",
            [],  # an import would be unused
        ),
    ],
)
def test_a_check_goes(language: str, before: str, after: list[str]) -> None:
    assert changes(MissingNullCheck(), language, before) == after


@pytest.mark.parametrize(("source", "said"), [
    ("def pay(till=None):\n    return till is not None and till.total\n",
        "`till` may be `None` here, and nothing checks for it: when it is left at its default `None`, `till.total` "
        "raises an `AttributeError`."),
    ("def pay(name):\n    till = tills.get(name)\n    if not till:\n        return 0\n    return till[0]\n",
        "`till` may be `None` here, and nothing checks for it: when `tills.get` finds nothing, `till[0]` raises a "
        "`TypeError`."),
    ("def pay(till):\n    return till is not None and till.total\n",
        "`till` is used without a check that it is there: `till.total` raises an `AttributeError` when it is "
        "`None`."),
    (GUARD.format("return", "till.total()"),
        "Missing check for `None`: `till.total` raises an `AttributeError` when `till` is not set."),
])  # fmt: skip
def test_the_sentence_says_why_it_may_be_null(source: str, said: str) -> None:
    assert bodies(MissingNullCheck(), "python", source) == [said]


def test_the_safe_twin_is_a_guard() -> None:
    source = "def pay(till):\n    note()\n    if till is not None:\n        till.close()\n"
    assert changes(MissingNullCheck(), "python", source, safe=True) == ["if till is None: return  till.close()"]
