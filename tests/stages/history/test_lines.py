"""Whose words a fix changed in a line, and which lines of a history count at all."""

from __future__ import annotations

import pytest

from reviewgauge.core.records import ChangedFile, FileStatus, Side
from reviewgauge.repo.diff.diffs import line_runs
from reviewgauge.repo.syntax.languages import not_product, trivial
from reviewgauge.stages.history.lines import (
    TouchedLine,
    adds_option,
    as_edit_of_deleted,
    forward,
    new_text,
    origin_problem,
    respells,
    says_the_same,
    texts,
    touched_at,
    touched_lines,
)


def verdict(before: str, line: str, after: str) -> str:
    """Why a change from `before` to `line` is not the origin of a fix from `line` to `after` ("" if it is)."""
    change = ChangedFile(path="a.py", patch=_patch(before, line))
    fix = ChangedFile(path="a.py", patch=_patch(line, after))
    brought, fixed = touched_at([change], "a.py", 2, Side.NEW), touched_at([fix], "a.py", 2, Side.OLD)
    assert brought is not None and fixed is not None
    return origin_problem(as_edit_of_deleted(brought, [change]), fixed)


def _patch(old: str, new: str) -> str:
    sides = [f"-{old}\n" if old else "", f"+{new}\n" if new else ""]
    return f"@@ -1,{2 + bool(old)} +1,{2 + bool(new)} @@\n top\n{''.join(sides)} end\n"


ADDED = "the fix adds to what had stood in the line before"
EDITED = "the fix changed what had stood in the line before"
REPLACED = "the fix changed what had stood in the replaced code"


@pytest.mark.parametrize(("before", "line", "after", "why"), [
    ("", "total = a - b", "total = a + b", ""),
    ("return quote(path)", "return quote(unquote(path))", "return quote(path, safe)", ""),
    ("x = read(path)", "x = read(path) or '/'", "x = load(path) or '/'", REPLACED),
    ("if a.x is b.y:", "if a.x is b.y and c != 'GET':", "if a.x == b.y and c != 'GET':", REPLACED),
    ("f(a, b, c, d)", "f(a, b, c, e)", "f(a, b, c, g)", ""),
    ("f(a)", "f(a, strict=True, b, c, d, e)", "f(a, strict=True, b, c, d, e, near=False)", ""),
    ("parser = Parser(recover=True)", "parser = Parser(recover=True, comments=False)",
        "parser = Parser(recover=True, comments=False, entities=False)", ADDED),
    ("if a.ready and b.x:", "if a.ready and b.done:", "if a.ready and b.done and c:", ADDED),
    ("except Error as e:", "except Error:", "except Error as e and f:", ADDED),
    ("if a.x is b.y:", "if a.x is b.y and c != 'GET':", "if a.x is not b.y and c != 'GET':", ADDED),
    ("f(a, b, c, d)", "f(a, b, c, e)", "", EDITED),
    ("x = str(a.value)", "x = finish(str(value))", "x = finish(text(value))", REPLACED),
    ("self.legacy = old()", "self.legacy = old() if legacy is None else legacy",
        "self.legacy = (old() and not b) if legacy is None else legacy", EDITED),
    ("missing = 'length' not in headers", "present = b'length' in keys", "present = b'length' not in keys", ""),
    ("show(render(emoji(text)))", "show(highlight(text))", "show(highlight(text, emoji=emoji))", ""),
    ("", "raise Error('no')", 'raise Error("no")', "only moved or wrapped by the fix"),
    ("", r"raise Error('no \'x\'')", """raise Error("no 'x'")""", "only moved or wrapped by the fix"),
    ("", "return a.headers['to']", "to = a.headers['to']", "only moved or wrapped by the fix"),
    ("", "open(a.headers['to'])", "return open(a.headers['to'])", ""),
])  # fmt: skip
def test_whose_words_were_fixed(before: str, line: str, after: str, why: str) -> None:
    assert verdict(before, line, after) == why


def test_a_line_that_came_from_elsewhere_is_an_edit_of_it() -> None:
    moved = [
        ChangedFile(path="old.py", patch="@@ -5 +4,0 @@\n-    return self.host.parse(self.url, strict)\n"),
        ChangedFile(path="new.py", patch="@@ -0,0 +1 @@\n+return request.host.parse(request.url, strict)\n"),
    ]
    line = touched_at(moved, "new.py", 1, Side.NEW)
    assert line is not None and line.share == 1.0
    held = as_edit_of_deleted(line, moved)
    assert {held.tokens[n] for n in held.changed} == {"request"}
    short = TouchedLine(("x", "=", "1"), {0, 1, 2})
    assert as_edit_of_deleted(short, moved) is short


def test_new_lines_between_touch_nothing_and_words_within_do() -> None:
    between = "@@ -1,2 +1,4 @@\n-raise Error('no')\n+raise Error(\"no\")\n+\n+def close():\n x\n"
    assert touched_lines(between, Side.OLD)[1].beside == set()
    within = "@@ -1 +1 @@\n-f(a, b)\n+f(a, not b)\n"
    line = touched_lines(within, Side.OLD)[1]
    assert {line.tokens[n] for n in line.beside} == {"a", "b"} and not line.changed


def test_a_huge_block_counts_as_changed_throughout() -> None:
    rows = [f"-a{n} b{n}" for n in range(2000)] + [f"+a{n} c{n}" for n in range(2000)]
    patch = "@@ -1,2000 +1,2000 @@\n" + "\n".join(rows) + "\n"
    assert all(line.share == 1.0 for line in touched_lines(patch, Side.OLD).values())


@pytest.mark.parametrize(("path", "why"), [
    ("shop/core.py", ""), ("src/main/java/Shop.java", ""),
    ("docs/conf.py", "docs, examples, tools or CI"),
    ("_travis/run.sh", "docs, examples, tools or CI"),
    ("dummyserver/handlers.py", "tests"),
    ("shop/test_server/app.py", "tests"),
    ("shop/server/app.py", ""), ("tests/test_a.py", "tests"), ("setup.py", "build or packaging"),
    ("README.md", "documentation"),
    ("shop/packages/urllib3/pool.py", "vendored"),
    ("packages/web/index.ts", ""), ("style.css", "no program code"), ("data.json", "no program code"),
    ("vendor/lib.go", "vendored"),
])  # fmt: skip
def test_what_is_the_products_code(path: str, why: str) -> None:
    assert not_product(path) == why


@pytest.mark.parametrize(("line", "why"), [
    ("    } else {", "only braces or a bare keyword"),
    ("return", "only braces or a bare keyword"),
    ("from a import b", "an import"), ("#include <stdio.h>", "an import"),
    ("const a = require('a')", "an import"),
    ("// why", "a comment"), (" * why", "a comment"), ("    :param a: what", "a comment"),
    ("__version__ = '1.2'", "a version number"),
    ("#define SIZE 3", ""), ("*pointer = 3;", ""), ("return a", ""), ("importance = 3", ""), ("x = a - b", ""),
])  # fmt: skip
def test_lines_that_say_too_little(line: str, why: str) -> None:
    assert trivial(line) == why


def test_lines_go_forward_through_edits_renames_and_end_at_deletions() -> None:
    edit = ChangedFile(path="a.py", patch="@@ -1,3 +1,4 @@\n+new\n one\n-two\n+TWO\n three\n")
    assert forward([edit], "a.py", 1) == ("a.py", 2)
    assert forward([edit], "a.py", 2) is None
    assert forward([edit], "a.py", 9) == ("a.py", 10)
    assert forward([edit], "b.py", 9) == ("b.py", 9)
    renamed = ChangedFile(path="b.py", old_path="a.py", status=FileStatus.RENAMED, patch="")
    assert forward([renamed], "a.py", 4) == ("b.py", 4)
    gone = ChangedFile(path="a.py", status=FileStatus.DELETED, patch="@@ -1 +0,0 @@\n-one\n")
    assert forward([gone], "a.py", 1) is None
    assert forward([ChangedFile(path="a.py", binary=True)], "a.py", 1) is None
    assert new_text([edit], "a.py", 3) == "TWO" and new_text([edit], "a.py", 2) is None
    assert texts([edit], "-") == {"two"} and texts([edit], "+") == {"new", "TWO"}
    assert line_runs([9, 1, 2, 4, 8], gap=2) == [(1, 4), (8, 9)]


@pytest.mark.parametrize(("line", "after", "only"), [
    ('names = ["Thufir Haway", "Duncan Idaho"]', 'names = ["Thufir Hawat", "Duncan Idaho"]', True),
    ("if os.name == 'n':", "if os.name == 'nt':", False),
    ("if 'several values for keyword' in text:", "if 'several values for' in text:", False),
    ("total = price(parcel)", "total = prices(parcel)", False),
    ("log('sent parcel', weigth)", "log('sent parcel', weight)", False),
])  # fmt: skip
def test_another_spelling_of_a_text(line: str, after: str, only: bool) -> None:
    fix = touched_at([ChangedFile(path="a.py", patch=_patch(line, after))], "a.py", 2, Side.OLD)
    assert fix is not None and respells(line, fix) is only


def test_brackets_that_group_a_condition_anew_count_and_those_around_it_do_not() -> None:
    plain = "if a or b and c:"
    regrouped: list[tuple[str, set[str]]] = [("if (a or b) and c:", {"a", "b", "or"}), ("if (a or b and c):", set())]
    for after, changed in regrouped:
        line = touched_at([ChangedFile(path="a.py", patch=_patch(plain, after))], "a.py", 2, Side.OLD)
        assert line is not None and {line.tokens[at] for at in line.changed} == changed


def test_signs_within_strings_count() -> None:
    line = touched_at([ChangedFile(path="a.py", patch=_patch("f('a.b')", "f('a,b')"))], "a.py", 2, Side.OLD)
    assert line is not None and [line.tokens[at] for at in line.changed] == ["'."]
    quotes = touched_at([ChangedFile(path="a.py", patch=_patch("f('a.b')", 'f("a.b")'))], "a.py", 2, Side.OLD)
    assert quotes is not None and not quotes.changed


def test_a_condition_that_was_broken_into_lines_is_no_new_code() -> None:
    deleted = "-    if request.ready and request.host.alive(now) and not closed:\n"
    added = "+    fits = (\n+        request.host.alive(now) and not closed\n+    )\n"
    change = [
        ChangedFile(path="old.py", patch=f"@@ -5 +4,0 @@\n{deleted}"),
        ChangedFile(path="new.py", patch=f"@@ -0,0 +1,3 @@\n{added}"),
    ]
    line = touched_at(change, "new.py", 2, Side.NEW)
    assert line is not None and line.share == 1.0
    assert not as_edit_of_deleted(line, change).changed


@pytest.mark.parametrize(("old", "new", "wish"), [
    ("", "parser.add_argument('--quiet', action='store_true')", True),
    ("", "    QUIET = 'quiet'", True),
    ("def f(a):", "def f(a, strict=False):", True),
    ("", "    strict: bool = False,", True),
    ("parser.add_argument('--quiet')", "parser.add_argument('--quiet', default=1)", False),
    ("f(a)", "f(a, strict=False)", False),
])  # fmt: skip
def test_a_new_option_is_a_wish(old: str, new: str, wish: bool) -> None:
    assert adds_option([ChangedFile(path="a.py", patch=_patch(old, new))]) is wish


@pytest.mark.parametrize(("line", "after", "same"), [
    ("if a.find(b + c) == -1:", ["whole = b + c", "", "if a.find(whole) == -1:"], True),
    ("if a.find(b + c) == -1:", ["whole = b + c", "if a.find(whole) != -1:"], False),
    ("if a.find(b + c) == -1:", ["whole = b + c", "if whole in d:", "if a.find(whole) == -1:"], False),
    ("if not six.PY3:", ["if not PY3:"], True),
    ("if not self.PY3:", ["if not PY3:"], False),
])  # fmt: skip
def test_a_part_of_a_line_that_only_gets_a_name(line: str, after: list[str], same: bool) -> None:
    added = "".join(f"+{text}\n" for text in after)
    patch = f"@@ -1,3 +1,{2 + len(after)} @@\n-import six\n+from six import PY3\n top\n-{line}\n{added}"
    assert says_the_same(line, [ChangedFile(path="a.py", patch=patch)], "a.py", 3) is same
