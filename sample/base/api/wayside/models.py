"""What the service knows about: lockers, parcels and what happened to them."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from wayside import clock


class Status(str, Enum):
    ANNOUNCED = "announced"
    IN_TRANSIT = "in_transit"
    STORED = "stored"
    COLLECTED = "collected"
    EXPIRED = "expired"
    RETURNED = "returned"


TRANSITIONS = {
    Status.ANNOUNCED: {Status.IN_TRANSIT},
    Status.IN_TRANSIT: {Status.STORED, Status.RETURNED},
    Status.STORED: {Status.COLLECTED, Status.EXPIRED},
    Status.EXPIRED: {Status.RETURNED},
    Status.COLLECTED: set(),
    Status.RETURNED: set(),
}
SIZES = ("small", "medium", "large")


@dataclass(frozen=True)
class Locker:
    id: str
    name: str
    street: str
    note: str
    opens: str | None
    closes: str | None

    @classmethod
    def from_row(cls, row: sqlite3.Row) -> "Locker":
        return cls(row["id"], row["name"], row["street"], row["note"], row["opens"], row["closes"])


@dataclass(frozen=True)
class Parcel:
    id: str
    locker: str
    recipient: str
    size: str
    status: Status
    stored_at: datetime | None
    code_digest: str | None

    @classmethod
    def from_row(cls, row: sqlite3.Row) -> "Parcel":
        return cls(
            id=row["id"],
            locker=row["locker"],
            recipient=row["recipient"],
            size=row["size"],
            status=Status(row["status"]),
            stored_at=clock.from_text(row["stored_at"]) if row["stored_at"] else None,
            code_digest=row["code_digest"],
        )


@dataclass(frozen=True)
class Event:
    status: Status
    at: datetime
