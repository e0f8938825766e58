"""Verbs that end early: as real processes where they get real signals."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from documented import run_here
from engine_small import patched_cases
from reviewgauge.engine.run.folder import RunFolder
from waiting import until

pytestmark = pytest.mark.processes

HERE = Path(__file__).parents[1] / "toys"
COUNT = 24
# As a terminal starts programs; whoever starts the tests in the background has them ignore Ctrl-C.
PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from reviewgauge.cli.main import main; sys.exit(main(sys.argv[1:]))"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in patched_cases(COUNT)))
    return tmp_path


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """The verb as a process; its standard error goes to a file that tests can watch."""
    shared = {**os.environ, "PYTHONPATH": str(HERE), "REVIEWGAUGE_CACHE": str(folder / "cache")}
    command = [sys.executable, "-c", PROGRAM, *arguments]
    with (folder / "stderr.txt").open("w") as err:
        return subprocess.Popen(
            command, cwd=folder, env={**shared, **environment}, stdout=subprocess.PIPE, stderr=err, text=True
        )


def end(folder: Path, process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, _ = process.communicate()
    return process.returncode, out, (folder / "stderr.txt").read_text()


def finish(folder: Path, *arguments: str) -> tuple[int, str, str]:
    done = run_here(folder, *arguments)
    return done.returncode, done.stdout, done.stderr


class Gate:
    """Holds a verb's items: the first `free` pass, `waits_for(n)` until n are being worked on or done."""

    def __init__(self, folder: Path, free: int) -> None:
        self.file = folder / "gate"
        self.environment = {"ECHO_GATE": str(self.file), "ECHO_FREE": str(free)}

    def waits_for(self, process: subprocess.Popen[str], count: int) -> None:
        until(lambda: self.file.exists() and self.file.stat().st_size >= count, process)

    def open(self) -> None:
        Path(f"{self.file}.open").touch()


def interrupt(folder: Path, process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    told = "interrupted: finishing what is in flight; Ctrl-C again stops at once"
    until(lambda: told in (folder / "stderr.txt").read_text(), process)


ASKING = ("review", "cases.jsonl", "engine_small.Asking", "-o", "run", "--workers", "4")


@pytest.mark.drill
def test_ctrl_c_once_finishes_what_is_in_flight_and_says_how_to_go_on(folder: Path) -> None:
    gate = Gate(folder, free=4)
    process = start(folder, *ASKING, **gate.environment)
    gate.waits_for(process, 8)
    interrupt(folder, process)
    gate.open()
    code, out, err = end(folder, process)
    assert code == 130
    assert err.splitlines()[-1] == "interrupted: nothing finished is lost, run the same command again to go on"
    assert len(RunFolder.open(folder / "run").outcomes()) == 8, "the first four, and the four in flight"
    assert "asking: 8 reviews with 8 comments; 16 left undone" in out
    assert "8 calls paid" in out
    assert "next:" not in out
    code, out, _ = finish(folder, *ASKING)
    assert code == 0
    assert "asking: 16 reviews with 16 comments; 8 already there" in out


@pytest.mark.drill
def test_ctrl_c_twice_stops_at_once_and_keeps_what_was_finished(folder: Path) -> None:
    code, _, _ = finish(folder, *ASKING, "--only", "case=case-00*")
    assert code == 0
    gate = Gate(folder, free=0)
    process = start(folder, *ASKING, **gate.environment)
    gate.waits_for(process, 4)
    interrupt(folder, process)
    process.send_signal(signal.SIGINT)
    assert end(folder, process)[0] == 130, "although no item can finish"
    assert len(RunFolder.open(folder / "run").outcomes()) == 10


def test_a_score_that_is_killed_again_and_again_is_whole_in_the_end(folder: Path) -> None:
    finish(folder, *ASKING)
    rng = random.Random(7)
    for _ in range(2):
        process = start(folder, "score", "run", "engine_small.Pausing", "--workers", "4", ECHO_DELAY="0.15")
        time.sleep(rng.uniform(0.6, 1.2))
        process.kill()
        end(folder, process)
    assert finish(folder, "score", "run", "engine_small.Pausing")[0] == 0
    run = RunFolder.open(folder / "run")
    written = (folder / "run" / "scores.jsonl").read_bytes().splitlines()
    assert len(written) == len(run.scores()) == COUNT, "none is missing, and none was measured again"
    assert all(score.usage.calls == 1 and score.parts == {"votes": 1.0} for score in run.scores())


def test_what_stops_a_run_is_one_line_after_the_summary_and_exit_code_2(folder: Path) -> None:
    code, out, err = finish(folder, "review", "cases.jsonl", "engine_small.Halted", "-o", "run", "--workers", "1")
    assert code == 2
    assert "4 reviews with 0 comments; 20 left undone" in out
    assert err == "error: the budget is spent (--budget 2)\n"
    code, out, _ = finish(folder, "review", "cases.jsonl", "engine_small.Halted", "-o", "run", "--json")
    totals = json.loads(out)["totals"][0]
    assert code == 2
    assert totals["stopped"] == "the budget is spent (--budget 2)"


def test_a_budget_is_kept_and_the_same_command_with_more_goes_on(folder: Path) -> None:
    command = ("review", "cases.jsonl", 'prompt(model="fake:example?max_tokens=100")', "-o", "run")
    code, out, _ = finish(folder, *command, "--dry-run", "--json")
    estimate = json.loads(out)
    assert code == 0
    assert not (folder / "run").exists()
    assert estimate["spending"]["calls"] == estimate["totals"][0]["left"] == COUNT
    budget = str(estimate["spending"]["dollars"] / 2)
    code, out, err = finish(folder, *command, "--budget", budget)
    assert code == 2, out
    assert "left undone" in out
    assert err.startswith("error: ") and err.count("\n") == 1
    run = RunFolder.open(folder / "run")
    assert 0 < len(run.outcomes()) < COUNT
    assert all(o.review is not None for o in run.outcomes())
    assert run.spent() <= float(budget)
    code, out, _ = finish(folder, *command, "--budget", "1")
    assert code == 0
    assert len(RunFolder.open(folder / "run").outcomes()) == COUNT


def test_a_key_that_is_missing_is_named_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code, _, err = finish(folder, "review", "cases.jsonl", 'prompt(model="openai:gpt-5")', "-o", "run")
    assert (code, err.count("\n")) == (2, 1)
    assert "OPENAI_API_KEY" in err
    assert not (folder / "run").exists()


def test_what_is_unknown_to_only_is_refused(folder: Path) -> None:
    code, _, err = finish(folder, *ASKING, "--only", "broken")
    assert (code, err.count("\n")) == (2, 1)
    assert "write --only failed, or --only case=ID" in err
