"""study.md: its commands print what it shows, and its tables name every kind and every study."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import get_args

import pytest

from documented import follow
from reviewgauge.core.study import TableKind

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "study.md").read_text(encoding="utf-8")


def test_its_commands_print_what_it_shows(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    assert follow(PAGE, tmp_path, request) == 3


def test_every_kind_of_table_and_every_study_is_named() -> None:
    studies = [entry.name.removesuffix(".toml") for entry in (resources.files("reviewgauge") / "studies").iterdir()]
    for name in (*get_args(TableKind), *studies):
        assert f"`{name}`" in PAGE
