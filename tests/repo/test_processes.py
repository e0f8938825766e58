from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import pytest

from reviewgauge.repo.processes import Child, ChildEnded, RecentlyUsed
from waiting import Pulse, until

ECHO = """
import sys
sys.stderr.write("why")
for line in map(str.strip, sys.stdin):
    if line == "end":
        sys.exit(4)
    print(line * 2, flush=True)
"""


def _start(errors: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)


def test_a_child_answers_and_is_started_anew_after_its_end() -> None:
    child = Child("echo", _start, 60)
    assert not child.alive
    for _ in range(2):
        child.ask(b"ab\nc\nlast\n")
        assert (child.line(), child.take(3), child.until(b"lastlast\n", 100)) == (b"abab", b"cc\n", b"")
        with pytest.raises(ChildEnded, match="ended without an answer") as ended:
            child.ask(b"end\n")
            child.line()
        assert (ended.value.errors, ended.value.code) == ("why", 4)
        assert not child.alive
    child.close()


def test_a_child_that_takes_too_long_or_says_too_much_is_ended() -> None:
    child = Child("echo", _start, 60)
    child.ask(b"x" * 5_000 + b"\n")
    child.skip(5_000)
    with pytest.raises(ChildEnded, match="larger than 10 bytes"):
        child.until(b"never", 10)
    child.seconds = 0.2
    child.ask(b"")
    with pytest.raises(ChildEnded, match=r"longer than 0\.2 seconds"):
        child.line()
    assert not child.alive


TIED = """
import subprocess, sys, time
from reviewgauge.repo.processes import start_tied
silent = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
kept = start_tied(["sh", "-c", sys.argv[1]], **silent)
print("tied", flush=True)
time.sleep(900)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux sends a signal when a pipe closes")
def test_a_tied_program_and_its_children_end_with_us(tmp_path: Path) -> None:
    pulse = Pulse(tmp_path / "pulse")
    command = [sys.executable, "-c", TIED, f"{pulse.hold}; sleep 900 & sleep 900"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as ours:
        assert ours.stdout is not None and ours.stdout.readline()
        until(lambda: pulse.begun(1), ours)
        assert not pulse.gone()
        ours.kill()
    until(pulse.gone)


def test_threads_share_one_value_and_few_are_made_at_a_time() -> None:
    made: RecentlyUsed[int, int] = RecentlyUsed(10, at_once=2)
    calls: list[int] = []
    running, most, guard = 0, 0, threading.Lock()

    def make(key: int) -> int:
        nonlocal running, most
        with guard:
            running += 1
            most = max(most, running)
            calls.append(key)
        time.sleep(0.02)
        with guard:
            running -= 1
        return key * 2

    with ThreadPoolExecutor(12) as threads:
        found = list(threads.map(lambda n: made.of(n % 4, lambda: make(n % 4)), range(24)))
    assert found == [n % 4 * 2 for n in range(24)]
    assert sorted(calls) == [0, 1, 2, 3]
    assert most == 2


def test_an_error_is_not_kept_and_the_oldest_make_room() -> None:
    made: RecentlyUsed[str, str] = RecentlyUsed(2, at_once=1)
    with pytest.raises(ZeroDivisionError):
        made.of("a", lambda: str(1 // 0))
    assert made.of("a", lambda: "first") == "first"
    for key in "bc":
        made.of(key, lambda: "x")
    assert made.of("a", lambda: "again") == "again"
