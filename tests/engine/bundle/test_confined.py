"""While a stranger's bundle is checked, nothing is started and nothing is reached."""

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
