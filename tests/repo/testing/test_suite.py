"""The tests that a fix changes, and the failing ones that an output names."""

from __future__ import annotations

from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.testing.suite import MOST_FAILING, changed_tests, failing_tests


def test_the_tests_of_a_fix(tmp_path: Path) -> None:
    told = Told(tmp_path / "shop")
    told.commit("a", {"tests/test_old.py": "x = 1\n" * 9, "tests/test_gone.py": "y\n", "shop.py": "a\n"})
    told.commit(
        "b",
        {
            "tests/test_old.py": None,
            "tests/test_new.py": "x = 1\n" * 9,
            "tests/test_gone.py": None,
            "tests/conftest.py": "z\n",
            "tests/data/a.txt": "b\n",
            "shop.py": "b\n",
        },
    )
    found = changed_tests(Repository(told.folder).changed_files("HEAD^", "HEAD"))
    assert set(found.paths) == {"tests/test_new.py", "tests/conftest.py", "tests/data/a.txt"}
    assert set(found.gone) == {"tests/test_gone.py", "tests/test_old.py"} and found.run == ("tests/test_new.py",)


@pytest.mark.parametrize(("output", "named"), [
    ("FAILED tests/t.py::test_a - ValueError: no\n1 failed", ("tests/t.py::test_a - ValueError",)),
    ("FAILED tests/t.py::test_a[x-1] - assert 3 == 4", ("tests/t.py::test_a[x-1] - assert",)),
    ("FAIL: test_a (tests.T)\n-----", ("FAIL: test_a (tests.T)",)),
    ("    --- FAIL: TestSum/empty (0.00s)", ("TestSum/empty",)),
    ("not ok 3 - adds up", ("adds up",)),
    ("  ● shop › adds up", ("shop › adds up",)),
    ("rspec ./spec/shop_spec.rb:3 # Shop adds", ("./spec/shop_spec.rb:3",)),
    ("test shop::adds ... FAILED", ("shop::adds",)),
    ("[ERROR]   CartTest.adds:12 expected: <3> but was: <2>", ("CartTest.adds",)),
    ("CartTest > adds() FAILED\n", ("CartTest > adds()",)),
    ("  Failed Shop.CartTest.Adds [3 ms]", ("Shop.CartTest.Adds",)),
    ("1) CartTest::testAdds\n", ("CartTest::testAdds",)),
    ("FAILED tests/t.py::test_a[x - y 'z'] - KeyError: a - b", ("tests/t.py::test_a[x - y 'z'] - KeyError",)),
    ("FAILED tests/t.py::test_a\nERROR tests/u.py - ImportError: x", ("tests/t.py::test_a",
        "tests/u.py - ImportError")),
    # what looks like a test and is none would be in both outputs
    ("FAILED (failures=1)\nERROR: no database\nERROR no database\n1) Install it\n● Console", ()),
    ("all is well", ()),
])  # fmt: skip
def test_failing_tests_are_named_as_the_usual_programs_do(output: str, named: tuple[str, ...]) -> None:
    assert failing_tests(output) == named


def test_of_very_many_failing_tests_the_same_are_named_in_whatever_order_they_ran() -> None:
    lines = [f"FAILED tests/t.py::test_{n}" for n in range(MOST_FAILING + 100)]
    first, second = failing_tests("\n".join(lines)), failing_tests("\n".join(reversed(lines)))
    assert first == second and len(first) == MOST_FAILING
    assert len(failing_tests("\n".join(lines[:300]))) == 300
