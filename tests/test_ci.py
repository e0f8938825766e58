"""The steps of the action (GitHub) and the template (GitLab) run; a second job replaces the comment of the first."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ci_runner import ROOT, Job, run_action, run_gitlab
from comment_forge import CommentForge, comment_forge
from documented import run

PAGE = (ROOT / "docs" / "start" / "gate-in-ci.md").read_text(encoding="utf-8")
pytestmark = [pytest.mark.processes, pytest.mark.slow]  # each verb is a program of its own here
WORSE = {"benchmark": "sample", "reviewer": 'prompt(model="fake:example")', "baseline": "good"}
SAME = {**WORSE, "reviewer": "recorded", "gate-options": "\n--metric=hits.f1\n\n--margin=.02\n"}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scored run of the sample."""
    folder = tmp_path_factory.mktemp("ci")
    for command in ("review sample recorded -o good", "score good hits"):
        assert run(f"reviewgauge {command}", folder).returncode == 0
    return folder / "good"


@pytest.fixture
def forge() -> Iterator[CommentForge]:
    with comment_forge() as made:
        yield made


def new_job(folder: Path, good: Path, forge: CommentForge, kind: str) -> Job:
    """A job in a work space of its own, as each run of a pipeline has."""
    folder.mkdir()
    shutil.copytree(good, folder / "good")
    return Job(folder, forge.variables(kind, folder))


def test_the_action_comments_once_and_replaces_it(good: Path, forge: CommentForge, tmp_path: Path) -> None:
    job = new_job(tmp_path / "one", good, forge, "github")
    assert run_action(job, WORSE) == (False, {"code": "1"})
    written = (job.folder / "runs" / "new-gate.md").read_text("utf-8")
    assert job.summary == written
    assert "Findings lost" in written
    assert forge.comments[0]["body"] == f"<!-- reviewgauge gate -->\n{written}"
    assert ET.parse(job.folder / "runs" / "new-gate.xml").getroot().get("failures") == "1"
    names = [name for name, _ in job.used]
    assert [name.partition("@")[0] for name in names] == [
        "actions/setup-python", "actions/cache/restore", "actions/cache/save", "actions/upload-artifact",
    ]  # fmt: skip
    assert job.used[1][1]["key"] == job.used[2][1]["key"]
    assert job.used[1][1]["path"] == job.used[2][1]["path"]
    again = new_job(tmp_path / "two", good, forge, "github")
    assert run_action(again, SAME) == (True, {"code": "0"})
    assert "comment updated" in again.printed
    assert [one["body"] for one in forge.comments] == [f"<!-- reviewgauge gate -->\n{again.summary}"]
    assert "NOT WORSE" in again.summary


def test_gitlab_comments_once_and_replaces_it(good: Path, forge: CommentForge, tmp_path: Path) -> None:
    variables = {f"REVIEWGAUGE_{name.upper()}": text for name, text in WORSE.items()}
    job = new_job(tmp_path / "one", good, forge, "gitlab")
    assert run_gitlab(job, {**variables, "REVIEWGAUGE_PACKAGE": "bench/reviewgauge.whl\n."}) == 1
    assert (job.folder / "installed").read_text("utf-8").split("\n")[-3:] == ["bench/reviewgauge.whl", ".", ""]
    assert ET.parse(job.folder / "gate.xml").getroot().get("failures") == "1"
    again = new_job(tmp_path / "two", good, forge, "gitlab")
    (again.folder / "found.txt").write_text("api/wayside/parcels.py:56: SQL injection through sort\n", encoding="utf-8")
    read = {"REVIEWGAUGE_REVIEWER": 'replay(path="found.txt", missing="silent")', "REVIEWGAUGE_RUN": "runs/replayed"}
    assert run_gitlab(again, {**variables, **read}) == 1
    assert "comment updated" in again.printed
    (comment,) = forge.comments
    assert comment["body"] == "<!-- reviewgauge gate -->\n" + (again.folder / "gate.md").read_text("utf-8")
    assert "fake:example" not in comment["body"].replace("\\", ""), "the first job's"


@pytest.mark.drill
@pytest.mark.parametrize("cannot_tell", ["pass", "fail"])
def test_what_cannot_be_told_passes_or_fails_as_you_say_without_a_token_too(
    good: Path, forge: CommentForge, tmp_path: Path, cannot_tell: str
) -> None:
    job = new_job(tmp_path / "job", good, forge, "github")
    options = "--metric=hits.precision\n--margin=.02"
    silent = {**WORSE, "reviewer": "silent", "gate-options": options, "cannot-tell": cannot_tell, "token": ""}
    assert run_action(job, silent) == (cannot_tell == "pass", {"code": "3"})
    assert "not commented: there is no token in GITHUB_TOKEN" in job.printed
    assert not forge.asked


def test_texts_are_never_commands_and_errors_stop_the_job(good: Path, forge: CommentForge, tmp_path: Path) -> None:
    job = new_job(tmp_path / "job", good, forge, "github")
    hostile = "$(touch made)`touch made`; touch made *"
    inputs = {**dict.fromkeys(("benchmark", "reviewer", "baseline", "metric", "install", "run", "comment"), hostile)}
    assert run_action(job, inputs) == (False, {"code": ""})
    assert not (job.folder / "made").exists()
    assert "error: " in job.printed
    assert (job.folder / "installed").read_text("utf-8").split("\n")[-2] == hostile
    assert not job.summary
    assert job.used[-1][0].startswith("actions/upload-artifact"), "always"


@pytest.mark.drill
def test_a_forge_that_refuses_changes_no_verdict(good: Path, forge: CommentForge, tmp_path: Path) -> None:
    forge.refuses = (429, {"Retry-After": "60"}, b'{"message": "slow down"}')
    job = new_job(tmp_path / "job", good, forge, "github")
    assert run_action(job, SAME) == (True, {"code": "0"})
    assert "not commented: " in job.printed
    assert "429 slow down" in job.printed
    assert "NOT WORSE" in job.summary


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_the_scripts_are_sound() -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    gitlab = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text("utf-8"))[".reviewgauge"]["script"]
    for script in (*(step["run"] for step in steps if "run" in step), "\n".join(gitlab)):
        words = ["shellcheck", "--shell=bash", "--exclude=SC2086", "-"]  # options are split into lines on purpose
        done = subprocess.run(words, input=script, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_the_page_shows_what_there_is() -> None:
    github, gitlab = (yaml.safe_load(block.split("```")[0]) for block in PAGE.split("```yaml\n")[1:])
    (step,) = (one for one in github["jobs"]["gate"]["steps"] if "reviewgauge" in one["uses"])
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert set(step["with"]) <= set(action["inputs"])
    assert github["jobs"]["gate"]["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert gitlab["gate"]["extends"] == ".reviewgauge"
    template = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text("utf-8"))
    assert set(gitlab["gate"]["variables"]) <= set(template[".reviewgauge"]["variables"])


HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))[0]
SLOTS = "Look.\n{{ diff_hunk }}\n{{ fence_note }}\n"


@pytest.mark.parametrize(("text", "problem"), [
    ("Look only for defects that a user would notice.\n", ""),
    (f"[user]\n{SLOTS}", ""), ("", "prompt.txt is empty"),
    ("[user]\nLook at {{ dif_hunk }}\n", "there is no slot {{ dif_hunk }}"),
    ("[user]\nLook at {{ diff_hunk\n", "is not a slot"),
    ("Look at {{ diff_hunk }\n", "is not a slot"),
    (b"Look \xff", "prompt.txt is not UTF-8"),
])  # fmt: skip
def test_the_hook_checks_a_prompt_without_asking_a_model(text: str | bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_bytes(text.encode() if isinstance(text, str) else text)
    done = run(shlex.join([*HOOK["entry"].split(), *HOOK["args"], "prompt.txt"]), tmp_path)
    assert done.returncode == (2 if problem else 0), done.stderr
    assert problem in done.stdout
    assert ("1 good prompt record, 0 bad" in done.stdout) == (not problem)


def test_the_hook_needs_a_reviewer_that_takes_a_template(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("Look.\n", encoding="utf-8")
    done = run("reviewgauge check --prompt silent prompt.txt", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "silent takes no template" in done.stderr


@pytest.mark.parametrize(("path", "taken"), [
    ("prompt.txt", True), ("bench/prompt-swr.txt", True), ("prompts/a.txt", True), ("notes.txt", False),
    ("prompts/a.md", False),
])  # fmt: skip
def test_the_hook_takes_prompts_alone(path: str, taken: bool) -> None:
    assert bool(re.search(HOOK["files"], path)) == taken
