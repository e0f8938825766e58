"""Logins that strangers guess at, passwords, sessions, and what the audit log holds."""

from __future__ import annotations

import re

import pytest
from argon2 import PasswordHasher

from annotation_client import PASSWORD
from annotation_toys import add_rater
from reviewgauge.annotation.store import accounts as passwords
from reviewgauge.annotation.store.accounts import (
    FREE,
    FREE_OF_ADDRESS,
    LONGEST_WAIT,
    Role,
    accept,
    begin_session,
    change_password,
    find_session,
    invite,
    log_in,
)
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.owner import audit_log, close_account
from reviewgauge.core.errors import UserError

HOME, STRANGER = "192.0.2.1", "198.51.100.7"


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_HASHER", quick)
    monkeypatch.setattr(passwords, "_NOBODY", quick.hash("nobody"))


@pytest.fixture
def now(database: Database) -> list[float]:
    found = [1_000_000.0]
    database.clock = lambda: found[0]
    return found


def joined(database: Database, name: str = "Ann") -> None:
    accept(database, invite(database, Role.RATER), name, PASSWORD)


def guess(database: Database, name: str = "Ann", address: str = STRANGER) -> str:
    with pytest.raises(UserError) as refused:
        log_in(database, name, "a wrong guess", address)
    return str(refused.value)


def test_a_stranger_waits_longer_and_longer_and_locks_nobody_out(database: Database, now: list[float]) -> None:
    joined(database)
    said = [guess(database) for _ in range(FREE + 1)]
    assert ["wrong" in one for one in said] == [True] * FREE + [False]
    assert "wait 1 seconds" in said[-1]
    waits = []
    for _ in range(12):
        waits.append(int(re.findall(r"wait (\d+) seconds", guess(database))[0]))
        now[0] += waits[-1] - 0.5
        assert "too many tries" in guess(database)  # which does not make it longer
        now[0] += 0.5
        assert "wrong" in guess(database)
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, LONGEST_WAIT, LONGEST_WAIT]
    assert log_in(database, "ANN ", PASSWORD, HOME).name == "Ann"  # from elsewhere, at any moment
    assert "too many tries" in guess(database)


def test_an_address_that_guesses_many_names_waits_too(database: Database, now: list[float]) -> None:
    joined(database)
    for n in range(FREE_OF_ADDRESS):
        assert "wrong" in guess(database, f"Name {n}", f"2001:db8::{n + 1:x}")  # one network
    assert "too many tries" in guess(database, "Ann", "2001:db8::ffff")
    assert log_in(database, "Ann", PASSWORD, "2001:db9::1").name == "Ann"
    now[0] -= 86_400  # the clock is set back: nobody waits for a day
    assert log_in(database, "Ann", PASSWORD, "2001:db8::1").name == "Ann"


def test_a_right_password_forgives_wrong_ones(database: Database, now: list[float]) -> None:
    joined(database)
    for _ in range(3):
        for _ in range(FREE - 1):
            guess(database, address=HOME)
        assert log_in(database, "Ann", PASSWORD, HOME).name == "Ann"


def test_another_password_ends_all_sessions(database: Database) -> None:
    joined(database)
    account = log_in(database, "Ann", PASSWORD)
    tokens = [begin_session(database, account) for _ in range(2)]
    for old, new, says in (("not this one", "b" * 12, "wrong"), (PASSWORD, "short", "10 to 200")):
        with pytest.raises(UserError, match=says):
            change_password(database, account, old, new)
    assert all(find_session(database, token) for token in tokens)
    change_password(database, account, PASSWORD, "another password")
    assert not any(find_session(database, token) for token in tokens)
    assert log_in(database, "Ann", "another password").id == account.id
    assert "wrong" in guess(database)


def test_a_closed_account_is_out_at_once(database: Database) -> None:
    joined(database)
    account, owner = log_in(database, "Ann", PASSWORD), add_rater(database, "Olga", Role.OWNER)
    token = begin_session(database, account)
    close_account(database, owner, account.id)
    assert find_session(database, token) is None
    with pytest.raises(UserError, match="wrong"):
        log_in(database, "Ann", PASSWORD)
    # not by a session that a request began at the same moment either
    assert find_session(database, begin_session(database, account)) is None


def test_the_audit_log_tells_who_did_what_and_no_secret(database: Database) -> None:
    joined(database)
    guess(database)
    guess(database, "my password by mistake")
    log_in(database, "Ann", PASSWORD, HOME)
    lines = audit_log(database)
    assert [(one.account, one.action) for one in lines] == [
        ("", "invite"), ("Ann", "accept invitation"), ("Ann", "wrong password"), ("", "wrong password"),
        ("Ann", "log in"),
    ]  # fmt: skip
    text = str(lines)
    assert STRANGER in text
    assert not any(secret in text for secret in (PASSWORD, "a wrong guess", "by mistake", "argon2"))


def test_a_guessed_invitation_costs_no_hash(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_HASHER", None)
    with pytest.raises(UserError, match="not valid"):
        accept(database, "guessed", "Eve", PASSWORD)
