"""A study of one small benchmark: the part that every such file has, the folder it lies in, and the tables it makes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from reviewgauge.core.records import Case

SMALL = """
[[benchmark]]
name = "small"
data = "bench.jsonl"
[[reviewer]]
spec = "parrot"
[[table]]
kind = "leaderboard"
"""


def write_bench(folder: Path, cases: Iterable[Case]) -> None:
    """The data of the benchmark."""
    (folder / "bench.jsonl").write_bytes(b"".join(case.to_line() for case in cases))


def enter_study(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, cases: Iterable[Case]) -> None:
    """Work in a folder with the study and its data, and with a cache of its own."""
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(folder / "cache"))
    monkeypatch.chdir(folder)
    write_bench(folder, cases)
    (folder / "study.toml").write_text(text)


def made_files(out: Path) -> dict[str, bytes]:
    """The tables, the page and the report as JSON."""
    files = [*sorted((out / "tables").iterdir()), out / "report.html", out / "study.json"]
    return {path.name: path.read_bytes() for path in files}
