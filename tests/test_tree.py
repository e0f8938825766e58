"""Each package says what may live there, and nothing of the tree is hidden from git, and so from a wheel."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

import reviewgauge

ROOT = Path(reviewgauge.__file__).parent
PACKAGES = sorted({file.parent for file in ROOT.rglob("*.py")} - {ROOT})


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_package_begins_with_one_docstring_and_nothing_else(package: Path) -> None:
    tree = ast.parse((package / "__init__.py").read_text("utf-8"))
    assert ast.get_docstring(tree)
    assert len(tree.body) == 1


def test_no_source_is_ignored() -> None:
    words = ["git", "status", "--short", "--ignored", "--untracked-files=all", "--", "src", "tests"]
    done = subprocess.run(words, cwd=ROOT.parents[1], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    ignored = [line for line in done.stdout.splitlines() if line.startswith("!!") and "__pycache__" not in line]
    assert [line for line in ignored if not line.endswith("egg-info/")] == []
