"""The fault drill: a run on a server that fails two calls in five, in every way, killed at random again and again.

    python benchmarks/faults.py                          1,000 cases, 50 kills
    python benchmarks/faults.py --cases 120 --kills 8 --json

A real `reviewbench review` with a model behind a real server is killed with SIGKILL while it works, and started again
with the same command, until it ends by itself. After each kill, and at the end, what is on the disk is held against
what the server counted. The exit code is 1 where one of these does not hold:

- every case has exactly one outcome: a review, or a failure of a kind with its reason;
- no call whose answer was committed is ever made again;
- right answers that were given more than once are at most kills times calls in flight;
- nothing that was on the disk at a kill is lost later;
- the calls and tokens of each review are those of its recorded calls.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from reviewbench.core.records import Case, Change, ChangedFile, Usage
from reviewbench.core.results import Outcome
from reviewbench.engine.store import RunFolder
from reviewbench.models._call_cache import unpack
from reviewbench.models.fake_server import FakeServer, digest_of
from reviewbench.models.messages import Call

FAIL = (
    "429:0.06,500:0.04,502:0.02,503:0.03,529:0.02,drop:0.03,reset:0.02,cut:0.02,timeout:0.01,slow:0.01,close:0.01,"
    "html:0.02,badjson:0.02,blank:0.01,error200:0.01,badutf8:0.01,nousage:0.01,truncate:0.01,length:0.005,"
    "reasoning:0.005,empty:0.01,refuse:0.005,filter:0.005,garbage:0.01,overflow:0.005,retry-after=0.1,slow=0.2"
)  # 40% of the calls
PATIENCE = "0.02"  # seconds of a first wait between tries


@dataclass
class Found:
    """What the drill found. `broken` names each promise that was not kept."""

    cases: int
    kills: int = 0
    starts: int = 0
    seconds: float = 0.0
    calls: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    reviews: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    committed: int = 0
    repeated: int = 0
    allowed: int = 0
    unrecorded: int = 0  # answers that are none, which failures paid for
    broken: list[str] = field(default_factory=list)


def make_cases(count: int) -> list[Case]:
    """Small changes of one to four hunks, each of which is one call."""
    cases = []
    for n in range(count):
        hunks = "\n".join(_hunk(n, at) for at in range(n % 4 + 1))
        files = (ChangedFile(path=f"src/part_{n}.py", patch=hunks),)
        cases.append(Case(id=f"case-{n:04d}", change=Change(repo="o/r", title=f"Change {n}", files=files)))
    return cases


def _hunk(n: int, at: int) -> str:
    added = ("print('left in')", "value = eval(text)", "return total", "assert x != None")[(n + at) % 4]
    line = 20 * at + 1
    return f"@@ -{line},2 +{line + at},3 @@\n def step_{n}_{at}(x):\n+    {added}\n     pass"


class Disk:
    """What is on the disk: the calls that were committed, by key, and the outcomes."""

    def __init__(self, cache: Path, run: Path) -> None:
        self._cache, self._run = cache / "chat.sqlite", run
        self._seen: set[str] = set()
        self.digests: dict[str, str] = {}  # of every first ask that was ever seen, by key

    def keys(self) -> set[str]:
        """The keys of the calls that are committed now."""
        if not self._cache.exists():
            return set()
        with closing(sqlite3.connect(self._cache, timeout=30)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone():
                return set()
            keys = {row[0].hex() for row in connection.execute("SELECT key FROM calls")}
            for key in keys - self._seen:
                row = connection.execute("SELECT call FROM calls WHERE key = ?", (bytes.fromhex(key),)).fetchone()
                call = unpack(row[0], self._cache)
                if call.ask == 1:  # the second and the third ask have the same words where two answers were the same
                    self.digests[key] = digest_of(call.request)
        self._seen |= keys
        return keys

    def outcomes(self) -> dict[str, str]:
        """The digest of each case's outcome."""
        return {outcome.case: outcome.digest for outcome in self.read()[0]}

    def read(self) -> tuple[list[Outcome], list[Call]]:
        """The outcomes and the recorded calls of the run."""
        if not (self._run / "manifest.json").exists():
            return [], []
        with RunFolder.open(self._run) as folder:
            return folder.outcomes(), list(folder.calls())

    def lines(self) -> int:
        """The lines of the run's reviews."""
        path = self._run / "reviews.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0


@dataclass(frozen=True)
class Snapshot:
    """What was on the disk after a kill, and how often the server had received each request by then."""

    keys: frozenset[str]
    outcomes: dict[str, str]
    received: dict[str, int]


@dataclass(frozen=True)
class Setting:
    """What is drilled. `forget` clears the cache at each kill, which must be noticed."""

    cases: int = 1_000
    kills: int = 50
    seed: int = 0
    in_flight: int = 16
    fail: str = FAIL
    forget: bool = False


def drill(setting: Setting, folder: Path) -> Found:
    """Run it in `folder`, which is empty."""
    cases, kills = setting.cases, setting.kills
    draw = random.Random(setting.seed)
    found, disk = Found(cases), Disk(folder / "cache", folder / "run")
    (folder / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in make_cases(cases)))
    began = time.perf_counter()
    snapshots: list[Snapshot] = []
    with FakeServer(latency="0.01-0.05", fail=setting.fail, seed=setting.seed) as server:
        command = _command(server, setting.in_flight)
        while True:
            found.starts += 1
            with (folder / "log.txt").open("ab") as log:
                process = subprocess.Popen(command, cwd=folder, env=_environment(folder), stdout=log, stderr=log)
            share = int(2.5 * (cases - disk.lines())) // (kills - found.kills + 1)  # calls: 2.5 hunks a case
            killed = found.kills < kills and _killed(process, server, draw, share)
            code = process.wait()
            if killed:
                found.kills += 1
                _settled(server)
                received = {digest: counts[0] for digest, counts in server.stats()["requests"].items()}
                snapshots.append(Snapshot(frozenset(disk.keys()), disk.outcomes(), received))
                if setting.forget:
                    shutil.rmtree(folder / "cache", ignore_errors=True)
            elif code == 0 or found.starts > 3 * kills + 20:
                break
        stats = server.stats()
    found.seconds = round(time.perf_counter() - began, 1)
    _judge(found, disk, snapshots, stats, setting.in_flight)
    if found.kills < kills:
        found.broken.append(f"only {found.kills} of {kills} kills: the run ended before")
    if code:
        found.broken.append(f"the last start ended with code {code}: " + _tail(folder / "log.txt"))
    return found


def _command(server: FakeServer, in_flight: int) -> list[str]:
    spec = f'prompt(model="{server.spec()}?timeout=1")'
    command = [sys.executable, "-m", "reviewbench", "review", "cases.jsonl", spec, "-o", "run"]
    return [*command, "--workers", str(in_flight), "--in-flight", str(in_flight)]


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "REVIEWBENCH_CACHE": str(folder / "cache"), "REVIEWBENCH_PATIENCE": PATIENCE}


def _killed(process: subprocess.Popen[bytes], server: FakeServer, draw: random.Random, share: int) -> bool:
    """Kill it at random, after about `share` calls: each further kill finds some to do. Whether it came to it."""
    calls = server.calls + draw.randint(0, max(1, 2 * share))
    pause = draw.uniform(0, 0.05)
    while process.poll() is None:
        if server.calls >= calls:
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
            return process.wait() == -signal.SIGKILL
        time.sleep(0.002)
    return False


def _settled(server: FakeServer) -> None:
    """Wait until the server has noticed that its client is gone."""
    while server.stats()["in_flight"]:
        time.sleep(0.005)


def _judge(found: Found, disk: Disk, snapshots: list[Snapshot], stats: dict[str, object], in_flight: int) -> None:
    """Hold every promise against what there is."""
    outcomes, calls = disk.read()
    keys = disk.keys()
    requests: dict[str, list[int]] = stats["requests"]  # type: ignore[assignment]
    found.calls, found.faults = int(stats["calls"]), dict(stats["faults"])  # type: ignore[call-overload]
    found.reviews = sum(outcome.review is not None for outcome in outcomes)
    found.failures = dict(Counter(outcome.failure.kind.value for outcome in outcomes if outcome.failure))
    found.committed = len(keys)
    if len({outcome.case for outcome in outcomes}) != found.cases or disk.lines() != found.cases:
        found.broken.append(f"{found.cases} cases have {len(outcomes)} outcomes on {disk.lines()} lines")
    found.broken += [f"{o.case}: a failure without a reason" for o in outcomes if o.failure and not o.failure.message]
    found.repeated = sum(max(0, right - 1) for _, _, right in requests.values())
    found.allowed = found.kills * in_flight
    if found.repeated > found.allowed:
        found.broken.append(f"{found.repeated} right answers were given again, over {found.allowed}")
    final = {outcome.case: outcome.digest for outcome in outcomes}
    for number, then in enumerate(snapshots, 1):
        first = {disk.digests[key] for key in then.keys & keys & set(disk.digests)}
        again = [digest for digest in first if requests[digest][0] != then.received[digest]]
        if again:
            found.broken.append(f"kill {number}: {len(again)} committed calls were made again")
        lost = [case for case, digest in then.outcomes.items() if final.get(case) != digest]
        if lost:
            found.broken.append(f"kill {number}: {len(lost)} outcomes were lost or changed, first {lost[0]}")
        recorded = {call.key for call in calls}
        gone = then.keys - keys - recorded
        if gone:
            found.broken.append(f"kill {number}: {len(gone)} committed calls are neither in the cache nor in the run")
    _judge_totals(found, outcomes, calls)


def _judge_totals(found: Found, outcomes: list[Outcome], calls: list[Call]) -> None:
    """The calls and tokens of each review are those of its recorded calls.

    A failure's may be more: an answer that is none (a refusal, one cut off) was paid for, and is not recorded.
    """
    twice = [key for key, count in Counter(call.key for call in calls if call.paid).items() if count > 1]
    if twice:
        found.broken.append(f"{len(twice)} calls are recorded as paid more than once")
    recorded: dict[str, list[Usage]] = {}
    for call in calls:
        said = "".join(message.text for message in call.request.messages)
        number = re.search(r"step_(\d+)_", said)
        assert number is not None
        recorded.setdefault(f"case-{int(number[1]):04d}", []).append(call.answer.usage)
    for outcome in outcomes:
        usage = outcome.review.usage if outcome.review is not None else outcome.usage
        mine = recorded.get(outcome.case, [])
        calls_more = usage.calls - sum(one.calls for one in mine)
        tokens_more = usage.tokens_in + usage.tokens_out - sum(one.tokens_in + one.tokens_out for one in mine)
        found.unrecorded += calls_more
        if min(calls_more, tokens_more) < 0 or (outcome.review is not None and (calls_more or tokens_more)):
            found.broken.append(f"{outcome.case}: {calls_more} calls and {tokens_more} tokens more than were recorded")


def _tail(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]


def main() -> int:
    """Print what was found; 1 where a promise was not kept."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cases", type=int, default=1_000)
    options.add_argument("--kills", type=int, default=50)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--in-flight", type=int, default=16)
    options.add_argument("--fail", default=FAIL, help="what the server does wrong")
    options.add_argument("--forget", action="store_true", help="clear the cache at each kill, which must be noticed")
    options.add_argument("--folder", type=Path, help="an empty folder that is kept")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        setting = Setting(given.cases, given.kills, given.seed, given.in_flight, given.fail, given.forget)
        found = drill(setting, folder)
    if given.json:
        print(json.dumps(asdict(found), indent=2))
    else:
        print(_report(found))
    return 1 if found.broken else 0


def _report(found: Found) -> str:
    failed = sum(found.faults.values())
    lines = [
        f"{found.cases:,} cases, {found.kills} kills, {found.starts} starts, {found.seconds:,.0f} s",
        f"{found.calls:,} calls came to the server, {failed:,} of them failed ({failed / found.calls:.0%})",
        f"{found.reviews:,} reviews; failures: " + (", ".join(f"{k} {n}" for k, n in found.failures.items()) or "none"),
        f"{found.committed:,} calls committed; {found.repeated:,} right answers came twice (allowed {found.allowed:,})",
        *(f"BROKEN: {line}" for line in found.broken[:20]),
    ]
    return "\n".join(lines if found.broken else [*lines, "every promise kept"])


if __name__ == "__main__":
    sys.exit(main())
