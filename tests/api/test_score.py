"""The metric that `score` takes by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Task
from reviewgauge.engine.score import usual_metric


def test_a_run_of_a_small_task_is_scored_by_its_usual_metric(tmp_path: Path) -> None:
    prompt = 'prompt(model="fake:rules", preset="contextcrbench_assess")'
    review("sample", prompt, "parrot", run=tmp_path / "run", stages=['split_hunks(task="assess")'])
    (board,) = score(tmp_path / "run").leaderboards
    assert board.label == "assess"
    review("sample", "parrot", run=tmp_path / "comments", stages=['split_hunks(task="assess")'])
    with pytest.raises(UserError, match=r'assess\(no_verdict="comments"\) would go by its comments'):
        score(tmp_path / "comments")
    assert usual_metric({Task.ASSESS, Task.LOCATE}) == usual_metric(()) == "hits"
