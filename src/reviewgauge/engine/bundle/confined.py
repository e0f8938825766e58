"""What a stranger's bundle may use while it is checked: no program but git, and no network."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import PurePath

from reviewgauge.core.errors import UserError

_inside: list[object] = []  # a token for each block, whichever thread entered it: its threads are confined too
_NETWORK = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"}
_PROGRAMS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"}


@contextmanager
def confined() -> Iterator[None]:
    """Inside, Python starts no program but git and connects to nothing: either is a UserError."""
    _install()
    token = object()
    _inside.append(token)
    try:
        yield
    finally:
        _inside.remove(token)


@cache
def _install() -> None:
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: see https://docs.python.org/3/library/audit_events.html for the events and what they hold."""
    if not _inside or (event not in _PROGRAMS and event not in _NETWORK):
        return
    if event in _NETWORK:
        raise UserError("what is checked tried to reach the network, and was refused")
    if event == "subprocess.Popen" and PurePath(os.fsdecode(arguments[0])).name == "git":  # type: ignore[arg-type]
        return
    raise UserError("what is checked tried to start a program, and was refused")
