"""`export`: what it takes, what it refuses, and that nothing is written over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reviewgauge import review, score
from reviewgauge.api.export import export
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


@pytest.mark.processes
def test_an_export_that_was_killed_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "reviewgauge", "export", f"{MINE}Killed", "sample", "-o", "out"]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run(words, cwd=tmp_path, env=paths, check=False)
    assert killed.returncode == -signal.SIGKILL and not (tmp_path / "out").exists()
    export(MINE, "sample", tmp_path / "out")
    assert [one.name for one in tmp_path.iterdir()] == ["out"] and (tmp_path / "out").is_file()
    with pytest.raises(RuntimeError):
        export(f"{MINE}Broken", "sample", tmp_path / "new" / "out")
    assert not list((tmp_path / "new").iterdir())
