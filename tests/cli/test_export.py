"""`export`: what it takes, what it refuses, and that nothing is written over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewgauge import review, score
from reviewgauge.cli.main import main

MINE = "export_toys.Counts"


def test_a_run_and_a_benchmark_go_out_and_nothing_is_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = tmp_path / "run", tmp_path / "out.json"
    review("sample", "parrot", run=run)
    score(run, "hits")
    assert main(["export", MINE, str(run), "-o", str(out)]) == 0
    assert json.loads(out.read_text()) == {"label": "sample", "cases": 24, "run": True, "metrics": ["hits"]}
    assert "24 cases" in capsys.readouterr().out
    assert main(["export", MINE, str(run), "-o", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["export", MINE, "sample", "-o", str(tmp_path / "bench.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {"cases": 24}
    assert main(["export", f"{MINE}Runs", "sample", "-o", str(tmp_path / "no")]) == 2
    assert "takes a run" in capsys.readouterr().err
