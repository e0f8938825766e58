"""docs/reference/fake.md: its commands do what it shows (its tables are generated)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documented import commands, run
from reviewgauge.models.fake.faults import FAULTS, read_faults
from reviewgauge.models.fake.server import FakeServer

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "fake.md").read_text(encoding="utf-8")


def flat(text: str) -> str:
    return " ".join(text.split())


def test_every_fault_that_it_names_is_one() -> None:
    for name in FAULTS:
        read_faults(name)
    for rule in re.findall(r"--fail ([^\s`]+)", PAGE):
        read_faults(rule)


def test_its_commands_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a server of the test's own, with a free port."""
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    _, review, score = commands(PAGE)
    with FakeServer() as server:
        for command in (review, score):
            done = run(command.replace(":8765", f":{server.port}"), tmp_path)
            assert done.returncode == 0, done.stderr
            shown = figures(done.stdout)
            assert shown
            for figure in shown:
                assert figure in flat(PAGE), f"{command} prints {figure}"


def figures(printed: str) -> list[str]:
    """The figures for reviews, F1, calls and dollars in a command's output."""
    kinds = (r"\d+ reviews with \d+ comments", r"scores \S+ F1 \[[^\]]*\]", r"\d+ calls paid; .* out; \$[\d.]+")
    return [found for kind in kinds for found in re.findall(kind, flat(printed))]
