"""The workflow on start/gate-in-ci.md is one whose steps do what they should."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from documented import run

PAGE = (Path(__file__).parents[2] / "docs" / "start" / "gate-in-ci.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good run and a bad one, scored."""
    folder = tmp_path_factory.mktemp("page")
    for command in (
        "review sample recorded -o good",
        "review sample 'prompt(model=\"fake:rules\")' -o bad",
        "score good hits",
        "score bad hits",
    ):
        assert run(f"reviewgauge {command}", folder).returncode == 0
    return folder


def _steps() -> list[dict[str, Any]]:
    workflow = yaml.safe_load(PAGE.split("```yaml\n")[1].split("```")[0])
    steps: list[dict[str, Any]] = workflow["jobs"]["gate"]["steps"]
    return steps


@pytest.mark.parametrize(("new", "old", "code"), [("bad", "good", "1"), ("good", "bad", "0")])
def test_the_steps_of_the_workflow_run(folder: Path, tmp_path: Path, new: str, old: str, code: str) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "bench").mkdir()
    (tmp_path / "runs" / "new").symlink_to(folder / new)
    (tmp_path / "bench" / "baseline-run").symlink_to(folder / old)
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
