from __future__ import annotations

import pytest

from planted import bodies, changes
from reviewgauge.operators.error_swallowed import ErrorSwallowed

PYTHON = "def pay(a):\n    try:\n        open(a)\n    except OSError as e:\n        {}\n"
SCRIPT = "function pay(a) {{\n  try {{\n    open(a);\n  }} catch (e) {{\n    {}\n  }}\n}}\n"
TYPED = SCRIPT.replace("(a) {{", "(a): {} {{", 1)
JAVA = "class A {{\n  {} pay(int a) {{\n    try {{\n      open(a);\n    }} catch (E e) {{\n      {}\n    }}\n  }}\n}}\n"
GO = "package a\n\nfunc pay(a int) ({}error) {{\n"
GO += "\tif err := open(a); err != nil {{\n\t\treturn {}\n\t}}\n\treturn {}nil\n}}\n"
RUST = "fn pay(a: u8) -> {} {{\n    open(a){};\n    Ok(a)\n}}\n"


@pytest.mark.parametrize(("language", "before", "after"), [
    ("python", PYTHON.format("raise Closed(a) from e"), "except OSError: pass"),
    ("python", PYTHON.format("log(e)\n        raise"), ""),
    ("python", PYTHON.format("errors.append(e)"), "except OSError: pass"),
    ("python", PYTHON.format("return None"), None),
    ("python", PYTHON.format("raise Closed(a) from e\n    return a"), "except OSError: return None"),
    ("python", PYTHON.format("raise Closed(a) from e\n    b(a)"), "except OSError: return"),
    ("python", "def pay(a):\n    while a:\n        try:\n            open(a)\n        except E:\n            raise\n",
        "continue"),
    ("javascript", SCRIPT.format("throw new Closed(e);"), ""),
    ("javascript", SCRIPT.format("b(1);\n    next(e);"), ""),
    ("javascript", SCRIPT.format("throw e;\n  }\n  try {\n    return b(a);\n  } finally {"), "return null;"),
    ("typescript", TYPED.format("void", "throw e;"), ""),
    ("typescript", TYPED.format("number", "throw e;"), None),
    ("java", JAVA.format("void", "throw new Closed(e);"), ""),
    ("java", JAVA.format("int", "throw new Closed(e);"), "return 0;"),
    ("java", JAVA.format("String", "throw new Closed(e);"), "return null;"),
    ("java", JAVA.format("String", "Closed c = new Closed(e);\n      throw c;"), None),
    ("go", GO.format("", "err", ""), "return nil"),
    ("go", GO.format("int, ", "0, err", "0, "), "return 0, nil"),
    ("go", GO.format("", 'fmt.Errorf("no: %w", err)', ""), "return nil"),
    ("go", 'package a\n\nimport "fmt"\n\n' + GO.format("", 'fmt.Errorf("no: %w", err)', "")[11:], None),
    ("rust", RUST.format("Result<u8, E>", "?"), "let _ = open(a);"),
    ("rust", RUST.format("Option<u8>", "?"), None),
    ("rust", RUST.format("Result<u8, E>", ""), None),
])  # fmt: skip
def test_the_code_goes_on(language: str, before: str, after: str) -> None:
    assert changes(ErrorSwallowed(), language, before) == ([] if after is None else [after])


def test_the_safe_twin_makes_the_error_before_it_raises_it() -> None:
    source = PYTHON.format("raise Closed(a) from e")
    assert changes(ErrorSwallowed(), "python", source, safe=True) == ["failure = Closed(a) raise failure from e"]


@pytest.mark.parametrize(("language", "source", "said"), [
    ("python", PYTHON.format("raise Closed(a) from e\n    return a"),
        "`except OSError` swallows the error: when `open` fails, the caller gets `None` and cannot tell why."),
    ("go", GO.format("", "err", ""),
        "The error is dropped: when `open` fails, this returns `nil` as its error, and callers take it for a "
        "success."),
    ("rust", RUST.format("Result<u8, E>", "?"),
        "The result of `open` is thrown away: when it fails, nobody learns of it, and the function goes on."),
])  # fmt: skip
def test_the_sentence_says_what_fails_unnoticed(language: str, source: str, said: str) -> None:
    assert bodies(ErrorSwallowed(), language, source) == [said]
