from __future__ import annotations

import pytest

from planted import clean, code_of, planted
from reviewgauge.operators.contract_broken import ContractBroken

CASES = [
    (
        "python",
        "def resize(width, height):\n    return width - height",
        {"b.py": "def page():\n    resize(w, h)"},
        "def resize(height, width):\n    return width - height",
        "`page` in `b.py` passes `w, h` by position",
    ),
    (
        "python",
        "def resize(width, height):\n    return width - height",
        {"b.py": "def page():\n    resize(width=w, height=h)"},
        None,
        "",
    ),
    ("python", "def resize(width, height):\n    return 1", {"b.py": "resize(w, h)"}, None, ""),  # uses neither
    ("python", "def resize(width: int, name: str):\n    return width - height", {"b.py": "resize(w, n)"}, None, ""),
    (
        "python",
        "def resize(width, height):\n    return width - height",
        {"b.py": "resize(w, h)", "c.py": "def resize(a): pass"},  # who means which?
        None,
        "",
    ),
    (
        "python",
        "def load(path, strict=True):\n    return path, strict",
        {"b.py": "def page():\n    load(p)"},
        "def load(path, strict=False):\n    return path, strict",
        "`strict` of `load` is `False` by default, but `page` in `b.py` leaves it out in `load(p)`",
    ),
    ("python", "def load(path, strict=True):\n    return path, strict", {"b.py": "load(p, strict=True)"}, None, ""),
    ("python", "def load(path, strict=True):\n    return path, strict", {"b.py": "load(*p)"}, None, ""),
    (
        "python",
        "def rows(a):\n    if not a:\n        return []\n    return a",
        {"b.py": "def page():\n    for row in rows(1):\n        pass"},
        "def rows(a):\n    if not a:\n        return None\n    return a",
        "`rows` returns `None` here, but `page` in `b.py` uses what it returns without a check in `for row in rows(1)`",
    ),
    ("python", "def rows(a):\n    if not a:\n        return []\n    return a", {"b.py": "found = rows(1)"}, None, ""),
    (
        "javascript",
        "function rows(a) {\n  if (!a) return [];\n  return a;\n}",
        {"b.js": "import { rows } from './a';\nexport const page = () => rows(1).length;"},
        "function rows(a) {\n  if (!a) return null;\n  return a;\n}",
        "`page` in `b.js` uses what it returns",
    ),
    (
        "typescript",
        "function resize(width: number, height: number) { use(width, height); }",
        {"b.ts": "function page() { resize(w, h); }"},
        "function resize(height: number, width: number) { use(width, height); }",
        "`resize` takes `height` before `width`",
    ),
    (
        "java",
        "class A {\n  static int area(int width, int height) { return width - height; }\n}",
        {"B.java": "class B {\n  int page() { return A.area(w, h); }\n}"},
        "class A {\n  static int area(int height, int width) { return width - height; }\n}",
        "`page` in `B.java` passes `w, h`",
    ),
    (
        "go",
        "func resize(width, height int) int {\n    return width - height\n}",
        {"b.go": "func page() {\n    resize(w, h)\n}"},
        "func resize(height, width int) int {\n    return width - height\n}",
        "`page` in `b.go` passes `w, h`",
    ),
    (
        "rust",
        "fn resize(width: u32, height: u32) -> u32 {\n    width - height\n}",
        {"b.rs": "fn page() {\n    a::resize(w, h);\n}"},
        "fn resize(height: u32, width: u32) -> u32 {\n    width - height\n}",
        "`page` in `b.rs` passes `w, h`",
    ),
]


@pytest.mark.parametrize(("language", "before", "others", "after", "said"), CASES)
def test_what_a_caller_relies_on(
    language: str, before: str, others: dict[str, str], after: str | None, said: str
) -> None:
    found = planted(ContractBroken(), code_of(language, before, others=others))
    assert [one.after for one in found] == ([clean(after, language)] if after else [])
    assert all(said in one.body for one in found)
