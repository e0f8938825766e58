"""docs/explanation/architecture.md: the files that it names exist, its layers are those that import-linter holds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`((?!benchmarks/)(?:[a-z_]+/)+(?:\w+\.py)?)`", PAGE)))


@pytest.mark.parametrize("path", PATHS)
def test_named_files_exist(path: str) -> None:
    assert (ROOT / "src" / "reviewgauge" / path).exists()


def test_the_layers_are_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    tree = PAGE.split("```text\n")[1].split("```")[0].splitlines()
    assert [line[:43].strip() for line in tree] == contracts[0]["layers"]
