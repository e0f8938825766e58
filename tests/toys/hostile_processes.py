"""Programs that try to outlive their review.

Each starts processes that hold a named pipe open as long as they live. It runs as `command` runs a program, in a
process of its own; afterwards nobody may hold the pipe, or the trace or the error says that somebody may.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.repo.guarded import run
from reviewgauge.repo.guarded.run import ProcessLimits, run_guarded

SHARED = """
import ctypes, os, signal, subprocess, sys, threading, time
folder = sys.argv[1]
pipe = os.open(os.path.join(folder, "pipe"), os.O_WRONLY)
begun, stop = os.path.join(folder, "begun"), os.path.join(folder, "stop")

def beat():
    os.close(os.open(begun, os.O_WRONLY | os.O_CREAT))
    if os.path.exists(stop):
        os._exit(0)

def settle():
    while not os.path.exists(begun):
        time.sleep(0.01)

def live():
    while True:
        beat()
        time.sleep(0.02)

def daemon(then):
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
        then()

def chain(sessions):
    while True:
        if os.fork():
            os._exit(0)
        if sessions:
            os.setsid()
        beat()

def chains(sessions):
    for _ in range(4):
        if not os.fork():
            chain(sessions)

def kill_parents(depth):
    pid = os.getppid()
    line = [pid]
    for _ in range(depth - 1):
        with open(f"/proc/{line[-1]}/stat") as stat:
            line.append(int(stat.read().rpartition(")")[2].split()[1]))
    os.kill(line[-1], signal.SIGKILL)
"""

PROGRAMS = {
    "double fork": "daemon(live)\nsettle()",
    "closed pipes": "daemon(lambda: (os.closerange(0, 3), os.chdir('/'), live()))\nsettle()",
    "deaf to signals": (
        "for number in range(1, 32):\n    if number not in (9, 17, 19): signal.signal(number, signal.SIG_IGN)\n"
        "daemon(live)\nlive()"
    ),
    "chain": "chains(False)\ntime.sleep(0.2)",
    "chain of sessions": "chains(True)\ntime.sleep(0.2)",
    "threads that fork": (
        "def go():\n    while True:\n        if not os.fork(): os.setsid(); live()\n        time.sleep(0.05)\n"
        "for _ in range(4): threading.Thread(target=go, daemon=True).start()\ntime.sleep(0.4)\nos._exit(0)"
    ),
    "adopts its own": "ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\ndaemon(live)\nsettle()",
    "own namespace": (
        "subprocess.Popen(['unshare', '--user', '--map-root-user', '--pid', '--fork', sys.executable, sys.argv[0],"
        " folder, 'inside'], start_new_session=True) if len(sys.argv) < 3 else live()\nsettle()"
    ),
    "stopped": ("daemon(live)\nif not os.fork(): os.setsid(); os.kill(os.getpid(), signal.SIGSTOP); live()\nsettle()"),
    "kills its guard": "daemon(live)\nsettle()\nkill_parents(1)\nlive()",
    "stops its guard": "daemon(live)\nsettle()\nos.kill(os.getppid(), signal.SIGSTOP)\nlive()",
    "kills the guard's parent": "daemon(live)\nsettle()\nkill_parents(2)\nlive()",
}
SECONDS = 2.0  # that a program may take
PATIENCE = 10.0  # seconds until the guard has ended its program after we were killed


@dataclass(frozen=True)
class Result:
    """One run: whether a process lived on, and what was said of that."""

    left: bool
    said: str


def run_inside(name: str, folder: Path, namespace: bool) -> str:
    """Run a program in this process, as `command` does; what was said."""
    code = folder / "program.py"
    code.write_text(SHARED + PROGRAMS[name], encoding="utf-8")
    run._PATIENCE = 3.0  # for those that stop their guard
    limits = ProcessLimits(SECONDS, 100_000, 256, namespace=namespace)
    try:
        ended = run_guarded([sys.executable, str(code), str(folder)], folder, {"PATH": os.environ["PATH"]}, limits)
    except UserError as error:
        return str(error) if "may still run" in str(error) else ""
    return ended.unproved


def run_one(name: str, top: Path, namespace: bool) -> Result:
    """Run a program in a process of its own, and look whether anything of it lives on."""
    with _folder(top) as folder, _pipe(folder / "pipe") as pipe:
        command = [sys.executable, __file__, name, str(folder), "namespace" if namespace else "adopted"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, -9):
            raise RuntimeError(done.stderr)
        left = _is_held(pipe, PATIENCE if done.returncode else 0.0)
        if not (folder / "begun").exists():
            raise RuntimeError(f"{name} started nothing: {done.stdout}")
        return Result(left, done.stdout.strip())


@contextmanager
def _folder(top: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=top))
    try:
        yield folder
    finally:
        (folder / "stop").touch()
        time.sleep(0.05)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _pipe(path: Path) -> Iterator[int]:
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield pipe
    finally:
        os.close(pipe)


def _is_held(pipe: int, seconds: float) -> bool:
    """Whether a process still holds the other end, so many seconds later."""
    end = time.monotonic() + seconds
    while True:
        try:
            os.read(pipe, 1)
        except BlockingIOError:
            if time.monotonic() >= end:
                return True
            time.sleep(0.02)
        else:
            return False


if __name__ == "__main__":
    print(run_inside(sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "namespace"))
