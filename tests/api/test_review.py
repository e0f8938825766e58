"""What `review` refuses before any work, and what its errors tell the user to do."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reviewgauge.cli.main import main

PRESET = 'prompt(model="fake:rules", preset="contextcrbench_assess")'


def refused(words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> str:
    """The error of a review that is refused before its folder is made."""
    assert main(["review", *words, "-o", str(tmp_path / "run")]) == 2
    assert not (tmp_path / "run").exists()
    return capsys.readouterr().err


@pytest.mark.parametrize(("task", "reviewer", "problem"), [
    ("locate", "bm25_knn", "bm25_knn ranks no lines"),
    ("locate", "comment_finder", "comment_finder ranks no lines"),
    ("assess", 'debate(model="fake:rules")', "debate: the task is assess, and it answers review"),
    ("assess", 'ensemble(reviewer="debate(model=\\"fake:rules\\")", n=2)', "debate: the task is assess"),
    ("comment", PRESET, 'take preset="contextcrbench_comment"'),
])  # fmt: skip
def test_a_task_that_a_reviewer_has_no_answer_to_is_refused_before_others_work(
    task: str, reviewer: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sample", "analyser", reviewer, "--stage", f'split_hunks(task="{task}")']
    words += ["--train", "sample"] * ("knn" in reviewer or "finder" in reviewer)
    assert problem in refused(words, capsys, tmp_path)


def test_a_preset_for_hunks_tells_how_changes_are_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--stage 'split_hunks(task=\"assess\")'" in refused(["sample", PRESET], capsys, tmp_path)


def test_missing_code_names_the_data_set_and_its_own_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text(
        '{"id": "a", "change": {"repo": "r", "files": [{"path": "a.py", "status": "modified", '
        '"patch": "@@ -1 +1 @@\\n-a\\n+b\\n"}]}}\n'
    )
    for reviewer in ("analyser", 'agent(model="fake:rules")', 'prompt(model="fake:rules", context="bm25")'):
        assert main(["review", str(cases), reviewer, "-o", str(tmp_path / "run")]) == 2
        error = capsys.readouterr().err
        assert "not at hand for cases.jsonl (give each change its files with patches, or its repository" in error
        assert "change.git" in error and "DATASET" not in error and "--with-code" not in error
    assert main(["review", str(cases), 'command(run="true")', "-o", str(tmp_path / "run")]) == 2
    assert 'or work on the diff alone: checkout="none"' in capsys.readouterr().err


def test_training_files_are_named_in_their_own_spec(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = refused(["sample", "comment_finder", "--train", "code_reviewer"], capsys, tmp_path)
    assert "--train 'code_reviewer(path=\"FOLDER\")'" in error and "--from" not in error


def test_lstm_says_first_that_it_lacks_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    error = refused(["sample", "lstm", "--train", "sample"], capsys, tmp_path)
    assert "torch is not installed" in error
