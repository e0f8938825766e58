"""ContextCRBench's entries, from the question through a real server to the figures of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fake_server import FakeServer
from hunk_entries import entry
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.cli.main import main


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))


def figures(folder: Path, task: str, metric: str, rows: list[dict[str, Any]]) -> tuple[dict[str, float | None], str]:
    """(the measures of the metric by name, what the server was asked)."""
    (folder / "entries.json").write_text(json.dumps(rows))
    with FakeServer() as server:
        contexts = "('issue', 'pr', \"function(which='both')\")"
        spec = f"prompt(model='{server.spec()}', preset='contextcrbench_{task}', context={contexts})"
        review(f"context_crbench(task='{task}')", spec, run=folder / "run", source=folder)
        asked = " ".join(str(seen.body) for seen in server.asked)
    (board,) = score(folder / "run", metric, resamples=100).leaderboards
    (system,) = board.systems
    return {estimate.measure: estimate.value for estimate in system.estimates}, asked


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
