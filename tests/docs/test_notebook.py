"""The notebook runs from its first cell to its last: no kernel is needed for that."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import pytest

from documented import home

NOTEBOOK = json.loads((Path(__file__).parents[2] / "docs/start/notebook.ipynb").read_text(encoding="utf-8"))
CELLS = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def run_cell(code: str, names: dict[str, Any]) -> object:
    """Run a cell as Jupyter does; returns the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None


def test_no_output_is_kept_in_it() -> None:
    cells = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert NOTEBOOK["nbformat"] == 4 and len(cells) >= 8
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


@pytest.mark.pages
def test_every_cell_runs_and_results_show_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in home(tmp_path).items():
        monkeypatch.setitem(os.environ, name, value)
    names: dict[str, Any] = {}
    shown = {code: run_cell(code, names) for code in CELLS}
    tables = [value._repr_html_() for value in shown.values() if hasattr(value, "_repr_html_")]
    assert len(tables) == 4 and all("<table" in one for one in tables)
    assert "blind-reader" in tables[0] and "mini: fake" in tables[0]
    assert (tmp_path / "notebook.html").stat().st_size > 10_000
    again = run_cell(CELLS[2], names)
    assert again and all(done == 0 for _, done, _, _ in again), "the second time there is nothing left to do"  # type: ignore[attr-defined]
