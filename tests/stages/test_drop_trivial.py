"""What changes nothing that runs, and what only looks as if it did not."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import make_change
from reviewgauge.core.records import Case, Change, ChangedFile, FileStatus
from reviewgauge.stages.drop_trivial import DropTrivial

PYTHON = 'def total(xs):\n    """Add up."""\n    s = 0\n    for x in xs:\n        s += x\n    return s\n'
JAVA = "class A {\n  int f(int x) {\n    // why\n    return x + 1;\n  }\n}\n"
FORMAT, NOTHING = "only comments and format change", "nothing that runs changes"

ROWS: list[tuple[dict[str, str | bytes | None], dict[str, str | bytes | None], str | None]] = [
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace("s = 0", "s = 0  # cents")}, FORMAT),
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace('"""Add up."""', '"""Add all up."""')}, FORMAT),
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace("s = 0", "\n\n    s=0")}, FORMAT),
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace("    ", "\t")}, FORMAT),
    ({"a.py": "f(a, b)\n"}, {"a.py": "f(\n    a,\n    b,\n)\n"}, FORMAT),
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace("    return s", "        return s")}, None),  # now inside the loop
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace("s = 0", "s = 1")}, None),
    ({"a.py": "x = 'a b'\n"}, {"a.py": "x = 'a  b'\n"}, None),
    ({"a.py": 'x = """a\n\nb"""\n'}, {"a.py": 'x = """a\nb"""\n'}, None),
    ({"a.js": "x = `a b`;\n"}, {"a.js": "x = `a\nb`;\n"}, None),
    ({"a.py": 'x = """a\nb"""\n'}, {"a.py": 'x = """a\r\nb"""  # why\r\n'}, FORMAT),
    ({"A.java": JAVA}, {"A.java": JAVA.replace("  ", "    ").replace("// why", "/* why */")}, FORMAT),
    ({"A.java": JAVA}, {"A.java": JAVA.replace("x + 1", "x - 1")}, None),
    ({"A.java": JAVA}, {"A.java": JAVA.replace("// why\n", "// why ")}, None),  # the return became a comment
    ({"a.py": PYTHON}, {"a.py": None, "b.py": PYTHON}, "only renames change"),
    ({"a.py": PYTHON}, {"a.py": None, "b.py": PYTHON.replace("s = 0", "s = 0  #")}, FORMAT),
    ({"a.py": PYTHON}, {"b.py": ""}, "only empty files change"),
    ({"a.py": PYTHON}, {"b.py": "# to do\n"}, FORMAT),
    ({"a.py": PYTHON}, {"b.py": "x = 1\n"}, None),
    ({"a.py": PYTHON, "b.py": "# x\n"}, {"b.py": None}, FORMAT),
    ({"a.py": PYTHON, "b.py": "x = 1\n"}, {"b.py": None}, None),
    ({"a.py": '__version__ = "1.2.3"\n'}, {"a.py": '__version__ = "1.3.0rc1"\n'}, "only versions change"),
    ({"a.py": "TIMEOUT = 1.5\n"}, {"a.py": "TIMEOUT = 2.5\n"}, None),
    ({"requirements.txt": "a==1.0\nb>=2\n"}, {"requirements.txt": "a==1.1\nb>=2\n"}, "only versions change"),
    ({"requirements.txt": "a==1.0\n"}, {"requirements.txt": "a==1.0\nc==1.0\n"}, None),
    ({"pom.xml": "<version>1.0</version>\n"}, {"pom.xml": "<version>1.1</version>\n"}, "only versions change"),
    ({"README.md": "a\n"}, {"README.md": "b\n"}, "only documentation change"),
    ({"README.md": "a\n", "a.py": PYTHON}, {"README.md": "b\n", "a.py": PYTHON + "# end\n"}, NOTHING),
    ({"README.md": "a\n", "a.py": PYTHON}, {"README.md": "b\n", "a.py": PYTHON + "x = 1\n"}, None),
    ({"a.json": "{}\n"}, {"a.json": "{ }\n"}, None),  # data: what it says is not known
    ({"a.bin": b"\x00a"}, {"a.bin": b"\x00b"}, None),
]


@pytest.mark.parametrize(("before", "after", "reason"), ROWS, ids=range(len(ROWS)))
def test_what_is_trivial(
    tmp_path: Path, before: dict[str, str | bytes | None], after: dict[str, str | bytes | None], reason: str | None
) -> None:
    case = Case(id="a", change=make_change(tmp_path / "r", before, after))
    assert DropTrivial().keep(case) == (case if reason is None else reason)


BLANK = "only white space change"
READ: list[tuple[dict[str, str | bytes | None], dict[str, str | bytes | None], str | None]] = [
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace("s = 0", "s = 0  # cents")}, None),
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace('"""Add up."""', '"""Add all up."""')}, None),
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace("s = 0", "s=0")}, None),  # style
    ({"a.py": "f(a, b)\n"}, {"a.py": "f(\n    a,\n    b,\n)\n"}, None),  # style
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace("    s = 0", "\n\n    s = 0   ")}, BLANK),
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace("\n", "\r\n")}, BLANK),
    ({"a.py": 'x = """a\n\nb"""\n'}, {"a.py": 'x = """a\nb"""\n'}, None),  # a string
    ({"a.py": PYTHON}, {"a.py": PYTHON.replace("    return s", "        return s")}, None),
    ({"A.java": JAVA}, {"A.java": JAVA.replace("  ", "    ")}, None),  # style
    ({"A.java": JAVA}, {"A.java": JAVA.replace("\n", "\n\n")}, BLANK),
    ({"README.md": "a\n"}, {"README.md": "b\n"}, None),
    ({"README.md": "a\n"}, {"README.md": "a  \n\n"}, BLANK),
    ({"a.py": PYTHON}, {"a.py": None, "b.py": PYTHON}, "only renames change"),
    ({"requirements.txt": "a==1.0\nb>=2\n"}, {"requirements.txt": "a==1.1\nb>=2\n"}, "only versions change"),
    ({"a.json": "{}\n"}, {"a.json": "{}\n\n"}, None),
]


@pytest.mark.parametrize(("before", "after", "reason"), READ, ids=range(len(READ)))
def test_with_words_documentation_and_style_are_not_trivial(
    tmp_path: Path, before: dict[str, str | bytes | None], after: dict[str, str | bytes | None], reason: str | None
) -> None:
    case = Case(id="a", change=make_change(tmp_path / "r", before, after))
    assert DropTrivial(words=False).keep(case) == (case if reason is None else reason)


@pytest.mark.parametrize(("after", "words", "reason"), [
    ("s=0  # cents", True, FORMAT), ("s = 1", True, None), ("s = 0 ", False, BLANK), ("s = 0  # c", False, None),
])  # fmt: skip
def test_without_the_code_the_lines_of_the_patch_are_read(
    tmp_path: Path, after: str, words: bool, reason: str | None
) -> None:
    change = make_change(tmp_path / "r", {"a.py": PYTHON}, {"a.py": PYTHON.replace("s = 0", after)})
    case = Case(id="a", change=change.model_copy(update={"git": None}))
    assert DropTrivial(words=words).keep(case) == (case if reason is None else reason)


def test_what_cannot_be_read_is_not_called_trivial() -> None:
    def case(**more: object) -> Case:
        return Case(id="a", change=Change(repo="a/b", files=(ChangedFile.model_validate({"path": "a.py", **more}),)))

    for one in (case(patch=None), case(binary=True), case(patch="@@ -1 +1 @@\n-a\n+a", status=FileStatus.TYPE_CHANGED)):
        assert DropTrivial().keep(one) == one
    assert DropTrivial().keep(Case(id="a", change=Change(repo="a/b"))) == "no changed files at hand"
