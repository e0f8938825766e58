"""build.md: its recipe builds what the page shows."""

from __future__ import annotations

from pathlib import Path

from documented import commands, run, write_files

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "build.md").read_text(encoding="utf-8")


def flat(text: str) -> str:
    return " ".join(text.split())


def test_its_commands_and_what_they_print(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    done = [run(command, tmp_path) for command in commands(PAGE)]
    assert [one.returncode for one in done] == [0, 0, 0], [one.stderr for one in done]
    shown = PAGE.split("```text\n")[1].split("```")[0]
    assert flat(shown) in flat(done[1].stdout)
