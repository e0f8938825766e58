"""Parcels: finding them and moving them on."""

import sqlite3
from datetime import datetime

from wayside import clock, codes, db, notify
from wayside.models import TRANSITIONS, Event, Locker, Parcel, Status


class NotFound(Exception):
    """There is no such parcel or locker."""


class WrongStatus(Exception):
    """The parcel's status does not allow this."""


class WrongCode(Exception):
    """The pickup code is not the one that was sent."""


def announce(conn: sqlite3.Connection, parcel_id: str, locker: str, recipient: str, size: str, at: datetime) -> None:
    get_locker(conn, locker)
    with db.transaction(conn):
        conn.execute(
            "INSERT INTO parcels (id, locker, recipient, size, status) VALUES (?, ?, ?, ?, ?)",
            (parcel_id, locker, recipient, size, Status.ANNOUNCED.value),
        )
        _record(conn, parcel_id, Status.ANNOUNCED, at)


def get(conn: sqlite3.Connection, parcel_id: str) -> Parcel:
    row = conn.execute("SELECT * FROM parcels WHERE id = ?", (parcel_id,)).fetchone()
    if row is None:
        raise NotFound(f"no parcel {parcel_id}")
    return Parcel.from_row(row)


def get_locker(conn: sqlite3.Connection, locker_id: str) -> Locker:
    row = conn.execute("SELECT * FROM lockers WHERE id = ?", (locker_id,)).fetchone()
    if row is None:
        raise NotFound(f"no locker {locker_id}")
    return Locker.from_row(row)


def in_status(conn: sqlite3.Connection, status: Status) -> list[Parcel]:
    rows = conn.execute("SELECT * FROM parcels WHERE status = ? ORDER BY id", (status.value,))
    return [Parcel.from_row(row) for row in rows]


def history(conn: sqlite3.Connection, parcel_id: str) -> list[Event]:
    rows = conn.execute("SELECT status, at FROM events WHERE parcel = ? ORDER BY at, id", (parcel_id,))
    return [Event(Status(row["status"]), clock.from_text(row["at"])) for row in rows]


def advance(conn: sqlite3.Connection, parcel_id: str, status: Status, at: datetime) -> None:
    """Move a parcel on. `store` and `collect` are for the two steps that involve a pickup code."""
    with db.transaction(conn):
        _advance(conn, parcel_id, status, at)


def store(conn: sqlite3.Connection, parcel_id: str, at: datetime, key: bytes) -> None:
    """The parcel is in its locker: make a pickup code and tell the recipient."""
    code = codes.new_code()
    with db.transaction(conn):
        parcel = _advance(conn, parcel_id, Status.STORED, at)
        conn.execute(
            "UPDATE parcels SET stored_at = ?, code_digest = ? WHERE id = ?",
            (clock.to_text(at), codes.digest(parcel_id, code, key), parcel_id),
        )
        locker = get_locker(conn, parcel.locker)
        notify.enqueue(conn, parcel.recipient, "stored", parcel=parcel_id, locker=locker.name, code=code)


def collect(conn: sqlite3.Connection, parcel_id: str, code: str, at: datetime, key: bytes) -> None:
    with db.transaction(conn):
        parcel = get(conn, parcel_id)
        if parcel.status is Status.STORED and not codes.matches(parcel.code_digest, parcel_id, code, key):
            raise WrongCode("wrong pickup code")
        _advance(conn, parcel_id, Status.COLLECTED, at)


def _advance(conn: sqlite3.Connection, parcel_id: str, status: Status, at: datetime) -> Parcel:
    """Within a transaction: check the step, take it and record it. Returns the parcel as it was before."""
    parcel = get(conn, parcel_id)
    if status not in TRANSITIONS[parcel.status]:
        raise WrongStatus(f"parcel {parcel_id} is {parcel.status.value} and cannot become {status.value}")
    conn.execute("UPDATE parcels SET status = ? WHERE id = ?", (status.value, parcel_id))
    _record(conn, parcel_id, status, at)
    return parcel


def _record(conn: sqlite3.Connection, parcel_id: str, status: Status, at: datetime) -> None:
    conn.execute(
        "INSERT INTO events (parcel, status, at) VALUES (?, ?, ?)", (parcel_id, status.value, clock.to_text(at))
    )
