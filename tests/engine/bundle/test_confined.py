"""While a stranger's bundle is verified, nothing is started, nothing is reached, and nothing runs for ever."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.engine.bundle.confined import confined

TRUE = [sys.executable, "-c", ""]


def test_no_program_but_git() -> None:
    with confined():
        for words in (TRUE, ["/bin/sh", "-c", "true"]):
            with pytest.raises(UserError, match="start a program"):
                subprocess.run(words, check=True)
        assert subprocess.run(["git", "--version"], check=True, capture_output=True).stdout.startswith(b"git version")
    subprocess.run(TRUE, check=True)


def test_no_network_also_in_its_threads() -> None:
    found: list[BaseException] = []

    def connect() -> None:
        try:
            socket.create_connection(("127.0.0.1", 9), timeout=1)
        except BaseException as error:
            found.append(error)

    with confined():
        thread = threading.Thread(target=connect)
        thread.start()
        thread.join()
    assert isinstance(found[0], UserError)


def test_memory_is_limited_and_given_back() -> None:
    with pytest.raises(UserError, match="more than 200 MB"), confined(megabytes=200):
        bytearray(2 << 30)
    assert len(bytearray(300 << 20)) == 300 << 20


@pytest.mark.slow
def test_time_is_limited() -> None:
    with pytest.raises(UserError, match="too much CPU time"), confined(seconds=1):
        while True:
            pass
