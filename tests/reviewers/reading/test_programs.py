"""The presets of `command`: stand-ins on PATH check how they are called and print what the real tools printed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from git_project import make_change
from reviewgauge.api.info import plugin_info
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change
from reviewgauge.core.results import Failed
from reviewgauge.core.specs import load, load_from, short_spec
from reviewgauge.core.trust import FromFile
from reviewgauge.reviewers.command import Command
from reviewgauge.reviewers.reading.programs import parameters, presets

pytestmark = pytest.mark.processes

SEMGREP = {  # 1.185.0, a run on m.py, without its times
    "version": "1.185.0",
    "results": [
        {
            "check_id": "eval-used",
            "path": "m.py",
            "start": {"line": 2, "col": 12, "offset": 21},
            "end": {"line": 2, "col": 19, "offset": 28},
            "extra": {
                "message": "eval of what a user sends runs it.",
                "metadata": {},
                "severity": "ERROR",
                "fingerprint": "requires login",
                "lines": "requires login",
                "validation_state": "NO_VALIDATOR",
                "engine_kind": "OSS",
            },
        }
    ],
    "errors": [],
    "paths": {"scanned": ["m.py"]},
    "time": {"rules": [], "targets": [], "total_bytes": 0},
    "engine_requested": "OSS",
    "skipped_rules": [],
    "profiling_results": [],
}
SONAR: Mapping[str, Any] = {
    "paging": {"pageIndex": 1, "pageSize": 500, "total": 1},
    "issues": [{"key": "AYxrM9YledpPdGXiJkOc", "rule": "python:S5754", "severity": "CRITICAL",
        "component": "reviewgauge-HEAD:m.py", "project": "reviewgauge-HEAD", "line": 2, "textRange": {"startLine": 2,
        "endLine": 2, "startOffset": 0, "endOffset": 3}, "message": "Rename it."}],
}  # fmt: skip
RABBIT = [
    {"type": "review_context", "reviewType": "committed", "workingDirectory": "WORKSPACE"},
    {"type": "finding", "severity": "major", "fileName": "m.py",
        "codegenInstructions": "In @m.py around lines 2 - 2, quiet."},
    {"type": "complete", "status": "review_completed", "findings": 1},
]  # fmt: skip
SAID = "\n".join(json.dumps(event) for event in RABBIT)
PR_AGENT = (  # 0.3.1, a run on m.py whose model's answer was ours
    r'review={"estimated_effort_to_review_[1-5]": "2\n", "relevant_tests": "No\n", "key_issues_to_review": '
    r'[{"relevant_file": "m.py\n", "issue_header": "Possible Bug\n", "issue_content": "It is too loud: `TWO` — '
    r'\"quoted\", and a \\ back slash.\n", "start_line": 2, "end_line": 2}], "security_concerns": "No\n"}'
)
SAMPLES = {  # the program, what it must be called with, and what it does then
    "claude-code": ("claude", "-p|--output-format text|--allowedTools Read,|--add-dir=", "- m.py:2 It is too loud."),
    "codex": (
        "codex",
        "exec --sandbox read-only review --commit HEAD|--output-last-message",
        "It is too loud.\n\nReview comment:\n\n- [P1] Lower your voice — WORKSPACE/m.py:2-2\n  It is too loud.",
    ),
    "coderabbit": ("coderabbit", "review --agent --type committed --base-commit BASE", SAID),
    "pr-agent": ("pr-agent", "--pr_url=base review --config.publish_output=false --github_action_config.", PR_AGENT),
    "semgrep": ("semgrep", "scan --json|--metrics off|m.py", json.dumps(SEMGREP)),
    "aacr-agent": (
        "claude",
        "changes from BASE...HEAD|--agents|code-reviewer|Provide a code review.|Tools Read,Write,Bash,Task",
        "<path>m.py</path>\n<side>right</side>\n<from>2</from>\n<to>2</to>\n<note>Too loud.</note>\n<notesplit />",
    ),
    "sonarqube": ("curl", "/api/issues/search?componentKeys=reviewgauge-HEAD&", json.dumps(SONAR)),
}


def stand_in(folder: Path, name: str, wanted: str, said: str) -> None:
    """A program that ends with 9 where it is called otherwise; the letters in capitals are the review's own."""
    checks = "\n".join(
        f'case "$*" in *"{word}"*) ;; *) echo "no {word} in $*" >&2; exit 9;; esac' for word in wanted.split("|")
    )
    for word in ("HEAD", "BASE"):
        checks = checks.replace(word, f"$REVIEWGAUGE_{word}")
    output = "> comments.txt" if "Read,Write" in wanted else ""
    output = '> "$REVIEWGAUGE_OUTPUT"' if name in ("codex", "pr-agent") else output
    (folder / f"{name}.said").write_text(said + "\n")
    swap = "s#WORKSPACE#'\"$REVIEWGAUGE_WORKSPACE\"'#; s#-HEAD#-'\"$REVIEWGAUGE_HEAD\"'#g"
    body = f"#!/bin/sh\n{checks}\nsed '{swap}' '{folder}/{name}.said' {output}\n"
    (folder / name).write_text(body)
    (folder / name).chmod(0o755)


@pytest.fixture
def change(tmp_path: Path) -> Change:
    return make_change(tmp_path / "project", {"m.py": "one\ntwo\n"}, {"m.py": "one\nTWO\n"}, "acme/shop/pull/1")


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    for table in presets().values():
        for name in set(table.get("env", ())) - {"PATH"}:
            monkeypatch.setenv(name, "set-for-the-test")
    return folder


def test_each_preset_has_a_sample() -> None:
    assert set(SAMPLES) == set(presets())


@pytest.mark.parametrize("name", SAMPLES)
def test_a_preset_calls_its_program_as_it_must_be_called(name: str, change: Change, tools: Path) -> None:
    program, wanted, said = SAMPLES[name]
    for other in presets()[name].get("programs", ()):
        stand_in(tools, other, "", "INFO: ANALYSIS SUCCESSFUL")
    stand_in(tools, program, wanted, said)
    reviewer = load(Command, f"command(preset={name!r})")
    reviewer.prepare([change])
    review = reviewer.review(change)
    assert review.system == name
    assert [comment.span and (comment.span.path, comment.span.start) for comment in review.comments] == [("m.py", 2)]


def test_an_agent_that_found_nothing_is_silent_and_one_that_said_nothing_failed(change: Change, tools: Path) -> None:
    for name, words in (("claude-code", "No issues."), ("codex", "The patch is correct.")):
        program, wanted, _ = SAMPLES[name]
        stand_in(tools, program, wanted, words)
        assert load(Command, f"command(preset={name!r})").review(change).comments == ()
        (tools / program).write_text("#!/bin/sh\nexit 0\n")
        with pytest.raises(Failed, match="is empty"):
            load(Command, f"command(preset={name!r})").review(change)
    stand_in(tools, "codex", "review", "Reviewer failed to output a response.")
    with pytest.raises(Failed, match="gave no answer"):
        load(Command, 'command(preset="codex")').review(change)
    stand_in(tools, "pr-agent", "review", 'review={"key_issues_to_review": []}')
    assert load(Command, "command(preset='pr-agent')").review(change).comments == ()


def test_pr_agent_gets_a_clean_branch_with_the_words_of_the_change_and_no_settings_of_it(tools: Path) -> None:
    before, after = ({"pyproject.toml": "[tool.pr-agent]\n", "m.py": text} for text in ("one\n", "two\n"))
    change = make_change(tools.parent / "own", before, after, "acme/shop/pull/1")
    change = change.model_copy(update={"title": "A louder two", "description": "# All hear it"})
    git = "$(git log -1 --format=%s), $(git status -s -uno), $(git diff --name-only base HEAD)"
    said = r'review={"key_issues_to_review": [{"issue_content": "%s"}]}\n'
    (tools / "pr-agent").write_text(
        f'#!/bin/sh\nprintf \'{said}\' "{git}, $(ls), $CONFIG__GIT_PROVIDER" > "$GITHUB_OUTPUT"\n'
    )
    (tools / "pr-agent").chmod(0o755)
    (comment,) = load(Command, "command(preset='pr-agent')").review(change).comments
    assert comment.body == "A louder two # All hear it, , m.py, , local"


@pytest.mark.parametrize("said", ["", "echo 'review={}' > $GITHUB_OUTPUT", "echo review=null > $GITHUB_OUTPUT"])
def test_pr_agent_ends_well_where_its_model_gave_no_review_and_that_is_a_failure(
    said: str, change: Change, tools: Path
) -> None:
    (tools / "pr-agent").write_text(f"#!/bin/sh\n{said}\n")
    (tools / "pr-agent").chmod(0o755)
    with pytest.raises(Failed, match=r"is empty|review: No such file"):
        load(Command, "command(preset='pr-agent')").review(change)


def test_the_agent_of_aacr_bench_is_asked_in_the_words_of_figures_18_and_19(shared_data: Path, tools: Path) -> None:
    paper = shared_data.parent / "papers" / "aacr-bench.txt"
    if not paper.is_file():
        pytest.skip("the papers are not part of the project")
    argv = load(Command, 'command(preset="aacr-agent")')._argv
    printed = paper.read_text(encoding="utf-8")
    agent = json.loads(argv[argv.index("--agents") + 1])["code-reviewer"]
    for words in (agent["prompt"], agent["description"], ",".join(agent["tools"]), f"model: {agent['model']}"):
        assert words.strip() in printed.partition("Figure 18.")[0]
    asked = argv[2].replace("{base}", "{base_commit}").replace("{head}", "{target_commit}")
    assert asked.strip() == printed.partition("Figure 19. Agent")[0].rpartition("```")[0].rpartition("```")[2].strip()


def test_the_agent_of_aacr_bench_that_wrote_no_file_found_nothing(change: Change, tools: Path) -> None:
    (tools / "claude").write_text("#!/bin/sh\nexit 0\n")
    (tools / "claude").chmod(0o755)
    assert load(Command, 'command(preset="aacr-agent")').review(change).comments == ()


def test_what_the_user_says_goes_before_and_arguments_come_last(tools: Path) -> None:
    reviewer = load(Command, "command(preset='claude-code', seconds=60.0, arguments='--model opus', name='opus')")
    assert reviewer.seconds == 60.0 and reviewer.empty == "words" and reviewer.system == "opus"
    assert reviewer._argv[-2:] == ("--model", "opus") and reviewer._argv[0] == "claude"
    assert load(Reviewer, short_spec(reviewer)) == reviewer  # the arguments are not added twice


def test_what_is_missing_is_named_with_how_to_install_it(change: Change, tools: Path) -> None:
    for name in presets():
        with pytest.raises(UserError) as refused:
            load(Command, f"command(preset={name!r})").prepare([change])
        assert presets()[name]["install"] in str(refused.value)
    with pytest.raises(UserError, match=r"no preset 'copilot'.*claude-code, codex"):
        load(Command, "command(preset='copilot')")


def test_a_file_of_a_stranger_may_not_name_one() -> None:
    with pytest.raises(UserError, match="runs a program"):
        load_from(Reviewer, "command(preset='semgrep')", FromFile("theirs.toml"))


def test_info_lists_them() -> None:
    text = plugin_info("reviewers", "command").text
    for name, table in presets().items():
        assert f'preset="{name}": {table["title"]}' in text and table["install"] in text
        assert set(parameters(name)) <= {"run", "format", "output", "env", "empty", "lines", "seconds"}
