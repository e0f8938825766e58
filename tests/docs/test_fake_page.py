"""fake.md: its tables are those of the code, and its commands do what it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from documented import commands, run
from reviewgauge.models.fake.behaviours import MANNERS
from reviewgauge.models.fake.faults import FAULTS, read_faults
from reviewgauge.models.fake.rules import RULES
from reviewgauge.models.fake.server import FakeServer

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "fake.md").read_text(encoding="utf-8")


def words(text: str) -> str:
    return " ".join(text.split())


def test_every_rule_is_described_in_its_modules_own_words() -> None:
    for rule in RULES:
        said = import_module(rule.reply.__module__).__doc__
        assert said, f"the rule of {rule.task} is not described"
        assert f"### {rule.task}\n" in PAGE, (
            f"docs/reference/_fake_page.py writes the rule of {rule.task} into docs/reference/fake.md"
        )
        assert words(said) in words(PAGE), f"docs/reference/_fake_page.py brings the rule of {rule.task} up to date"


def test_every_fault_and_manner_is_described() -> None:
    for name, what in FAULTS.items():
        assert f"| `{name}` | {what} |" in PAGE
        read_faults(name)
    for name, manner in MANNERS.items():
        assert f"| `{name}" in PAGE
        assert manner.about in PAGE


def test_the_page_is_as_its_program_writes_it() -> None:
    code = "import _fake_page as made; text = made.PAGE.read_text(); raise SystemExit(made.page(text) != text)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "docs" / "reference", check=False)
    assert done.returncode == 0, "run: docs/reference/_fake_page.py"


def test_its_commands_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a server with the options that the page gives it, but on a free port, and but for the seconds."""
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    _, asked, scored, hard, *_ = commands(PAGE)
    with FakeServer() as server:
        for command in (asked, scored):
            done = run(command.replace(":8765", f":{server.port}"), tmp_path)
            assert done.returncode == 0, done.stderr
            shown = figures(done.stdout)
            assert shown
            for figure in shown:
                assert figure in words(PAGE), f"{command} says {figure}"
    faults = re.search(r"--seed 1 --fail (\S+)", hard)
    assert faults is not None
    read_faults(faults[1])


def figures(printed: str) -> list[str]:
    """What a command says of reviews, F1, calls and dollars."""
    kinds = (r"\d+ reviews with \d+ comments", r"scores \S+ F1 \[[^\]]*\]", r"\d+ calls paid; .* out; \$[\d.]+")
    return [found for kind in kinds for found in re.findall(kind, words(printed))]
