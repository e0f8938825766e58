"""Errors in code of the user's own: one line with the file and the line, and never a trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from documented import run_here
from reviewgauge.cli import info
from reviewgauge.cli.main import main

HEAD = """from dataclasses import dataclass
from reviewgauge.core.protocols import Metric, Reviewer

"""
PREPARES = f"""{HEAD}@dataclass(frozen=True)
class Mine(Reviewer):
    def prepare(self, changes):
        return 1 / 0
    def review(self, change):
        raise KeyError
"""
REVIEWS = PREPARES.replace("1 / 0", "()")


@pytest.mark.parametrize(("code", "exit_code", "error"), [
    ("import os\n\nraise RuntimeError('why')", 2, "importing mine.Mine failed: RuntimeError: why (mine.py, line 3)"),
    ("def f(:", 2, "importing mine.Mine failed: SyntaxError: invalid syntax (mine.py, line 1)"),
    ("import not_there", 2, "mine.Mine needs not_there, which is not installed"),
    (PREPARES, 2, "error: ZeroDivisionError: division by zero (mine.py, line 7)"),
    (REVIEWS, 1, "failed (crash): KeyError: (mine.py, line 9)"),
])  # fmt: skip
def test_a_plug_in_that_breaks_shows_its_file_and_line(tmp_path: Path, code: str, exit_code: int, error: str) -> None:
    (tmp_path / "mine.py").write_text(code)
    done = run_here(tmp_path, "review", "sample", "mine.Mine", "-o", "run")
    assert error in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and done.returncode == exit_code


def test_a_bug_of_ours_keeps_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(info, "read_settings", eval(compile("lambda: 1 / 0", info.__file__, "eval")))
    with pytest.raises(ZeroDivisionError):
        main(["info"])
