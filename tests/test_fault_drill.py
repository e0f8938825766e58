"""The fault drill on a smaller scale: benchmarks/faults.py with fewer cases and kills, and with a promise broken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.processes

DRILL = Path(__file__).parents[1] / "benchmarks" / "faults.py"
FAIL = (
    "429:0.1,503:0.08,529:0.05,500:0.01,502:0.01,drop:0.01,reset:0.01,cut:0.01,timeout:0.005,slow:0.01,close:0.01,"
    "html:0.01,badjson:0.01,blank:0.005,error200:0.01,badutf8:0.005,nousage:0.01,truncate:0.01,length:0.005,"
    "reasoning:0.005,empty:0.01,refuse:0.015,filter:0.005,garbage:0.01,overflow:0.01,retry-after=0.1,slow=0.2"
)  # 40% of the calls, most of them with a Retry-After, so that a test does not sit out long waits


def drill(*options: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, str(DRILL), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.drill
@pytest.mark.parametrize("verb", ["review", "score"])
def test_killed_again_and_again_it_loses_nothing_and_pays_nothing_twice(verb: str) -> None:
    code, found = drill("--verb", verb, "--cases", "16", "--kills", "2", "--fail", FAIL)
    assert found["broken"] == []
    assert code == 0
    assert found["kills"] == 2
    assert found["results"] + sum(found["failures"].values()) == 16
    assert found["repeated"] <= 2 * 16
    assert found["useless"] >= found["failures"].get("refusal", 0) + found["failures"].get("budget", 0)
    assert sum(found["faults"].values()) > 0.25 * found["calls"], "the server failed too seldom for a drill"
    assert set(found["failures"]) <= {"refusal", "budget", "request", "unreadable", "network", "timeout"}


@pytest.mark.drill
def test_the_drill_notices_calls_that_are_made_again() -> None:
    """With the cache taken away at each kill, answers that were paid for are paid for again, and it says so."""
    code, found = drill("--cases", "32", "--kills", "5", "--in-flight", "4", "--fail", "", "--forget")
    assert code == 1
    signs = ("committed calls", "given again", "paid more than once")
    assert any(sign in line for line in found["broken"] for sign in signs), found["broken"]
