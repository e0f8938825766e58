from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import hostile_processes
from reviewgauge.repo.guarded.run import Ended, ProcessLimits, run_guarded
from reviewgauge.repo.guarded.sandbox import can_hold

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of processes in other sessions"),
]
HOLDS = pytest.mark.parametrize("namespace", [True, False])
CHAINS = ("chain", "chain of sessions", "double fork", "own namespace")


def run(text: str, folder: Path, *, namespace: bool, seconds: float = 20.0) -> Ended:
    limits = ProcessLimits(seconds, 10_000, 50, namespace=namespace)
    return run_guarded(["/bin/sh", "-c", text], folder, {"PATH": os.defpath}, limits)


@HOLDS
@pytest.mark.parametrize("name", CHAINS)
def test_what_tries_to_outlive_it_is_gone_or_named(name: str, namespace: bool, tmp_path: Path) -> None:
    result = hostile_processes.run_one(name, tmp_path, namespace)
    assert not result.left or result.said


@HOLDS
@pytest.mark.drill
@pytest.mark.parametrize("name", sorted({*hostile_processes.PROGRAMS} - {*CHAINS}))
def test_each_program_that_tries_is_gone_or_named(name: str, namespace: bool, tmp_path: Path) -> None:
    result = hostile_processes.run_one(name, tmp_path, namespace)
    assert not result.left or result.said


@HOLDS
def test_how_it_ended_is_told_alike(namespace: bool, tmp_path: Path) -> None:
    ended = run("echo out; echo err >&2; exit 3", tmp_path, namespace=namespace)
    assert replace(ended, seconds=0.0) == Ended("exit", 3, b"out\n", b"err\n")
    assert run("kill -TERM $$", tmp_path, namespace=namespace).code in (-15, 128 + 15)
    assert run("sleep 60", tmp_path, namespace=namespace, seconds=0.3).ending == "timeout"
    assert run("while :; do echo spam; done", tmp_path, namespace=namespace).ending == "output"
    missing = run_guarded(["/no/such"], tmp_path, {}, ProcessLimits(9, 9, 9, namespace=namespace))
    assert missing.ending == "not started" and missing.words.endswith("No such file or directory")


@pytest.mark.skipif(not can_hold(), reason="there is no bubblewrap here, or it may make no PID namespace")
def test_in_a_namespace_no_other_process_is_seen_or_reached(tmp_path: Path) -> None:
    ended = run("for pid in /proc/[0-9]*; do echo $pid; done; readlink /proc/self", tmp_path, namespace=True)
    *seen, own = ended.out.split()
    assert set(seen) <= {b"/proc/1", b"/proc/2", b"/proc/" + own}
    text = "kill -KILL $PPID; kill -STOP $PPID; kill -INT $PPID; cat /proc/1/environ; ls /proc/1/fd; echo alive"
    ended = run(text, tmp_path, namespace=True)
    assert (ended.code, ended.out.splitlines()[-1]) == (0, b"alive")


def test_what_could_not_be_ended_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard that may not kill; what it leaves ends by itself."""
    text = Path(run_guarded.__code__.co_filename).with_name("guard.py").read_text()
    for before, after in (("os.kill(pid, signal.SIGKILL)", "raise PermissionError"), ("ENDING = 8.0", "ENDING = 0.3")):
        assert before in text
        text = text.replace(before, after)
    (tmp_path / "guard.py").write_text(text)
    monkeypatch.setattr("reviewgauge.repo.guarded.run._GUARD", tmp_path / "guard.py")
    ended = run("sleep 20 > /dev/null 2>&1 & echo $!", tmp_path, namespace=False)
    assert ended.unproved == f"processes that it started could not be ended, and may still run: {int(ended.out)}"


def test_without_bubblewrap_there_is_no_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewgauge.repo.guarded.sandbox._program", lambda: None)
    can_hold.cache_clear()
    try:
        ended = run("echo $$; (sleep 60 &)", tmp_path, namespace=True)
    finally:
        can_hold.cache_clear()
    assert (ended.ending, ended.code, ended.unproved) == ("exit", 0, "") and int(ended.out) > 2
