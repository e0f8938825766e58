"""A review is killed at random moments, again and again, and in the end nothing is missing and nothing is twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest

from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.models.request.messages import Call
from waiting import until

pytestmark = pytest.mark.processes

PROGRAM = Path(__file__).parents[1] / "toys" / "engine_small.py"
CASES, DELAY = 100, 0.012


def start(
    folder: Path, cases: int = CASES, delay: float = DELAY, *more: str, most: int | None = None
) -> subprocess.Popen[str]:
    """With `most`, it stands still after so many reviews, so that it does not end before it is killed."""
    gate = {"ECHO_GATE": str(Path(tempfile.mkdtemp(dir=folder.parent)) / "gate"), "ECHO_FREE": str(most)}
    command = [sys.executable, str(PROGRAM), str(folder), str(cases), str(delay), *more]
    environment = os.environ | (gate if most else {})
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until_started(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"


def wait_until_more_is_kept(process: subprocess.Popen[str], folder: Path) -> None:
    """However long the machine takes."""
    wait_until_started(process)
    reviews = folder / "reviews.jsonl"
    before = reviews.stat().st_size if reviews.exists() else 0
    until(lambda: reviews.exists() and reviews.stat().st_size > before, process)


@pytest.mark.drill
def test_killed_many_times_no_answer_is_lost_and_none_is_paid_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    rng, folder, cases = random.Random(21), tmp_path / "run", 60
    for _ in range(4):
        process = start(folder, cases, 0.1, "model", most=20)
        wait_until_more_is_kept(process, folder)
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        process.communicate()
    kept = len(RunFolder.open(folder).outcomes())
    assert 0 < kept < 2 * cases
    out, err = start(folder, cases, 0.0, "model").communicate()
    assert (out.splitlines()[-1], err) == (f"done {2 * cases - kept} skipped {kept}", "")

    run = RunFolder.open(folder)
    found = {(o.case, o.attempt): o for o in run.outcomes()}
    assert len((folder / "reviews.jsonl").read_bytes().splitlines()) == len(found) == 2 * cases
    for (case, _), outcome in found.items():
        assert outcome.review is not None
        assert [c.claimed.hunk for c in outcome.review.comments if c.claimed] == [f"+eval({case[-3:]})"]
        assert (outcome.review.usage.calls, outcome.review.fake) == (1, True)
    calls = list(run.calls())
    assert len({call.key for call in calls}) == len(calls) == 2 * cases, "a call for each case and attempt"
    paid = Counter(call.key for line in _lines(folder / "calls.jsonl") if (call := Call.model_validate_json(line)).paid)
    assert max(paid.values()) == 1


def _lines(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().split(b"\n")[:-1] if line]


@pytest.mark.drill
def test_the_second_of_two_processes_is_refused_by_name(tmp_path: Path) -> None:
    first = start(tmp_path / "run", delay=0.2)
    wait_until_started(first)
    second = start(tmp_path / "run")
    out, err = second.communicate()
    assert (second.returncode, err) == (2, "")
    assert out.count("\n") == 1
    assert f"is being written by process {first.pid}" in out
    first.kill()
    first.communicate()
    third = start(tmp_path / "run", delay=0.0)  # the lock died with its process
    assert "done" in third.communicate()[0]


def test_ctrl_c_leaves_a_folder_that_can_be_resumed(tmp_path: Path) -> None:
    first = start(tmp_path / "run", delay=0.03)
    wait_until_more_is_kept(first, tmp_path / "run")
    os.kill(first.pid, signal.SIGINT)
    _, err = first.communicate()
    assert (first.returncode, err) == (130, "")
    kept = len(RunFolder.open(tmp_path / "run").outcomes())
    assert kept > 0
    out, _ = start(tmp_path / "run", delay=0.0).communicate()
    assert out.splitlines()[-1] == f"done {2 * CASES - kept} skipped {kept}"
