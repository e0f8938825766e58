from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
import urllib.error
from collections.abc import Iterator

import pytest

from engine_small import crash_kind, slowly, square
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.results import Failure, FailureKind
from reviewgauge.engine.run.executors import Executor, Interruption, Serial, Threads, failure_of, interruptible


@pytest.mark.parametrize("executor", [Serial(), Threads(3)], ids=lambda e: type(e).__name__)
def test_every_item_comes_back_once_with_its_index(executor: Executor) -> None:
    found = dict(executor.map(square, range(6)))
    assert {k: v for k, v in found.items() if k != 3} == {0: 0, 1: 1, 2: 4, 4: 16, 5: 25}
    assert isinstance(found[3], Failure) and found[3].kind is FailureKind.CRASH
    assert re.fullmatch(r"ValueError: three \(engine_small\.py, line \d+\)", found[3].message)
    assert list(executor.map(square, [])) == []


def leave(number: int) -> int:
    if number == 1:
        sys.exit("a plug-in that ends the program")
    return number


@pytest.mark.parametrize("executor", [Serial(), Threads(3)], ids=lambda e: type(e).__name__)
def test_a_plug_in_that_ends_the_program_costs_its_item_alone(executor: Executor) -> None:
    found = dict(executor.map(leave, range(4)))
    assert crash_kind(found.pop(1)) is FailureKind.CRASH
    assert found == {0: 0, 2: 2, 3: 3}


@pytest.mark.parametrize("executor", [Serial(), Threads(3)], ids=lambda e: type(e).__name__)
def test_once_it_is_to_stop_what_was_begun_comes_back_and_nothing_else(executor: Executor) -> None:
    stop, found = Interruption(), []
    for index, _ in executor.map(slowly, range(100), stop):
        found.append(index)
        stop.ask()
    assert len(found) == len(set(found))
    assert 1 <= len(found) <= 2 * executor.workers
    assert list(executor.map(slowly, range(100), stop)) == []


def test_a_finished_item_does_not_wait_for_a_slow_one() -> None:
    release = threading.Event()

    def wait_for_zero(number: int) -> int:
        if number == 0:
            release.wait()
        return number

    answers = Threads(2).map(wait_for_zero, range(4))
    first = [next(answers)[0] for _ in range(3)]
    release.set()
    assert sorted(first) == [1, 2, 3]
    assert [index for index, _ in answers] == [0]


def test_threads_stop_handing_out_when_nobody_listens() -> None:
    started: list[int] = []

    def note(number: int) -> int:
        started.append(number)
        time.sleep(0.02)
        return number

    answers = Threads(2).map(note, range(1000))
    next(answers)
    answers.close()
    time.sleep(0.2)
    assert len(started) < 100


@pytest.mark.parametrize(("error", "kind"), [
    (TimeoutError("t"), FailureKind.TIMEOUT),
    (ConnectionResetError("c"), FailureKind.NETWORK),
    (urllib.error.URLError("u"), FailureKind.NETWORK),
    (BadInput("f", "is torn"), FailureKind.UNREADABLE),
    (UserError("no key"), FailureKind.CRASH),
    (KeyError("k"), FailureKind.CRASH),
])  # fmt: skip
def test_failures_say_at_what_it_broke(error: Exception, kind: FailureKind) -> None:
    assert failure_of(error).kind is kind


def test_messages_are_one_line_without_escapes() -> None:
    assert failure_of(ValueError("a\n\x1b[31mb")).message == "ValueError: a [31mb"


@pytest.fixture(autouse=True)
def ctrl_c_is_on() -> Iterator[None]:
    """Afterwards too: what the tests after these start would ignore it, and they send it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
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


def test_of_several_reasons_the_first_counts() -> None:
    stop = Interruption()
    stop.stop(UserError("first"))
    stop.stop(UserError("second"))
    assert (stop.why, stop.by_user, stop.is_set()) == ("first", False, True)
