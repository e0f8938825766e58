"""study.md names every kind and every study."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import get_args

from reviewgauge.core.study import TableKind

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "study.md").read_text(encoding="utf-8")


def test_every_kind_of_table_and_every_study_is_named() -> None:
    studies = [entry.name.removesuffix(".toml") for entry in (resources.files("reviewgauge") / "studies").iterdir()]
    for name in (*get_args(TableKind), *studies):
        assert f"`{name}`" in PAGE
