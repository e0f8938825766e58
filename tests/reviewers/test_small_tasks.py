"""ContextCRBench's entries, from the question through a real server to the figures of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hunk_entries import entry
from reviewgauge.cli.main import main


@pytest.mark.parametrize("task", ["assess", "locate", "comment"])
def test_the_next_command_that_a_review_suggests_measures_the_task(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("entries.json").write_text(json.dumps([entry(id=number) for number in range(3)]))
    asks = f"prompt(model='fake:rules', preset='contextcrbench_{task}')"
    assert main(["review", f"context_crbench(task='{task}')", asks, "-o", "run", "--from", "."]) == 0
    suggested = capsys.readouterr().out.partition("next: reviewgauge ")[2].split()
    assert suggested[:2] == ["score", "run"]
    assert main(suggested) == 0
