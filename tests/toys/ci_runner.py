"""Runs a composite action and a GitLab job as their runners do: expressions, bash, environment, outputs, summary."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
_EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+) \}\}")


@dataclass
class Job:
    """One job in the work space `folder`. `used` are the other actions that it calls, with what it hands to them."""

    folder: Path
    variables: Mapping[str, str]
    used: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    printed: str = ""

    def environment(self, **more: str) -> dict[str, str]:
        """This process's, less the jobs that it may be part of; `pip` writes down what it should install."""
        here = {name: text for name, text in os.environ.items() if not name.startswith(("GITHUB_", "GITLAB_", "CI_"))}
        programs = self.folder / "programs"
        programs.mkdir(exist_ok=True)
        pip = programs / "pip"
        pip.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{self.folder}/installed'\n")
        pip.chmod(0o755)
        path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
        own = {"PATH": path, "HOME": str(self.folder), "REVIEWGAUGE_CACHE": str(self.folder / "cache")}
        return here | own | dict(self.variables) | more

    def bash(self, script: str, environment: Mapping[str, str]) -> int:
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        self.printed += done.stdout + done.stderr
        return done.returncode

    @property
    def summary(self) -> str:
        file = self.folder / "summary"
        return file.read_text("utf-8") if file.exists() else ""


def run_action(job: Job, inputs: Mapping[str, str]) -> tuple[bool, dict[str, str]]:
    """Whether the steps of action.yml pass, and the action's outputs."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    known: dict[str, Any] = action["inputs"]
    assert set(inputs) <= set(known), "the runner warns about unknown inputs, and ignores them"
    assert set(inputs) >= {name for name, one in known.items() if one.get("required")}
    context = {"runner.temp": str(job.folder / "temp"), "github.run_id": "1", "github.run_attempt": "1"}
    context["github.token"] = job.variables.get("GITHUB_TOKEN", "")
    for name, one in known.items():
        context[f"inputs.{name}"] = inputs.get(name, _filled(one.get("default", ""), context))
    files = {"GITHUB_OUTPUT": str(job.folder / "output"), "GITHUB_STEP_SUMMARY": str(job.folder / "summary")}
    ambient = {**files, "GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": context["runner.temp"]}
    passes = True
    for step in action["runs"]["steps"]:
        if not passes and step.get("if") != "always()":
            continue
        if uses := step.get("uses"):
            job.used.append((uses, {name: _filled(text, context) for name, text in step["with"].items()}))
            continue
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an expression in a script is a hole: its text would be run"
        own = {name: _filled(text, context) for name, text in step.get("env", {}).items()}
        environment = job.environment(**ambient)
        environment.pop("GITHUB_TOKEN", None)  # the runner hands it to nobody who does not ask
        passes = job.bash(step["run"], environment | own) == 0 and passes
        if "id" in step and (job.folder / "output").exists():
            for line in (job.folder / "output").read_text("utf-8").splitlines():
                name, _, value = line.partition("=")
                context[f"steps.{step['id']}.outputs.{name}"] = value
    outputs = {
        name: _EXPRESSION.sub(lambda m: context.get(m[1], ""), one["value"]) for name, one in action["outputs"].items()
    }
    return passes, outputs


def _filled(text: str, context: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda found: context[found[1]], str(text))


def run_gitlab(job: Job, variables: Mapping[str, str]) -> int:
    """The exit code of the script of a job that extends the template."""
    template = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text("utf-8"))[".reviewgauge"]
    assert set(variables) <= set(template["variables"])
    own = {**template["variables"], **variables}
    project = {"CI_PROJECT_DIR": str(job.folder)}
    for name, text in own.items():
        own[name] = text.replace("$CI_PROJECT_DIR", str(job.folder))
    return job.bash("\n".join(template["script"]), job.environment(**project, **own))
