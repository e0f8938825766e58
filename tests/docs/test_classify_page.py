"""classify.md: its commands run, and print what it says that they print."""

from __future__ import annotations

from pathlib import Path

from documented import commands, run

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "classify.md").read_text(encoding="utf-8")


def flat(text: str) -> str:
    return " ".join(text.split())


def test_its_commands_on_the_sample(tmp_path: Path) -> None:
    done = [run(command, tmp_path) for command in commands(PAGE) if "aacr" not in command]
    assert [one.returncode for one in done] == [0, 0, 0, 0, 0], [one.stderr for one in done]
    shown = [block.split("```")[0] for block in PAGE.split("```text\n")[1:]]
    for text, printed in zip(shown, (done[1], done[2], done[4]), strict=True):
        assert flat(text) in flat(printed.stdout)


def test_its_figures_on_aacr_bench(tmp_path: Path, shared_data: Path) -> None:
    made, asked = (command for command in commands(PAGE) if "aacr" in command)
    first = run(f"{made} --from {shared_data / 'aacr-bench'}", tmp_path)
    assert first.returncode == 0, first.stderr
    refused = run(asked.replace(" --without-code", ""), tmp_path).stdout
    assert "0 sorted" in refused
    assert "not asked: 1,505 (no diff hunk: The diff is not at hand)" in refused
    assert "908 of 1,505 (60.3%)" in flat(run(asked, tmp_path).stdout)
