from __future__ import annotations

import subprocess
import sys

import pytest

from reviewgauge.repo.processes import gather


def _running(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_both_pipes_are_read_however_much_they_hold() -> None:
    code = "import sys; sys.stderr.write('e' * 300_000); sys.stdout.write('o' * 400_000); sys.exit(3)"
    with _running(code) as process:
        assert gather(process, 60) == (b"o" * 400_000, b"e" * 300_000)
        assert process.returncode == 3


@pytest.mark.parametrize(
    "code",
    [
        "import time; print('begun', flush=True); time.sleep(60)",
        "import os, time; os.close(1); os.close(2); time.sleep(60)",  # at the end of both pipes it goes on
        "while True: print('x' * 1000)",
    ],
)
def test_one_that_does_not_end_is_given_up(code: str) -> None:
    with _running(code) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            gather(process, 0.5)
        assert process.poll() is None
        process.kill()
