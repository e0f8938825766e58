"""What a stranger's bundle may use while it is verified: no program but git, no network, limited time and memory."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import PurePath
from types import FrameType

from reviewgauge.core.errors import UserError

SECONDS, MEGABYTES = 1800, 8192  # of CPU time; of memory beyond what the process had
_inside: list[object] = []  # a token for each block, whichever thread entered it: its threads are confined too
_NETWORK = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"}
_PROGRAMS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"}


@contextmanager
def confined(seconds: int = SECONDS, megabytes: int = MEGABYTES) -> Iterator[None]:
    """Inside, Python starts no program but git, connects to nothing, and is stopped with a UserError at the limits.

    The limit on time needs the main thread, as signals do; elsewhere there is none.
    """
    _install()
    token = object()
    _inside.append(token)
    in_main = threading.current_thread() is threading.main_thread()
    before = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU)}
    handler = signal.signal(signal.SIGXCPU, _stop) if in_main else None
    try:
        _limit(resource.RLIMIT_AS, _used_memory() + megabytes * 1024 * 1024)
        if in_main:
            used = resource.getrusage(resource.RUSAGE_SELF)
            _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + seconds)
        yield
    except MemoryError:
        raise UserError(f"verifying needs more than {megabytes:,} MB of memory, and was stopped") from None
    finally:
        for kind, limits in before.items():
            resource.setrlimit(kind, limits)
        if in_main:
            signal.signal(signal.SIGXCPU, handler or signal.SIG_DFL)
        _inside.remove(token)


def _limit(kind: int, wanted: int) -> None:
    soft, hard = resource.getrlimit(kind)
    known = [limit for limit in (soft, hard, wanted) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(kind, (min(known), hard))


def _used_memory() -> int:
    """The address space of this process in bytes; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  (nothing but the built-in)
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _stop(_signal: int, _frame: FrameType | None) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    raise UserError("verifying took too much CPU time, and was stopped", remedy="--tables-only checks less")


@cache
def _install() -> None:
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: see https://docs.python.org/3/library/audit_events.html for the events and what they hold."""
    if not _inside or (event not in _PROGRAMS and event not in _NETWORK):
        return
    if event in _NETWORK:
        raise UserError("what is verified tried to reach the network, and was refused")
    if event == "subprocess.Popen" and PurePath(os.fsdecode(arguments[0])).name == "git":  # type: ignore[arg-type]
        return
    raise UserError("what is verified tried to start a program, and was refused")
