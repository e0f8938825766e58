"""The fault drill: a run on a server that fails two calls in five, in every way, killed at random again and again.

A real `reviewgauge review` or `score` with a model behind a real server is killed with SIGKILL while it works, and
started again with the same command, until it ends by itself. After each kill, and at the end, what is on the disk is
held against what the server counted. What must hold:

- every case has exactly one result, or a failure of a kind with its reason;
- no call whose answer was committed is ever made again;
- right answers that were given more than once are at most kills times calls in flight;
- nothing that was on the disk at a kill is lost later;
- the calls and tokens of each result are those of its recorded calls, and no call is recorded as paid twice.

An answer that is none (a refusal, one cut off) is paid for and recorded, and not kept for later: where a kill comes
before its case is stored, the call is made again. Such calls count in the totals of failures alone.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fake_server import FakeServer, digest_of
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Span, Usage
from reviewgauge.core.results import Failure, FailureKind, Outcome, Score
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.models.cache.call_cache import unpack
from reviewgauge.models.request.messages import Call

FAIL = (
    "429:0.1,503:0.08,529:0.05,500:0.01,502:0.01,drop:0.01,reset:0.01,cut:0.01,timeout:0.005,slow:0.01,close:0.01,"
    "html:0.01,badjson:0.01,blank:0.005,error200:0.01,badutf8:0.005,nousage:0.01,truncate:0.01,length:0.005,"
    "reasoning:0.005,empty:0.01,refuse:0.015,filter:0.005,garbage:0.01,overflow:0.01,retry-after=0.1,slow=0.2"
)  # 40% of the calls, most of them with a Retry-After, so that a test does not sit out long waits


@dataclass
class Found:
    """What the drill found. `broken` names each promise that was not kept."""

    cases: int
    kills: int = 0
    starts: int = 0
    calls: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    results: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    useless: int = 0  # recorded calls whose answers are none
    broken: list[str] = field(default_factory=list)


def make_cases(count: int) -> list[Case]:
    """Small changes of one to four hunks, each of which is one call."""
    cases = []
    for n in range(count):
        hunks = "\n".join(_hunk(n, at) for at in range(n % 4 + 1))
        files = (ChangedFile(path=f"src/part_{n}.py", patch=hunks),)
        change = Change(repo="o/r", title=f"Change {n}", files=files)
        cases.append(
            Case(id=f"case-{n:04d}", change=change, references=tuple(_finding(n, at) for at in range(n % 4 + 1)))
        )
    return cases


def _hunk(n: int, at: int) -> str:
    added = ("print('left in')", "value = eval(text)", "return total", "assert x != None")[(n + at) % 4]
    line = 20 * at + 1
    return f"@@ -{line},2 +{line + at},3 @@\n def step_{n}_{at}(x):\n+    {added}\n     pass"


def _finding(n: int, at: int) -> Comment:
    said = (
        "Output for debugging is left in",
        "eval runs the text that it gets",
        "Total is wrong",
        "Compare with is not",
    )
    line = 20 * at + at + 2
    span = Span(path=f"src/part_{n}.py", start=line, end=line)
    return Comment(id=f"finding-{at}", body=f"{said[(n + at) % 4]} step_{n}_{at}", span=span)


class Item(NamedTuple):
    """A result of a case, or a failure."""

    case: str
    digest: str
    usage: Usage
    failure: Failure | None


class Disk:
    """What is on the disk: the calls that were committed, by key, and the results of the verb."""

    def __init__(self, cache: Path, run: Path, verb: str) -> None:
        self._cache, self._run, self._verb = cache / "chat.sqlite", run, verb
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

    def digests_of_items(self) -> dict[str, str]:
        """The digest of each case's result."""
        return {item.case: item.digest for item in self.read()[0]}

    def read(self) -> tuple[list[Item], list[Call]]:
        """The results and the recorded calls of the run."""
        if not (self._run / "manifest.json").exists():
            return [], []
        with RunFolder.open(self._run) as folder:
            items = [_item(found) for found in (folder.outcomes() if self._verb == "review" else folder.scores())]
            return items, [call for call in folder.calls() if not call.model.startswith("fake:")]

    def lines(self) -> int:
        """The lines of the results."""
        path = self._run / ("reviews.jsonl" if self._verb == "review" else "scores.jsonl")
        return path.read_bytes().count(b"\n") if path.exists() else 0


def _item(found: Outcome | Score) -> Item:
    digest = hashlib.sha256(found.to_line()).hexdigest()
    if isinstance(found, Outcome) and found.review is not None:
        return Item(found.case, digest, found.review.usage, None)
    return Item(found.case, digest, found.usage, found.failure)


@dataclass(frozen=True)
class Snapshot:
    """What was on the disk after a kill, and how often the server had received each request by then."""

    keys: frozenset[str]
    items: dict[str, str]
    received: dict[str, int]


@dataclass(frozen=True)
class Setting:
    """What is drilled. `forget` clears the cache at each kill, which must be noticed."""

    cases: int
    kills: int
    in_flight: int = 16
    fail: str = FAIL
    forget: bool = False
    verb: str = "review"


def drill(setting: Setting, folder: Path) -> Found:
    """Run it in `folder`, which is empty."""
    cases, kills = setting.cases, setting.kills
    draw = random.Random(0)
    found, disk = Found(cases), Disk(folder / "cache", folder / "run", setting.verb)
    (folder / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in make_cases(cases)))
    if setting.verb == "score":
        command = _review("fake:example", setting.in_flight)
        subprocess.run(command, cwd=folder, env=_environment(folder), check=True, capture_output=True)
    snapshots: list[Snapshot] = []
    with FakeServer(latency=(0.01, 0.05), fail=setting.fail) as server:
        command = _command(server, setting)
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
                snapshots.append(Snapshot(frozenset(disk.keys()), disk.digests_of_items(), received))
                if setting.forget:
                    shutil.rmtree(folder / "cache", ignore_errors=True)
            elif code == 0 or found.starts > 3 * kills + 20:
                break
        stats = server.stats()
    _judge(found, disk, snapshots, stats, setting.in_flight)
    if found.kills < kills:
        found.broken.append(f"only {found.kills} of {kills} kills: the run ended before")
    if code:
        found.broken.append(f"the last start ended with code {code}: " + _tail(folder / "log.txt"))
    return found


def _command(server: FakeServer, setting: Setting) -> list[str]:
    model = f"{server.spec()}?timeout=1"
    if setting.verb == "review":
        return _review(model, setting.in_flight)
    command = [sys.executable, "-m", "reviewgauge", "score", "run", f'hits(judge="{model}")']
    return [*command, "--workers", str(setting.in_flight), "--in-flight", str(setting.in_flight)]


def _review(model: str, in_flight: int) -> list[str]:
    command = [sys.executable, "-m", "reviewgauge", "review", "cases.jsonl", f'prompt(model="{model}")', "-o", "run"]
    return [*command, "--workers", str(in_flight), "--in-flight", str(in_flight)]


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "REVIEWGAUGE_CACHE": str(folder / "cache")}


def _killed(process: subprocess.Popen[bytes], server: FakeServer, draw: random.Random, share: int) -> bool:
    """Kill it at random, after at most `share` calls: each further kill finds some to do. Whether it came to it."""
    calls = server.calls + draw.randint(0, share)
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


def _judge(found: Found, disk: Disk, snapshots: list[Snapshot], stats: dict[str, Any], in_flight: int) -> None:
    """Hold every promise against what there is."""
    items, calls = disk.read()
    keys = disk.keys()
    requests: dict[str, list[int]] = stats["requests"]
    found.calls, found.faults = stats["calls"], stats["faults"]
    found.results = sum(item.failure is None for item in items)
    found.failures = dict(Counter(item.failure.kind.value for item in items if item.failure))
    if len({item.case for item in items}) != found.cases or disk.lines() != found.cases:
        found.broken.append(f"{found.cases} cases have {len(items)} results on {disk.lines()} lines")
    found.broken += [f"{i.case}: a failure without a reason" for i in items if i.failure and not i.failure.message]
    found.repeated = sum(max(0, right - 1) for _, _, right in requests.values())
    if found.repeated > found.kills * in_flight:
        found.broken.append(f"{found.repeated} right answers were given again")
    final = {item.case: item.digest for item in items}
    recorded = {call.key for call in calls}
    for number, then in enumerate(snapshots, 1):
        first = {disk.digests[key] for key in then.keys & keys & set(disk.digests)}
        again = [digest for digest in first if requests.get(digest, [0])[0] != then.received.get(digest, 0)]
        if again:
            found.broken.append(f"kill {number}: {len(again)} committed calls were made again")
        lost = [case for case, digest in then.items.items() if final.get(case) != digest]
        if lost:
            found.broken.append(f"kill {number}: {len(lost)} results were lost or changed, first {lost[0]}")
        gone = then.keys - keys - recorded
        if gone:
            found.broken.append(f"kill {number}: {len(gone)} committed calls are neither in the cache nor in the run")
    _judge_totals(found, items, calls)


def _judge_totals(found: Found, items: list[Item], calls: list[Call]) -> None:
    """The calls and tokens of each result are those of its recorded calls, each of which was paid for once.

    Calls that came to nothing are repeated when a kill comes before their case is stored. A success has none of them,
    a failure those that were recorded last: the process that stored it made them.
    """
    twice = [key for key, count in Counter(c.key for c in calls if c.paid and not c.failure).items() if count > 1]
    if twice:
        found.broken.append(f"{len(twice)} calls are recorded as paid more than once")
    useful: dict[str, list[Usage]] = {}
    useless: dict[str, list[Usage]] = {}
    for call in calls:
        said = "".join(message.text for message in call.request.messages)
        number = re.search(r"step_(\d+)_", said)
        assert number is not None
        where = useless if call.failure else useful
        where.setdefault(f"case-{int(number[1]):04d}", []).append(call.answer.usage)
    found.useless = sum(map(len, useless.values()))
    for item in items:
        calls_recorded, tokens_recorded = _sums(useful.get(item.case, []))
        calls_more = item.usage.calls - calls_recorded
        tokens_more = item.usage.tokens_in + item.usage.tokens_out - tokens_recorded
        last = useless.get(item.case, []) if item.failure else []
        ends = (_sums(last[at:]) for at in range(len(last) + 1))
        if (calls_more, tokens_more) not in ends:
            found.broken.append(f"{item.case}: {calls_more} calls and {tokens_more} tokens more than were recorded")
        if item.failure and item.failure.kind is FailureKind.REFUSAL and not last:
            found.broken.append(f"{item.case}: refused, and no such call is recorded")


def _sums(usages: Sequence[Usage]) -> tuple[int, int]:
    """(calls, tokens)."""
    return sum(one.calls for one in usages), sum(one.tokens_in + one.tokens_out for one in usages)


def _tail(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
