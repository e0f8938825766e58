"""The metric that `score` takes by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import twin_pairs
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Task
from reviewgauge.engine.measure import usual_metric, usual_metrics


def test_a_run_of_a_small_task_is_scored_by_its_usual_metric(tmp_path: Path) -> None:
    prompt = 'prompt(model="fake:rules", preset="contextcrbench_assess")'
    review("sample", prompt, "parrot", run=tmp_path / "run", stages=['split_hunks(task="assess")'])
    (board,) = score(tmp_path / "run").leaderboards
    assert board.label == "assess"
    review("sample", "parrot", run=tmp_path / "comments", stages=['split_hunks(task="assess")'])
    with pytest.raises(UserError, match=r'assess\(no_verdict="comments"\) would go by its comments'):
        score(tmp_path / "comments")
    assert usual_metric({Task.ASSESS, Task.LOCATE}) == usual_metric(()) == "hits"
    assert usual_metrics(twin_pairs.hosts(1)) == ("twins",)


def test_the_tables_of_a_result_can_be_taken_elsewhere(tmp_path: Path) -> None:
    review("sample", "recorded", "silent", run=tmp_path / "run")
    result = score(tmp_path / "run", "hits", slices=["language"], resamples=50)
    assert list(result.tables) == ["leaderboard", "comparison", "f1 by language"]
    board = result.tables["leaderboard"]
    exact = result.leaderboards[0].systems[0].estimate("f1")
    assert exact is not None and board.column("f1")[0].value == exact.value and board.column("f1")[0].low == exact.low
    assert [one.text for one in board.column("system")] == ["blind-reader", "silent"]
    head, row, *_ = (line.split(",") for line in board.to_csv().splitlines())
    ends = [result.leaderboards[0].systems[0].estimate(f"f1_{end}") for end in ("least", "most")]
    found = [float(row[head.index(f"f1_range: {end}")]) for end in ("from", "to")]
    assert found == [one.value for one in ends if one] and "f1_least" not in head  # ends of a range, not an interval
    assert board.sections == {1: "baselines:"} and "F1 range" in board.to_markdown()
    assert list(result.tables["comparison"].to_csv().splitlines()[0].split(",")[:2]) == ["first - second", "measure"]
