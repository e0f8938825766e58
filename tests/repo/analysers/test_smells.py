from __future__ import annotations

import ast
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_project import make_change
from reviewgauge.core.records import Change, Severity
from reviewgauge.repo.analysers.findings import AnalyserSettings, SmellLimits
from reviewgauge.repo.analysers.run import Output, analyse
from reviewgauge.repo.analysers.smells import find_smells
from reviewgauge.repo.git.repository import Repository

DEFAULTS = SmellLimits()


def smells(source: str, limits: SmellLimits = DEFAULTS) -> dict[str, str]:
    """The message of each smell by its rule."""
    rows = [row for row in find_smells(source, asdict(limits)) if row["rule"] != "cyclomatic"]
    assert len({row["rule"] for row in rows}) == len(rows)
    return {row["rule"]: row["message"] for row in rows}


def method(statements: int) -> str:
    return "class A:\n    def run(self):\n        '''Says what it does.'''\n" + "        x = 0\n" * statements


def parameters(count: int) -> str:
    names = ", ".join(f"p{n}" for n in range(count - 2))
    return f"class A:\n    def run(self, {names}, /, q, *rest, k, **more): ...\n"


def branches(count: int) -> str:
    """An `if` with its `else`, a loop, handlers, and cases, then a chain of `elif`."""
    text = "def run(a):\n    if a:\n        pass\n    else:\n        pass\n    for b in a:\n        pass\n"
    text += "    try:\n        pass\n    except E:\n        pass\n    finally:\n        pass\n"
    text += "    match a:\n        case 1:\n            pass\n        case _:\n            pass\n"
    return text + "".join(f"    {'el' * (n > 0)}if a == {n}:\n        pass\n" for n in range(count - 7))


def attributes(count: int) -> str:
    names = "".join(f"        self.a{n} = self.a{n} = {n}\n" for n in range(count - 1))
    return (
        f"class A:\n    def __init__(self):\n{names}    def reset(self):\n        self.last = self.a0 = other.b = 0\n"
    )


def data_class(count: int) -> str:
    fields = "".join(f"    a{n}: int\n" for n in range(count))
    return f"@dataclasses.dataclass(frozen=True)\nclass A:\n    KIND: ClassVar[str] = ''\n{fields}"


def methods(count: int) -> str:
    hidden = "    def _hidden(self): ...\n    @open.setter\n    def m0(self, value): ...\n"
    return "class A:\n" + "".join(f"    def m{n}(self): ...\n" for n in range(count)) + hidden


def calls(count: int) -> str:
    """Calls of a method of its own, of a builtin, and of another class are not external."""
    text = "class A:\n    def run(self):\n        self.run(len([]))\n"
    return text + "        x.y()\n" * count + "class B:\n    def go(self): x.y()\n"


def cohesion(methods_without: int) -> str:
    """One method uses both variables; the call of the third makes it no variable."""
    text = "class A:\n    limit = 0\n    def run(self):\n        self.step = self.limit\n        return self.run()\n"
    return text + "".join(f"    def _m{n}(self): ...\n" for n in range(methods_without))


def long_lambda(length: int) -> str:
    return f"f = lambda x: {'é' * (length - 10)}\n"


def comprehension(length: int) -> str:
    """Over two lines: the end of a line counts as one character, indentation as none."""
    return f"f = [{'é' * (length - 13)}\n        for x in y]\n"


@pytest.mark.parametrize(("rule", "at_limit", "over", "message"), [
    ("long-method", method(50), method(51), "`A.run` is a long method: 51 statements, over 50"),
    ("long-parameter-list", parameters(6), parameters(7), "`A.run` has a long parameter list: 7 parameters, over 6"),
    ("long-branch", branches(12), branches(13), "`run` has too many branches: 13, over 12"),
    ("many-attributes", attributes(7), attributes(8), "`A` has many attributes: 8, over 7"),
    ("many-attributes", data_class(7), data_class(8), "`A` has many attributes: 8, over 7"),
    ("many-methods", methods(20), methods(21), "`A` has many public methods: 21, over 20"),
    ("shotgun-surgery", calls(5), calls(6), "`A` invites shotgun surgery: 6 calls to code outside of it, over 5"),
    ("low-cohesion", cohesion(2), cohesion(3),
        "`A` has low cohesion: its methods use 25% of its variables on average, under 30%"),
    ("long-lambda", long_lambda(60), long_lambda(61), "This lambda is long: 61 characters, over 60"),
    ("long-comprehension", comprehension(72), comprehension(73),
        "This list comprehension is long: 73 characters, over 72"),
])  # fmt: skip
def test_a_smell_is_what_is_over_its_limit(rule: str, at_limit: str, over: str, message: str) -> None:
    assert rule not in smells(at_limit)
    assert smells(over) == {rule: message}


def test_every_limit_is_a_parameter() -> None:
    every = method(9) + parameters(9) + branches(9) + attributes(9) + methods(9) + calls(9) + cohesion(9)
    every += long_lambda(40) + comprehension(40)
    low = SmellLimits(4, 5, 2, 7, 2, 2, 2, 99, 20, 20)
    found = {row["rule"] for row in find_smells(every, asdict(low))}
    assert len(found) == 10
    for name, value in asdict(SmellLimits(999, 999, 999, 999, 999, 999, 999, 1, 999, 999)).items():
        left = {row["rule"] for row in find_smells(every, asdict(replace(low, **{name: value})))}
        assert len(left) == 9
        assert left < found


def test_what_is_nested_belongs_to_what_holds_it() -> None:
    """The statements of an inner function are also those of the outer; a class in a class is a class of its own."""
    inner = "def outer():\n    def inner():\n" + "        go()\n" * 60
    assert [row["message"] for row in find_smells(inner, asdict(DEFAULTS))] == [
        "`outer` is a long method: 61 statements, over 50",
        "`outer.inner` is a long method: 60 statements, over 50",
    ]
    nested = "class A:\n    class B:\n" + "".join(f"        def m{n}(self): ...\n" for n in range(21))
    assert smells(nested) == {"many-methods": "`A.B` has many public methods: 21, over 20"}


@pytest.mark.parametrize("source", [
    "class A:\n    @staticmethod\n    def run(a, b, c, d, e, f): ...\n",
    "class A:\n    @classmethod\n    def run(cls, a, b, c, d, e, f): ...\n",
    "class Only:\n    a = b = c = d = e = 1\n    def run(self): return self.a\n",  # one method cannot fall apart
    "class Nothing:\n    a = b = 1\n    def run(self): ...\n    def go(self): ...\n",  # nor where nothing is used
    "f = [x\n\n" + " " * 90 + "for x in y]\n",
])  # fmt: skip
def test_what_is_not_a_smell(source: str) -> None:
    assert smells(source) == {}


# --- on the lines of a change --------------------------------------------------------------------------------------


def run(change: Change, limits: SmellLimits = DEFAULTS, **terms: object) -> Output:
    assert change.git is not None
    settings = AnalyserSettings(tools=("smells",), **(asdict(limits) | terms))
    return analyse(Repository(Path(change.git)), change, settings)


BIG = "class Store:\n    def run(self, a, b, c, d, e, f, g, h):\n" + "        a += 1\n" * 149 + "        return a\n"
BIG += "".join(f"\n    def m{n}(self):\n        return {n}\n" for n in range(39))


def test_a_large_class_has_a_finding_for_each_of_its_smells(tmp_path: Path) -> None:
    found = run(make_change(tmp_path, {"x": ""}, {"m.py": BIG})).findings
    assert [(f.rule, f.start, f.end, f.severity, f.category) for f in found] == [
        ("many-methods", 1, 1, Severity.MEDIUM, "maintainability"),
        ("long-method", 2, 2, Severity.MEDIUM, "maintainability"),
        ("long-parameter-list", 2, 2, Severity.LOW, "maintainability"),
    ]


@pytest.mark.parametrize(("old", "new", "expected"), [
    ("a += 1\n        return a", "a += 2\n        return a", [("long-method", 151)]),
    ("return 38\n", "return 38\n\n    def more(self):\n        return 0\n", [("many-methods", 271)]),
    ("return 38\n", "return 39\n", []),
    ("g, h)", "g, i)", [("long-method", 2), ("long-parameter-list", 2), ("many-methods", 2)]),
])  # fmt: skip
def test_only_the_smells_of_changed_lines_count(
    tmp_path: Path, old: str, new: str, expected: list[tuple[str, int]]
) -> None:
    change = make_change(tmp_path, {"m.py": BIG}, {"m.py": BIG.replace(old, new)})
    assert [(f.rule, f.start) for f in run(change).findings] == expected


def test_calls_and_cohesion_count_where_the_class_is_new_and_is_not_a_test(tmp_path: Path) -> None:
    change = make_change(tmp_path, {"x": ""}, {"m.py": calls(9), "c.py": cohesion(9), "tests/test_m.py": calls(9)})
    assert [(f.path, f.rule) for f in run(change).findings] == [("c.py", "low-cohesion"), ("m.py", "shotgun-surgery")]
    grown = make_change(tmp_path / "grown", {"m.py": calls(8)}, {"m.py": calls(9)})
    assert run(grown).findings == ()


def test_complexity_is_counted_as_radon_does() -> None:
    body = """
    def inner():
        return 1 if a else 2  # not counted, as classes inside are not
    assert a or b
    if a and b or c: pass
    elif a: pass
    else: pass
    for x in [y for y in a if y if a]: pass
    else: pass
    while a: pass
    try: pass
    except E: pass
    except F: pass
    else: pass
    finally: pass
    match a:
        case 1: pass
        case [2]: pass
        case _: pass
    return lambda: a if b else c
"""
    rows = list(find_smells(f"class A:\n def f(self, x=a or b):{body}", {**asdict(DEFAULTS), "complexity": 1}))
    found = {row["function"]: row["message"] for row in rows if row["rule"] == "cyclomatic"}
    assert found == {"A.f": "cyclomatic complexity is 18 (rank C), over 1"}


# --- any file ------------------------------------------------------------------------------------------------------

CODE = ["class A:", "def f(self, x):", "@dataclass", "self.x = 1", "x()", "lambda: é", "[x for x in y]", "'''"]
MORE = ["if x:", "else:", "match x:", "case 1:", "pass", "return", "    ", "  ", "\r\n", "\n", "\r", "\x0c", "(", ")"]
WORDS = st.sampled_from(CODE) | st.sampled_from(MORE)
LOWEST = SmellLimits(1, 1, 1, 1, 1, 1, 100, 1, 1)


@given(st.lists(WORDS).map(" ".join) | st.lists(WORDS).map("\n".join) | st.text())
def test_any_text_that_parses_has_smells_on_its_own_lines(source: str) -> None:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return
    count = source.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    for row in find_smells(source, asdict(LOWEST)):
        assert 1 <= row["start"] <= row["end"] <= count
        assert all(row["start"] <= first <= last <= row["end"] for first, last in row["lines"])
        assert float(row["level"]) > 0


HOSTILE = {
    "lambdas in lambdas": "f = " + "lambda: " * 900 + "0\n",
    "a line of lambdas": "f = [" + "lambda: 0, " * 20_000 + "]\n",
    "functions in functions": "".join(f"{' ' * n}def f{n}():\n" for n in range(95)) + f"{' ' * 95}x = 1\n" * 9_000,
    "elifs": "if a: pass\n" + "elif a: pass\n" * 2_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_takes_long_or_ends_the_worker(tmp_path: Path, name: str) -> None:
    change = make_change(tmp_path, {"x": ""}, {"m.py": HOSTILE[name], "good.py": method(51)})
    found = run(change, seconds=60)
    assert ("good.py", "long-method") in {(f.path, f.rule) for f in found.findings}
    assert {drop.item for drop in found.unread} <= {"m.py"}
