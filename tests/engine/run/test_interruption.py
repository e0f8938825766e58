from __future__ import annotations

import os
import signal
import threading

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.interruption import Interruption, interruptible


@pytest.fixture(autouse=True)
def ctrl_c_is_on() -> None:
    """Whoever starts the tests in the background has them ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_the_first_ctrl_c_asks_and_the_second_interrupts() -> None:
    told: list[str] = []
    with interruptible(lambda: told.append("told")) as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert (stop.is_set(), stop.by_user, stop.why, told) == (True, True, "interrupted", ["told"])
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_where_ctrl_c_is_ignored_it_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interruptible() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert not stop.is_set()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_in_another_thread_it_is_never_set_by_a_signal() -> None:
    found: list[Interruption] = []

    def work() -> None:
        with interruptible() as stop:
            found.append(stop)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not found[0].is_set()


def test_of_several_reasons_the_first_counts() -> None:
    stop = Interruption()
    stop.stop(UserError("first"))
    stop.stop(UserError("second"))
    assert (stop.why, stop.by_user, stop.is_set()) == ("first", False, True)
