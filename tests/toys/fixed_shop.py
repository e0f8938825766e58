"""A real change with one verified finding, for metrics that run tests; and how they run them here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.api.build import build
from reviewgauge.core.errors import UserError
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.records import Case
from reviewgauge.repo.guarded.sandbox import check_sandbox

ROOTS = tuple(dict.fromkeys((sys.prefix, sys.base_prefix)))
PYTEST = f"env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider {{files}}"
TOTAL = "def total(items):\n    amount = 0\n    for item in items{}:\n        amount += item\n    return amount\n"
TESTS = "from shop import total\n\n\ndef test_it():\n    assert total.total([1, 2]) == 3\n"
SAFE = "import random\n\nfrom shop import total\n\n\ndef test_none():\n    assert total.total([]) == 0\n"
FIX = (
    "```diff\n--- a/shop/total.py\n+++ b/shop/total.py\n@@ -3 +3 @@\n"
    "-    for item in items[1:]:\n+    for item in items:\n```"
)


def build_case(top: Path) -> Case:
    """A change with one verified finding, whose fix has a test, and an older test that passes.

    Skips where there is no sandbox."""
    try:
        check_sandbox()
    except UserError as error:
        pytest.skip(str(error))
    told = Told(top / "shop")
    told.commit("begin", {"README.md": "shop\n", "shop/__init__.py": "", "shop/other.py": "A = 1\n"})
    told.commit("Add total", {"shop/total.py": TOTAL.format("[1:]"), "tests/test_none.py": SAFE})
    told.commit(
        "Fix total forgetting the first item",
        {"shop/total.py": TOTAL.format(""), "tests/test_total.py": TESTS},
        days=20,
    )
    told.quiet(500)
    stage = f"verify_fixes(test={PYTEST!r}, sandbox='bwrap', visible={ROOTS!r})"
    build(told.folder, out=top / "bench", stages=[stage])
    lines = (top / "bench" / "cases.jsonl").read_bytes().splitlines()
    cases = [parse_record(Case, line, "cases.jsonl", number) for number, line in enumerate(lines, 1)]
    (found,) = [one for one in cases if one.change.title == "Add total"]
    git = found.change.git or ""
    git = git if Path(git).is_absolute() else str(top / "bench" / git)
    return found.model_copy(update={"change": found.change.model_copy(update={"git": git})})
