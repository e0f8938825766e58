from __future__ import annotations

import pytest

from planted import code_of
from reviewgauge.operators.code.names import parameters


@pytest.mark.parametrize(("language", "text", "expected"), [
    ("python", "def f(self, a, b: int, c=1, d: int = 2, *args, e, **kw): pass", "a b:int c=1 d:int=2 e"),
    ("javascript", "function f(a, b = 1, { c }, ...d) {}", "a b=1"),
    ("javascript", "const f = a => a", "a"),
    ("typescript", "function f(a: number, b = 1, c?: string, ...d) {}", "a:number b=1 c:string"),
    ("java", "class A { void f(int a, String b) {} }", "a:int b:String"),
    ("go", "package p\n\nfunc (s S) F(a, b int, c string) {}", "a:int b:int c:string"),
    ("rust", "fn f(&self, a: u32, b: &str) {}", "a:u32 b:&str"),
])  # fmt: skip
def test_parameters(language: str, text: str, expected: str) -> None:
    code = code_of(language, text)
    function = next(one for one in code.tree.root.walk() if code.is_a(one, "function"))
    found = [
        one.name.text + (f":{one.type}" if one.type else "") + (f"={one.default.text}" if one.default else "")
        for one in parameters(function)
    ]
    assert " ".join(found) == expected
