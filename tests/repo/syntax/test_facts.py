"""The outline of a piece of source."""

from __future__ import annotations

import pytest

from reviewgauge.repo.syntax.facts import has_grammar, outline_of

SOURCE = b'''import os

@cached
def total(a, b: int = 2, *rest) -> int:
    """Words."""
    if a > b and not rest:
        raise ValueError("x")
    try:
        n = load(a, key=1)
    except (OSError, KeyError) as error:
        return 0
    return n
'''


def test_the_facts_of_a_function() -> None:
    outline = outline_of(SOURCE, "a.py")
    assert outline is not None and outline.broken == 0
    told = [(one.kind, one.first, one.name, one.text, one.scope) for one in outline.facts if one.kind != "literal"]
    assert told == [
        ("import", 0, "", "import os", ""),
        ("attribute", 2, "", "@cached", ""),
        ("function", 3, "total", "def total(a, b: int = 2, *rest) -> int", ""),
        ("comment", 4, "", '"""Words."""', "total"),
        ("condition", 5, "if", "a > b and not rest", "total"),
        ("raise", 6, "raise", 'ValueError("x")', "total"),
        ("call", 6, "ValueError", 'ValueError("x")', "total"),
        ("handler", 7, "try_statement", "try", "total"),
        ("assign", 8, "n", "load(a, key=1)", "total"),
        ("call", 8, "load", "load(a, key=1)", "total"),
        ("handler", 9, "except_clause", "except (OSError, KeyError) as error", "total"),
        ("return", 10, "return", "0", "total"),
        ("return", 11, "return", "n", "total"),
    ]
    function = next(one for one in outline.facts if one.kind == "function")
    assert [(one.name, one.default, one.text) for one in function.parameters] == [
        ("a", "", "a"),
        ("b", "2", "b: int = 2"),
        ("rest", "", "*rest"),
    ]
    assert function.result == "int" and function.body == (3, 11)


@pytest.mark.parametrize(
    ("path", "source", "names"),
    [
        ("a.c", "static int *get(int a, const char *b) { return 0; }", ["a", "b"]),
        ("a.cpp", "int A::get(int a, T b = 3) const { return 0; }", ["a", "b"]),
        ("a.go", "func (s *S) Get(a, b int, c string) error { return nil }", ["a", "b", "c"]),
        ("a.java", "class A { int get(final int a, List<String> b) { return 0; } }", ["a", "b"]),
        ("a.ts", "function get(a: number, b?: string, { c, d = 1 }: O) {}", ["a", "b", "c", "d"]),
        ("a.js", "const get = (a, ...b) => a", ["a", "b"]),
        ("a.php", "<?php function get($a, int $b = 2) {}", ["$a", "$b"]),
        ("a.rb", "def get(a, b = 2, c: 3)\nend", ["a", "b", "c"]),
        ("a.rs", "fn get(a: i32, b: &str) {}", ["a", "b"]),
        ("a.cs", 'class A { int Get(int a, string b = "x") { return 0; } }', ["a", "b"]),
    ],
)
def test_the_parameters_of_each_language(path: str, source: str, names: list[str]) -> None:
    outline = outline_of(source.encode(), path)
    assert outline is not None
    (function,) = [one for one in outline.facts if one.kind == "function"]
    assert function.name.lower().rpartition(":")[2] == "get"
    assert [one.name for one in function.parameters] == names


def test_what_does_not_parse_is_counted_and_what_no_grammar_reads_is_none() -> None:
    broken = outline_of(b"def (:\n", "a.py")
    assert broken is not None and broken.broken > 0
    assert outline_of(b"x", "a.xyz") is None and outline_of(b"\x00", "a.py") is None
    assert has_grammar("a.tsx") and not has_grammar("a.sh")
