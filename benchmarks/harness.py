"""How fast calls go through the client, beside the raw SDK and inspect_ai, against a slow local server.

    REVIEWGAUGE_PEERS=PYTHON python benchmarks/harness.py [--calls 2000] [--repeats 1] [--only 64@0.2]

Ours has everything on: cache on disk, records, retries, limits, prices, and one thread a call in flight, as the engine
has. The raw SDK is openai's default async client. inspect_ai runs an eval of one call a sample with its log, without
a cache; it lives in an environment of its own (benchmarks/peers.txt), whose interpreter is named by --peers
or $REVIEWGAUGE_PEERS. Each run is a process of its own, taken in turns, and the best of the repeats counts. Ideal is
what it would take if a call cost no time but the server's. Exit code 1 where an aim is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from peers.harness_peers import SYSTEM, prompt

from reviewgauge.core.errors import UserError
from reviewgauge.models.request.messages import Call

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "toys"))
from fake_server import FakeServer

VARIABLE = "REVIEWGAUGE_PEERS"
CLIENTS = ("reviewgauge", "openai", "inspect_ai")
SETUPS = ((64, 0.2), (256, 0.2), (64, 2.0), (256, 2.0))  # calls in flight, seconds of latency
AIMS = {(64, 0.2): 1.15, (256, 0.2): 1.5, (64, 2.0): 1.05, (256, 2.0): 1.05}  # wall over ideal
PROCESSOR_AIM = 0.25  # of inspect_ai's


class Run(NamedTuple):
    """Seconds on the clock and of processor time of one client."""

    wall: float
    processor: float
    version: str


def ours(job: dict[str, Any]) -> Run:
    """2,000 calls through the client from as many threads as are in flight, with everything on."""
    from reviewgauge.core.version import __version__
    from reviewgauge.models.chat.client import ChatClient, chat_model, track_usage
    from reviewgauge.models.request.messages import Answer, Request, system, user
    from reviewgauge.models.request.model_spec import ChatSettings

    with tempfile.TemporaryDirectory() as folder:
        os.environ["REVIEWGAUGE_CACHE"] = folder
        with (Path(folder) / "calls.jsonl").open("wb") as records:

            def record(call: Call) -> None:
                records.write(call.to_line())

            with ChatClient(ChatSettings(in_flight=job["in_flight"]), record=record) as client:

                def call(number: int) -> Answer:
                    with track_usage():
                        request = Request(messages=(system(SYSTEM), user(prompt(number))))
                        return chat_model(f"openai:fake@{job['url']}").ask(request)

                call(-1)
                with ThreadPoolExecutor(job["in_flight"]) as pool:
                    began, worked = time.perf_counter(), time.process_time()
                    answers = list(pool.map(call, range(job["calls"])))
                    wall, processor = time.perf_counter() - began, time.process_time() - worked
                if len(answers) != job["calls"] or client.budget.totals.calls != job["calls"] + 1:
                    raise RuntimeError("a call was lost, or made twice")
    return Run(wall, processor, __version__)


def run(who: str, python: str, in_flight: int, latency: float, calls: int) -> Run:
    """One client's run in a process of its own, against a server in this one."""
    script = Path(__file__) if who == "reviewgauge" else Path(__file__).with_name("peers") / "harness_peers.py"
    with FakeServer(latency=latency) as server:
        job = {"who": who, "url": f"{server.url}/v1", "in_flight": in_flight, "calls": calls}
        command = [python, str(script), *(["--job"] if who == "reviewgauge" else [])]
        done = subprocess.run(command, input=json.dumps(job) + "\n", capture_output=True, text=True, check=False)
    try:
        return Run(**json.loads(done.stdout.strip().splitlines()[-1]))
    except (IndexError, ValueError, TypeError):
        raise UserError(f"{python} could not run {who}: {done.stderr[-300:]}") from None


def compare(peers: Path | None, calls: int, repeats: int, setups: Sequence[tuple[int, float]]) -> int:
    """Print the table; 1 where an aim is missed."""
    pythons = {"reviewgauge": sys.executable, "openai": sys.executable}
    if peers is not None:
        pythons["inspect_ai"] = str(peers)
    print(f"{calls:,} calls, best of {repeats}; Python {platform.python_version()}, {os.cpu_count()} processors")
    print("in flight  latency  client                     wall    ideal  wall/ideal  CPU ms/call")
    reached = True
    for in_flight, latency in setups:
        ideal = -(-calls // in_flight) * latency
        best: dict[str, Run] = {}
        for _ in range(repeats):
            for who, python in pythons.items():
                got = run(who, python, in_flight, latency, calls)
                best[who] = min(best.get(who, got), got)
        for who, got in best.items():
            aim = AIMS.get((in_flight, latency)) if who == "reviewgauge" else None
            note, good = held(got.wall / ideal, aim)
            reached = reached and good
            client = f"{who} {got.version}"
            figures = (
                f"{got.wall:>7.2f}s {ideal:>7.2f}s {got.wall / ideal:>11.2f} {got.processor / calls * 1000:>12.2f}"
            )
            print(f"{in_flight:>9} {latency * 1000:>6.0f}ms  {client:<22} {figures}{note}", flush=True)
        if "inspect_ai" in best:
            share = best["reviewgauge"].processor / best["inspect_ai"].processor
            note, good = held(share, PROCESSOR_AIM)
            reached = reached and good
            print(f"{'':>19} ours takes {share:.2f} of inspect_ai's processor time{note}")
    if peers is None:
        print(f"inspect_ai: no rows, ${VARIABLE} names no Python that has it (pip install inspect_ai openai)")
    return int(not reached)


def held(figure: float, aim: float | None) -> tuple[str, bool]:
    """(what is printed behind a figure, whether it is at most the aim)."""
    if aim is None:
        return "", True
    return f"  aim {aim}" + ("" if figure <= aim else " MISSED"), figure <= aim


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--only", action="append", help="a setup: IN_FLIGHT@SECONDS, such as 64@0.2")
    parser.add_argument("--peers", type=Path, help=f"a Python with inspect_ai (default: ${VARIABLE})")
    parser.add_argument("--job", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(ours(json.loads(sys.stdin.readline()))._asdict()))
        return 0
    peers = options.peers or Path(os.environ.get(VARIABLE, ""))
    setups: Sequence[tuple[int, float]] = SETUPS
    if options.only:
        setups = tuple((int(one.partition("@")[0]), float(one.partition("@")[2])) for one in options.only)
    try:
        return compare(peers if peers.is_file() else None, options.calls, options.repeats, setups)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
