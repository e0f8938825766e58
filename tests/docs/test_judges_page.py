"""docs/reference/judges.md: every judge is named, and its commands on Martian's data print what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documented import run

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "judges.md").read_text(encoding="utf-8")


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.drill
def test_its_commands_print_what_it_shows(tmp_path: Path, shared_data: Path) -> None:
    imported = run(f"reviewgauge review martian recorded --from {shared_data / 'martian'} -o runs/martian", tmp_path)
    assert imported.returncode == 0, imported.stderr
    ((command, shown),) = re.findall(r"```text\n\$ (reviewgauge score .*)\n([^`]*)```", PAGE)
    printed = flat(run(command, tmp_path).stdout)
    for line in shown.splitlines():
        assert line == "..." or flat(line) in printed, line
