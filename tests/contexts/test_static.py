"""`static`: the analysers' findings on the lines of the piece."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import make_change
from reviewgauge.contexts import static
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Context
from reviewgauge.core.records import Change
from reviewgauge.core.specs import load
from reviewgauge.repo.analysers.run import analyse
from reviewgauge.reviewers.reading.change_text import pieces_of

LINES = [f"x{n} = {n}" for n in range(40)]
SPEC = "static(tools=('ruff', 'smells'))"


@pytest.mark.slow
def test_the_report_has_the_lines_of_the_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    after = [*LINES]
    after[3], after[30] = "y = eval(x1)", "import os"
    change = make_change(tmp_path / "r", {"a.py": "\n".join(LINES) + "\n"}, {"a.py": "\n".join(after) + "\n"})
    first, second = pieces_of(change, "hunk").pieces
    context = load(Context, SPEC)
    assert context.prepare([change]) == ()
    runs = []
    monkeypatch.setattr(static, "analyse", lambda *args: runs.append(1) or analyse(*args))  # type: ignore[func-returns-value]
    (found,) = context.excerpts(change, first.change)
    assert found.name == "the report of static analysers"
    assert found.text.startswith("a.py:4: medium: Use of possibly insecure function")
    assert "[ruff S307]" in found.text
    (found,) = context.excerpts(change, second.change)
    assert found.text.startswith("a.py:31: ")
    assert "eval" not in found.text
    (found,) = context.excerpts(change, change)
    assert len(found.text.splitlines()) == 2
    assert len(runs) == 1
    assert "ruff" in context.pins()


def test_bad_input() -> None:
    with pytest.raises(UserError, match="must be above 0"):
        load(Context, "static(seconds=0.0)")
    with pytest.raises(UserError, match="'mypy' is not an analyser"):
        load(Context, "static(tools=('mypy',))").prepare([])
    with pytest.raises(NeedsCode, match="the context static needs the code"):
        list(load(Context, "static").excerpts(Change(repo="r"), Change(repo="r")))
