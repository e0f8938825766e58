"""Which faults the fixes of a history undid, by the operators that put such in."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import head
from history_builder import Told
from reviewgauge.core.specs import load
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.operators.code.operator import Operator
from reviewgauge.stages.injection.past_fixes import count_undone, past_fixes

pytestmark = pytest.mark.processes
OPERATORS = ("boundary_moved", "condition_negated", "missing_null_check", "lock_not_taken")
LOOP = "def f(items, last):\n    n = 0\n    while {}:\n        n += items[n]\n    return n\n"
USER = "def f(user):\n{}    return user.name\n"
LOCK = "package shop\n\nfunc (s *Shop) Add(n int) {{\n{}\ts.count += n\n\ts.last = n\n{}}}\n"


@pytest.mark.parametrize(("before", "fixed", "undone"), [
    pytest.param(LOOP.format("n <= last"), LOOP.format("n < last"), ["boundary_moved"], id="a bound"),
    pytest.param(LOOP.format("n <= last"), LOOP.format("n < len(items)"), [], id="a bound and what it is"),
    pytest.param(LOOP.format("n <= last"), LOOP.format("n < last").replace("    n = 0", "    # all\n    n = 0"), None,
        id="noted"),
    pytest.param(USER.format(""), USER.format("    if user is None:\n        return ''\n"), ["missing_null_check"],
        id="a check"),
    pytest.param(LOCK.format("", ""), LOCK.format("\ts.mu.Lock()\n", "\ts.mu.Unlock()\n"), ["lock_not_taken"],
        id="a lock: two edits"),
])  # fmt: skip
def test_a_fix_undid_what_an_operator_would_put_in(
    tmp_path: Path, before: str, fixed: str, undone: list[str] | None
) -> None:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    path = "a.go" if "func" in before else "a.py"
    told.commit("Add f", {path: before})
    told.commit("Fix wrong result of f", {path: fixed})
    context = BuildFolder(tmp_path / "bench")
    fixes = past_fixes(told.repository, head(told.folder), context).fixes
    assert len(fixes) == 1
    operators = [load(Operator, name) for name in OPERATORS]
    found = count_undone(told.repository, fixes, operators, context)
    assert sorted(found) == (["boundary_moved"] if undone is None else undone)
    assert count_undone(told.repository, fixes, operators, context) == found  # out of the memory
    context.close()
