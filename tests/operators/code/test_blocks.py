from __future__ import annotations

from textwrap import indent

import pytest

from planted import clean, code_of
from reviewgauge.operators.code.blocks import following, statement, unwrapped, without
from reviewgauge.operators.code.operator import Code, applied
from reviewgauge.repo.syntax.tree import Node

ALL = frozenset(range(1, 100))


def holding(code: Code, text: str) -> Node:
    node = [one for one in code.tree.root.walk() if one.text.startswith(text)][-1]
    found = statement(code, node)
    assert found is not None
    return found


@pytest.mark.parametrize(("language", "before", "after"), [
    ("python", "def f():\n    a()\n    gone()\n    b()", "def f():\n    a()\n    b()"),
    ("python", "def f():\n    a()\n    # why\n    gone()  # tail\n    b()", "def f():\n    a()\n    b()"),
    ("python", "def f():\n    gone()\n\n    b()", "def f():\n    b()"),
    ("python", "def f():\n    a()\n\n    gone()\n\n    b()", "def f():\n    a()\n\n    b()"),
    ("python", "def f():\n    gone()", None),  # all there is
    ("python", 'def f():\n    """What it does."""\n    gone()', None),
    ("python", "def f():\n    a(); gone()", None),
    ("go", "func f() {\n\ta()\n\n\tgone()\n}", "func f() {\n\ta()\n}"),
    ("java", "class A { void f() {\n  a();\n  gone();\n} }", "class A { void f() {\n  a();\n} }"),
    ("javascript", "function f() {\n  a();\n  /* why */\n  gone();\n}", None),
    ("rust", "fn f() {\n    gone();\n    b()\n}", "fn f() {\n    b()\n}"),
])  # fmt: skip
def test_a_statement_goes_with_its_lines(language: str, before: str, after: str | None) -> None:
    code = code_of(language, ("package p\n\n" if language == "go" else "") + before)
    edit = without(code, holding(code, "gone()"))
    made = edit and applied(code.tree.source, [edit]).decode().removeprefix("package p\n\n").strip("\n")
    assert made == after


def test_a_body_without_braces_does_not_give_way() -> None:
    code = code_of("javascript", "function f() {\n  if (a)\n    b();\n}")
    outer = next(one for one in code.tree.root.walk() if one.kind == "if_statement")
    assert unwrapped(code, outer, outer.parts[1]) is None


def test_nothing_goes_that_is_not_added() -> None:
    code = code_of("python", "def f():\n    a()\n    # why\n    gone()\n    b()", added={4})
    assert without(code, holding(code, "gone()")) is None


@pytest.mark.parametrize(("before", "after"), [
    ("with lock:\n    a()\n\n    b()\nc()", "a()\n\nb()\nc()"),
    ("with lock:\n    # why\n    if a:\n        b()\nc()", "# why\nif a:\n    b()\nc()"),
    ("with lock: a()", None),
    ('with lock:\n    a = """x\n    y"""\n', None),  # the text would change
])  # fmt: skip
def test_a_block_gives_way_to_its_body(before: str, after: str | None) -> None:
    code = code_of("python", "def f():\n" + indent(before, "    "))
    outer = next(one for one in code.tree.root.walk() if one.kind == "with_statement")
    body = outer.get("body")
    assert body is not None
    edit = unwrapped(code, outer, body)
    made = edit and applied(code.tree.source, [edit]).decode().strip("\n")
    assert made == (after and clean("def f():\n" + indent(after, "    ")))


def test_what_follows_are_statements() -> None:
    code = code_of("python", "def f():\n    a()\n    # why\n    b()\n    c()")
    assert [one.text for one in following(code, holding(code, "a()"))] == ["b()", "c()"]
