"""gate.md: its commands print what it says, and its workflow is one whose steps do what they should."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from documented import commands, run

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "gate.md").read_text(encoding="utf-8")
ENDS = {"gate runs/new --baseline": 1}  # exit codes other than 0


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The commands of the page, but for the two that need dated cases: what each printed."""
    folder = tmp_path_factory.mktemp("page")
    printed = {}
    for command in commands(PAGE):
        if "--slice" in command:
            continue
        found = run(command, folder)
        wanted = next((code for words, code in ENDS.items() if words in command), 0)
        assert found.returncode == wanted, (command, found.stderr)
        printed[command] = found.stdout
    return folder, printed


def test_its_commands_print_what_it_says(done: tuple[Path, dict[str, str]]) -> None:
    shown = [block.split("```")[0] for block in PAGE.split("```text\n")[1:]]
    answers = [text for command, text in done[1].items() if command.startswith("reviewgauge gate ")]
    assert len(shown) == len(answers) == 2
    for block, answer in zip(shown, answers, strict=True):
        for piece in block.split("...\n"):
            assert flat(piece) in flat(answer)


def _steps() -> list[dict[str, Any]]:
    workflow = yaml.safe_load(PAGE.split("```yaml\n")[1].split("```")[0])
    steps: list[dict[str, Any]] = workflow["jobs"]["gate"]["steps"]
    return steps


@pytest.mark.parametrize(("swapped", "code"), [(False, "1"), (True, "0")])
def test_the_steps_of_the_workflow_run(
    done: tuple[Path, dict[str, str]], tmp_path: Path, swapped: bool, code: str
) -> None:
    new, old = ("old", "new") if swapped else ("new", "old")
    shutil.copytree(done[0] / "runs" / new, tmp_path / "runs" / "new")
    shutil.copytree(done[0] / "runs" / old, tmp_path / "bench" / "baseline-run")
    judged = next(step for step in _steps() if step.get("id") == "gate")
    assert _bash(judged["run"], tmp_path).returncode == 0
    assert (tmp_path / "output").read_text("utf-8") == f"code={code}\n"
    assert (tmp_path / "summary").read_bytes() == (tmp_path / "gate.md").read_bytes()
    assert (tmp_path / "gate.xml").is_file()
    last = re.sub(r"\$\{\{ steps\.gate\.outputs\.code \}\}", code, _steps()[-1]["run"])
    assert _bash(last, tmp_path).returncode == int(code == "1")


def test_an_error_of_the_gate_stops_the_workflow(tmp_path: Path) -> None:
    judged = next(step for step in _steps() if step.get("id") == "gate")
    assert _bash(judged["run"], tmp_path).returncode != 0


def _bash(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As GitHub runs it: one failing line ends the step."""
    environment = {
        **os.environ,
        "PATH": str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"],
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
    }
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
