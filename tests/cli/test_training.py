"""`reviewgauge review --train`: what is learnt from, what is not, and what is said about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import reviewgauge
from reviewgauge.cli.main import main
from reviewgauge.core.records import Case
from reviewgauge.engine.run.folder import RunFolder
from training_cases import SUBJECTS, change, training


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`old.jsonl` to learn from, and `new.jsonl`: changes much like the old ones, and an old one itself."""
    monkeypatch.chdir(tmp_path)
    old = training()
    new = [Case(id=f"{subject}-2", change=change(subject, subject, extra="  # again")) for subject in SUBJECTS]
    new = [case.model_copy(update={"change": case.change.model_copy(update={"id": None})}) for case in new]
    (tmp_path / "old.jsonl").write_bytes(b"".join(case.to_line() for case in old))
    (tmp_path / "new.jsonl").write_bytes(b"".join(case.to_line() for case in [*new, old[0]]))
    return tmp_path


def test_reviewers_learn_from_another_data_set(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["review", "new.jsonl", "silent", "comment_finder", "--train", "old.jsonl", "-o", "run"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "comment_finder: learnt from (4 examples)" in said.err
    assert "no change is reviewed with what is known about itself (1 training case)" in said.err
    reviews = {o.case: o.review for o in RunFolder.open("run").outcomes() if o.system == "comment_finder"}
    bodies = {case: [comment.body for comment in review.comments] for case, review in reviews.items() if review}
    assert bodies == {
        **{f"{subject}-2": [f"Close the {subject} afterwards."] for subject in SUBJECTS},
        "socket": [],  # it shares no telling word with the others, and is not compared with itself
    }
    pins = RunFolder.open("run").manifest.systems["comment_finder"].pins
    assert pins["examples"] == "4"
    assert main(words) == 0  # again: nothing is left to do
    assert "5 already there" in capsys.readouterr().out
    (files / "old.jsonl").write_bytes(b"".join(case.to_line() for case in training()[:3]))
    assert main(words) == 2
    assert "comment_finder rested on another examples, training" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "problem"), [
    (["comment_finder"], "was given none (--train DATASET)"),
    (["silent", "--train", "old.jsonl"], "none of these reviewers learns from cases (leave --train out)"),
    (["comment_finder", "--train", "gone.jsonl"], "gone.jsonl does not exist"),
    (["comment_finder", "--train", "bare.jsonl"], "finds nothing to learn from"),
])  # fmt: skip
def test_one_line_says_what_is_wrong(
    files: Path, words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = {"id": "1", "change": {"repo": "o/r"}, "references": [{"id": "r", "body": "x"}]}
    (files / "bare.jsonl").write_text(json.dumps(bare) + "\n", encoding="utf-8")
    assert main(["review", "new.jsonl", *words, "-o", "run"]) == 2
    said = capsys.readouterr().err
    assert problem in said
    assert not (files / "run").exists()


def test_a_dry_run_learns_nothing(files: Path) -> None:
    done = reviewgauge.review(
        "new.jsonl", "comment_finder", train="gone.jsonl", run="run", models=reviewgauge.ModelOptions(dry_run=True)
    )
    assert done.totals == ()


def test_a_dry_run_counts_the_calls_of_one_that_learns_and_asks_a_model(files: Path) -> None:
    both = "ensemble(reviewer=('comment_finder', 'prompt(model=\"fake:rules\", preset=\"crscore\")'))"
    dry_run = reviewgauge.ModelOptions(dry_run=True)
    done = reviewgauge.review("new.jsonl", both, train="old.jsonl", run="run", models=dry_run)
    assert done.spending.estimated
    assert done.totals[0].left == 5
    real = reviewgauge.review("new.jsonl", both, train="old.jsonl", run="run")
    assert (real.totals[0].done, real.totals[0].failed) == (5, {})
