"""points.md: its commands run, and print what it says that they print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from documented import commands, run, write_files

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "points.md").read_text(encoding="utf-8")


def flat(text: str) -> str:
    return " ".join(text.split())


def test_its_commands_and_what_they_print(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    mine = [command for command in commands(PAGE) if " RUN " not in command]
    done = [run(command, tmp_path) for command in mine]
    assert [one.returncode for one in done] == [0, 0, 0], [one.stderr for one in done]
    shown = [block.split("```")[0] for block in PAGE.split("```text\n")[1:]]
    for text, printed in zip(shown, done[1:], strict=True):
        for piece in text.split("...\n"):
            assert flat(piece) in flat(printed.stdout)


def test_its_table_is_what_comes_out(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    made, ours, published = (command for command in commands(PAGE) if " RUN " not in command)
    assert run(made, tmp_path).returncode == 0
    expected = {
        ours: {"precision": 3 / 5, "recall": 3 / 5, "f1": 3 / 5, "count": 2, "functional_precision": 1 / 3,
               "functional_recall": 1 / 4, "functional_f1": 2 / 7, "functional_count": 1, "duplicate_share": 1 / 6},
        published: {"precision": 4 / 6, "recall": 4 / 5, "f1": 8 / 11, "count": 2, "functional_precision": 1 / 2,
                    "functional_recall": 1 / 2, "functional_f1": 1 / 2, "functional_count": 1},
    }  # fmt: skip
    for command, values in expected.items():
        found = json.loads(run(f"{command} --json", tmp_path).stdout)["leaderboards"][0]["systems"][0]["estimates"]
        readings = {estimate["reading"]: estimate["value"] for estimate in found}
        assert {name: readings[name] for name in values} == pytest.approx(values)
