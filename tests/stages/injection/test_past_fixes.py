"""The small fixes of a history, and their texts as remarks on the fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import head
from history_builder import Told
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.injection.past_fixes import as_remark, past_fixes

BODY = "def f(a):\n    b = a\n    return b {} 1\n"


@pytest.mark.parametrize(("said", "remark"), [
    ("Fix wrong total of an empty cart", "Wrong total of an empty cart"),
    ("fix(cart)!: total ignores the discount", "Total ignores the discount"),
    ("[cart] Bugfix: off by one in rows", "Off by one in rows"),
    ("Fixed #12 -- the total ignores the discount.", "The total ignores the discount"),
    ("Bug fix #793; the name is not deterministic", "The name is not deterministic"),
    ("Quick fix for a crash without a name (fixes #12)", "Crash without a name"),
    ("Fixed a bug with the flag. This fixes #168", "Bug with the flag"),
    ("fix os.path of an empty name", "os.path of an empty name"),  # a name keeps its case
    ("Crash without a name\n\nIt is None then.\n\nCloses #3, #4\n", "Crash without a name\n\nIt is None then."),
    ("Fix a crash when idle\n\n* fix a crash when idle\n* add a test\n  for it\n* it fails twice", None),
    ("Don't crash on empty input", "Don't crash on empty input"),
    ("Fix #630", ""),
    ("fix: https://example.org/issues/1", ""),
])  # fmt: skip
def test_a_remark_says_what_is_wrong_and_not_that_it_was_fixed(said: str, remark: str | None) -> None:
    assert as_remark(said) == ("Crash when idle\n\n* it fails twice" if remark is None else remark)


@pytest.mark.processes
def test_only_small_fixes_of_one_file_are_taken(tmp_path: Path) -> None:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"shop/a.py": BODY.format("+"), "shop/b.py": BODY.format("+"), "gone.py": BODY.format("+")})
    told.commit("Fix wrong sign of a", {"shop/a.py": BODY.format("-"), "tests/test_a.py": "assert 1\n"})
    told.commit("Fix wrong sign everywhere", {"shop/a.py": BODY.format("*"), "shop/b.py": BODY.format("*")})
    told.commit("Fix wrong words on the page", {"README.md": "shop\n"})
    told.commit("Fix missing import of b", {"shop/b.py": "import os\n" + BODY.format("*")})
    told.commit("Fix unused name in b", {"shop/b.py": "import os\n" + BODY.format("* 1 *")})
    told.commit("Fix wrong remark in b", {"shop/b.py": "# sound\nimport os\n" + BODY.format("* 1 *")})
    told.commit("Fix crash of gone", {"gone.py": None})
    told.commit("Fix wrong table", {"shop/a.py": BODY.format("*") + "T = [\n" + "    1,\n" * 31 + "]\n"})
    told.commit("Add a table", {"shop/a.py": BODY.format("*") + "T = [1]\n"})
    context = BuildFolder(tmp_path / "bench")
    found = past_fixes(told.repository, head(told.folder), context)
    assert [(fix.path, fix.text, fix.size) for fix in found.fixes] == [("shop/a.py", "Fix wrong sign of a", 1)]
    assert found.others == {
        "changes several files of the product": 1, "changes no code of the product": 1, "changes imports": 1,
        "speaks of no fault": 1, "changes no line that says something": 1, "does not edit its file": 1,
        "changes more than 30 lines": 1,
    }  # fmt: skip
    assert past_fixes(told.repository, head(told.folder), context) == found  # out of the memory
    context.close()
