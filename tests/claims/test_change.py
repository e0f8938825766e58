"""Claims by syntax: golden sentences for each language, and what no diff may break."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewgauge.claims.change import MOST, change_claims
from reviewgauge.core.records import Change, ChangedFile, FileStatus, Span


def change(path: str, patch: str, **more: object) -> Change:
    return Change.model_validate({"repo": "o/r", "files": (ChangedFile(path=path, patch=patch),)} | more)


def hunk(*lines: str, start: int = 1, heading: str = "") -> str:
    """A hunk of lines that begin with their mark."""
    old, new = (sum(line[:1] != mark for line in lines) for mark in "+-")
    return f"@@ -{start},{old} +{start},{new} @@ {heading}\n" + "".join(f"{line}\n" for line in lines)


def said(path: str, *lines: str, heading: str = "") -> list[str]:
    return [claim.body for claim in change_claims(change(path, hunk(*lines, heading=heading)))]


GOLDEN = {
    "condition": (
        "a.py",
        [" def shipping(weight):", "-    if weight > 10:", "+    if weight >= 10:", "         return 5"],
        ["The condition in `shipping` changes from `weight > 10` to `weight >= 10`."],
    ),
    "negation": (
        "a.py",
        [" def f(x):", "-    if x.done:", "+    if not x.done:", "         return 5"],
        ["The condition in `f` changes from `x.done` to `not x.done`."],
    ),
    "parameter": (
        "a.py",
        ["-def total(a):", "+def total(a, tax=0):", "     return a"],
        ["The function `total` gets a new parameter `tax` with the default `0`."],
    ),
    "default": (
        "a.py",
        ["-def total(a, tax=0):", "+def total(a, tax=1):", "     return a"],
        ["The default of the parameter `tax` of the function `total` changes from `0` to `1`."],
    ),
    "rename": (
        "a.py",
        ["-def total(a):", "+def the_sum(a):", "     return sum(a)"],
        ["The function `total` is renamed to `the_sum`."],
    ),
    "parameters that go on from above": (
        "a.py",
        ["            limit=3,", "+            retries=1,", "             tail=None):", "         return limit"],
        ["A function in `Client` gets a new parameter `retries` with the default `1`."],
    ),
    "an argument by name": (
        "setup.py",
        ["     name='x',", "+    author='A', ", "     url='u',"],
        ["The entry `author` is added with the value `'A'`."],
    ),
    "added and removed": (
        "a.py",
        ["-def old():", "-    return 1", "+class New(Base):", "+    def run(self, job):", "+        raise Stop(job)"],
        [
            "The function `old` is removed.",
            "The method `run` is added in `New`, with the parameter `job`.",
            "The class `New` is added: `class New(Base)`.",
            "An error is now raised in `New.run`: `Stop(job)`.",
        ],
    ),
    "errors": (
        "a.py",
        [
            " def f(x):",
            "+    try:",
            "         g(x)",
            "+    except OSError as error:",
            "+        raise Bad(x) from error",
        ],
        [
            "An error is now raised in `f`: `Bad(x) from error`.",
            "Errors are now caught in `f`: `except OSError as error`.",
        ],
    ),
    "literal": (
        "a.py",
        [" x = foo(", "-    10,", "+    20,", " )"],
        ["The value of `x` changes from `foo( 10, )` to `foo( 20, )`."],
    ),
    "imports": ("a.py", ["-import os", "+import sys"], ["The import changes from `import os` to `import sys`."]),
    "docstring": (
        "a.py",
        [" def f(x):", '-    """Old words of it."""', '+    """New words of it."""', "     return x"],
        ['The comment changes from `"""Old words of it."""` to `"""New words of it."""`.'],
    ),
    "a comment of several lines": (
        "a.js",
        [" /**", "- * Old words", "+ * New words", "+ * and more.", "  */", " f();"],
        ["The comment changes from `Old words` to `New words and more.`."],
    ),
    "java": (
        "A.java",
        [
            "   public int get(int i) {",
            "-    return items[i];",
            "+    if (i < 0) {",
            "+      throw new IllegalArgumentException(name);",
            "+    }",
            "+    return items[i - 1];",
            "   }",
            "-  private int n;",
            "+  private long n;",
        ],
        [
            "A condition is added in `get`: `if i < 0`.",
            "An error is now thrown in `get`: `new IllegalArgumentException(name)`.",
            "The value returned in `get` changes from `items[i]` to `items[i - 1]`.",
            "The declaration of the field `n` in `A` changes from `private int n` to `private long n`.",
        ],
    ),
    "java modifier": (
        "A.java",
        ["    * Makes one.", "    */", "-  public A() {", "+  protected A() {", "     this(1);", "   }"],
        ["The declaration of the method `A` changes from `public A()` to `protected A()`."],
    ),
    "javascript": (
        "a.js",
        [
            "-export function load(id) {",
            "-  return fetch(id);",
            "+export async function load(id, { retries = 2 } = {}) {",
            "+  return await fetch(id, retries);",
            " }",
        ],
        [
            "The function `load` gets a new parameter `retries` with the default `2`.",
            "The declaration of the function `load` changes from `function load(id)` to "
            "`async function load(id, { retries = 2 } = {})`.",
            "The value returned in `load` changes from `fetch(id)` to `await fetch(id, retries)`.",
        ],
    ),
    "a test between others": (
        "a.test.js",
        [
            "   assert(page.done);",
            " });",
            " ",
            '+test("a closed page rests", async () => {',
            "+  const page = open();",
            "+  assert(page.rests);",
            "+});",
        ],
        [
            'The test `"a closed page rests"` is added.',
            "A call to `assert` is added: `assert(page.rests)`.",
            "A new variable `page` is added with the value `open()`.",
        ],
    ),
    "a hunk that begins in a template": (
        "a.js",
        [
            "       <h3>${title}</h3>",
            "-      <p>${text(fee)}</p>",
            "+      <p>${fee > 0 ? text(fee) : none}</p>",
            "     </section>`;",
            " }",
        ],
        ["A condition is added: `fee > 0`."],
    ),
    "a method without its class": (
        "a.js",
        ["     return 1;", "   }", "", "+  next(a) {", "+    return a;", "+  }"],
        ["The method `next` is added, with the parameter `a`.", "`a` is returned in `next`."],
    ),
    "typescript": (
        "a.ts",
        [" interface Job {", "+  owner?: string;", " }", "-const limit: number = 3;", "+const limit: number = 4;"],
        [
            "The value of `limit` changes from `3` to `4`.",
            "A new field `owner` is declared in `Job`: `owner?: string`.",
        ],
    ),
    "go": (
        "a.go",
        [
            "-func (s *Stack) Push(n int) {",
            "+func (s *Stack) Push(n int) error {",
            "+\tif n < 0 {",
            "+\t\treturn errNegative",
            "+\t}",
            " \ts.items = append(s.items, n)",
            "+\treturn nil",
            " }",
        ],
        [
            "A condition is added in `Push`: `if n < 0`.",
            "The declaration of the method `Push` changes from `func (s *Stack) Push(n int)` to "
            "`func (s *Stack) Push(n int) error`.",
            "`errNegative` is returned in `Push`.",
            "`nil` is returned in `Push`.",
        ],
    ),
    "c": (
        "a.c",
        [
            " static int get(int *p) {",
            "-  while (*p != 0) p++;",
            "+  while (p && *p != 0) p++;",
            "-  return 1;",
            "+  return len(p);",
            " }",
        ],
        [
            "The loop condition in `get` changes from `*p != 0` to `p && *p != 0`.",
            "The value returned in `get` changes from `1` to `len(p)`.",
        ],
    ),
    "c++": (
        "a.cpp",
        [" int Shop::total(int a) const {", "-  auto x = find(a);", "+  auto x = find(a, true);", "   return x;", " }"],
        ["The value of `x` in `Shop::total` changes from `find(a)` to `find(a, true)`."],
    ),
    "c#": (
        "a.cs",
        [
            "   public int Get(int i) {",
            "-    try { return a[i]; } catch (Bad e) { return 0; }",
            "+    return a[i];",
            "   }",
        ],
        [
            "Errors are no longer caught by `catch (Bad e)` in `Get`.",
            "`0` is no longer returned here in `Get`.",
            "The line `return a[i];` is added.",
        ],
    ),
    "ruby": (
        "a.rb",
        [" def total(a)", "-  raise ArgumentError if a > 3", "+  raise ArgumentError if a > 5", "   a", " end"],
        ["The condition in `total` changes from `a > 3` to `a > 5`."],
    ),
    "php": (
        "a.php",
        [
            " function total($a) {",
            "-    if ($a == null) {",
            "+    if ($a === null) {",
            "         return 1;",
            "     }",
            " }",
        ],
        ["The condition in `total` changes from `$a == null` to `$a === null`."],
    ),
    "rust": (
        "a.rs",
        [" fn total(a: i32) -> i32 {", "-    let x = get(a);", "+    let x = get(a)?;", "     x", " }"],
        ["The value of `x` in `total` changes from `get(a)` to `get(a)?`."],
    ),
    "no grammar": (
        "a.xyz",
        ["-limit 10", "+limit 20", "+flag on"],
        ["The line changes from `limit 10` to `limit 20`.", "The line `flag on` is added."],
    ),
    "moved": ("a.py", [" def f():", "-    x = 1", "     y = 2", "+    x = 1"], ["Lines are moved."]),
    "white space": ("a.py", ["-x = 1", "+x  =  1"], ["Only white space and line breaks are changed."]),
    "blank": ("a.py", [" x = 1", "+", " y = 1"], ["Blank lines are changed."]),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_sentences_of_small_diffs(name: str) -> None:
    path, lines, expected = GOLDEN[name]
    assert said(path, *lines, heading=HEADINGS.get(name, "")) == expected


HEADINGS = {"java": "public class A {", "parameters that go on from above": "class Client:"}


def test_lines_are_those_of_the_new_version() -> None:
    rows = "     def f(self, x):\n-        return x > 1\n+        return x > 2\n         pass\n"
    patch = f"@@ -10,3 +20,3 @@ class A:\n{rows}"
    (claim,) = change_claims(change("a.py", patch))
    assert (claim.line, claim.id, claim.kind, claim.source) == (21, "1", "claim", "syntax")
    gone = "@@ -10,3 +20,2 @@\n a = 1\n-b = 2\n c = 3\n"
    assert [claim.line for claim in change_claims(change("a.py", gone))] == [21]


def test_several_files_are_named_and_tests_come_last() -> None:
    files = (
        ChangedFile(path="tests/test_a.py", patch=hunk("-    if x > 1:", "+    if x > 2:", "         pass")),
        ChangedFile(path="a.py", patch=hunk("-x = 1", "+x = 2")),
        ChangedFile(path="new.py", old_path="old.py", status=FileStatus.RENAMED, patch=""),
        ChangedFile(path="gone.py", status=FileStatus.DELETED, patch=None),
        ChangedFile(path="x.bin", binary=True),
    )
    found = [claim.body for claim in change_claims(Change(repo="o/r", files=files))]
    assert found == [
        "gone.py: The file `gone.py` is removed.",
        "a.py: The value of `x` changes from `1` to `2`.",
        "tests/test_a.py: The condition changes from `x > 1` to `x > 2`.",
        "new.py: The file `old.py` is renamed to `new.py`.",
    ]


def test_a_focus_is_told_alone() -> None:
    patch = hunk("-a = 1", "+a = 2") + hunk("-b = 1", "+b = 2", start=30)
    focused = change("a.py", patch, focus=Span(path="a.py", start=30, end=30))
    assert [claim.body for claim in change_claims(focused)] == ["The value of `b` changes from `1` to `2`."]


def test_there_are_never_more_than_the_limit() -> None:
    patch = "".join(hunk(f"-a{n} = 1", f"+a{n} = {n + 2}", start=10 * n + 1) for n in range(500))
    began = time.process_time()
    found = change_claims(change("a.py", patch))
    assert len(found) == MOST and time.process_time() - began < 20
    assert len({claim.id for claim in found}) == MOST


@pytest.mark.parametrize("path", ["a.py", "a.js", "a.xyz"])
def test_huge_hunks_take_seconds_at_most(path: str) -> None:
    lines = [f"{mark}    value_{n} = call_{n}(argument_{n % 7}, {mark}{n})" for mark in "-+" for n in range(1, 1000)]
    began = time.process_time()
    assert len(change_claims(change(path, hunk(*lines)))) == MOST
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "(" * 20_000),
        ("a.js", "`${" * 5_000),
        ("a.java", "{" * 5_000),
        ("a.c", "x" * 200_000),
        ("a.py", "\x00\x01"),
        ("a.go", "func (" * 1_000),
        ("a.php", "<?php " * 1_000),
        ("a.rb", "%w(" * 1_000),
        ("a.py", "`" * 400),
        ("a.ts", "a(" + "b, " * 20_000),
    ],
)
def test_hostile_lines_are_told_somehow(path: str, text: str) -> None:
    began = time.process_time()
    text = text.replace("\x00", "\ufffd")
    found = change_claims(change(path, hunk(f"-{text}", f"+{text}1", " x")))
    assert time.process_time() - began < 30
    assert all(len(claim.body) < 1000 for claim in found)


LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
CODE = st.sampled_from(
    [
        "def f(a, b=1):",
        "    if x:",
        "  return g(1)",
        "}",
        "{",
        "class A {",
        '"""',
        "*/",
        "/*",
        "x = [",
        "]",
        "try:",
        "`",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(st.tuples(st.sampled_from(" +-"), st.one_of(LINES, CODE)), max_size=15),
    suffix=st.sampled_from(["py", "js", "ts", "java", "go", "c", "cpp", "rb", "php", "cs", "rs", "h", "xyz", "md"]),
)
def test_no_patch_breaks_it(lines: list[tuple[str, str]], suffix: str) -> None:
    patch = hunk(*(mark + text.replace("\n", " ").replace("\r", " ") for mark, text in lines))
    for text in (patch, patch.replace("@@ -1", "@@ -0"), patch[: len(patch) // 2]):
        one = change(f"a.{suffix}", text)
        found = change_claims(one)
        assert len(found) <= MOST and found == change_claims(one)
        assert all(claim.body and len(claim.body) < 1000 for claim in found)


def test_nothing_is_said_of_nothing() -> None:
    assert change_claims(Change(repo="o/r")) == ()
    assert change_claims(change("a.py", "")) == ()
    assert change_claims(change("a.py", hunk(" x = 1"))) == ()
    assert change_claims(change("a.py", "no diff at all")) == ()
