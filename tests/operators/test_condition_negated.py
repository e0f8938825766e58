from __future__ import annotations

import pytest

from planted import bodies, changes
from reviewgauge.operators.condition_negated import ConditionNegated

PYTHON = "def pay(a, b):\n    if {0}:\n        a = b\n    return a\n"
BRACES = "function pay(a, b) {{\n  if ({0}) {{\n    a = b;\n  }}\n  return a;\n}}\n"
JAVA = "class Till {{\n  int pay(int a, int b) {{\n    if ({0}) {{\n      a = b;\n    }}\n    return a;\n  }}\n}}\n"
GO = "package till\n\nfunc pay(a, b int) int {{\n\tif {0} {{\n\t\ta = b\n\t}}\n\treturn a\n}}\n"
RUST = "fn pay(mut a: u8, b: u8) -> u8 {{\n    if {0} {{\n        a = b;\n    }}\n    a\n}}\n"


@pytest.mark.parametrize(("language", "frame", "before", "after"), [
    ("python", PYTHON, "not b", "if b:"),
    ("python", PYTHON, "b", "if not b:"),
    ("python", PYTHON, "a in b", "if a not in b:"),
    ("python", PYTHON, "a is not None", "if a is None:"),
    ("python", PYTHON, "a and not b", "if a and b:"),
    ("python", PYTHON, "a or b == 3", "if a or b != 3:"),
    ("python", PYTHON, "len(a) > 0", None),
    ("python", PYTHON, "0 < a < 9", None),
    ("python", PYTHON, "a > 1 and b < 9", None),
    ("python", PYTHON, "TYPE_CHECKING", None),
    ("javascript", BRACES, "a === b", "if (a !== b) {"),
    ("javascript", BRACES, "!a.ok()", "if (a.ok()) {"),
    ("javascript", BRACES, "!(a && b)", None),
    ("javascript", BRACES, "a in b", None),
    ("typescript", BRACES, "b.ok", "if (!b.ok) {"),
    ("typescript", BRACES, "b", None),
    ("tsx", BRACES, "b.ok()", "if (!b.ok()) {"),
    ("java", JAVA, "a < b", "if (a >= b) {"),
    ("java", JAVA, "open()", "if (!open()) {"),
    ("java", JAVA, "o instanceof Till t", None),
    ("go", GO, "a == b", "if a != b {"),
    ("go", GO, "v, ok := m[a]; ok", "if v, ok := m[a]; !ok {"),
    ("go", GO, "err != nil", None),
    ("rust", RUST, "x.is_some()", "if x.is_none() {"),
    ("rust", RUST, "matches!(a, 1)", "if !matches!(a, 1) {"),
    ("rust", RUST, "let Some(c) = x", None),
])  # fmt: skip
def test_a_condition_is_turned(language: str, frame: str, before: str, after: str) -> None:
    assert changes(ConditionNegated(), language, frame.format(before)) == ([] if after is None else [after])


@pytest.mark.parametrize("source", [
    "if ready:\n    pay()\n",
    "def pay(a):\n    if a:\n        logger.info(a)\n",
    "def pay(a):\n    if a.b is not None:\n        a.b.close()\n",
    "def pay(a):\n    if a == 1:\n        b()\n    elif a == 2:\n        c()\n    else:\n        d()\n",
])  # fmt: skip
def test_nothing_outside_functions_for_logging_in_chains_or_where_the_branch_uses_what_is_missing(source: str) -> None:
    assert changes(ConditionNegated(), "python", source) == []


@pytest.mark.parametrize(("language", "before", "after"), [
    ("python", "def pay(a, b):\n    if a == 1:\n        b()\n    else:\n        c()\n", "if a != 1: c() else: b()"),
    ("javascript", "function pay(a) {\n  if (a.ok) {\n    b();\n  } else {\n    c();\n  }\n}\n",
        "if (!a.ok) { c(); } else { b();"),
    ("go", "package till\n\nfunc pay(a int) {\n\tif a == 1 {\n\t\tb()\n\t} else {\n\t\tc()\n\t}\n}\n",
        "if a != 1 { c() } else { b()"),
    ("java", JAVA.format("a == b"), "if (b == a) {"),
    ("java", JAVA.format("a == 1"), None),
])  # fmt: skip
def test_the_safe_twin_exchanges_the_branches_or_mirrors_the_comparison(language: str, before: str, after: str) -> None:
    assert changes(ConditionNegated(), language, before, safe=True) == ([] if after is None else [after])


@pytest.mark.parametrize(("source", "said"), [
    ("def pay(a):\n    if not a:\n        raise ValueError(a)\n    return a\n",
        "The guard `a` is inverted: it raises `ValueError` for the cases that should go on, and lets through those "
        "that it is there to stop."),
    (PYTHON.format("a.new"),
        "The check `not a.new` is the wrong way round: it sets `a` when that is not wanted, and does not do so "
        "when it is needed."),
    ("def pay(a, b):\n    if a == 1:\n        return b.total\n    else:\n        return 0\n",
        "This condition is inverted: with `a != 1` it returns `b.total` in exactly the cases that belong to the "
        "`else` branch, and the other way round."),
    ("def pay(a, b):\n    if a == 1:\n        return b.total\n    return 0\n",
        "The test before this return is inverted: with `a != 1` it returns `b.total` for the wrong cases, and the "
        "right ones fall through to the code below."),
])  # fmt: skip
def test_the_sentence_says_what_the_branch_does(source: str, said: str) -> None:
    assert bodies(ConditionNegated(), "python", source) == [said]
