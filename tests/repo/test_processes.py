from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from reviewgauge.repo.processes import Child, ChildEnded
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
