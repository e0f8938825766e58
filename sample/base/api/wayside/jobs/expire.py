"""Send back what nobody collected."""

import logging
import sqlite3
from datetime import datetime, timedelta

from wayside import notify, parcels
from wayside.models import Status

log = logging.getLogger(__name__)

KEEP_DAYS = {"small": 7, "medium": 7, "large": 4}  # large compartments are scarce


def run(conn: sqlite3.Connection, now: datetime) -> int:
    """Expire the parcels that were kept long enough; returns how many."""
    expired = 0
    for parcel in parcels.in_status(conn, Status.STORED):
        if now - parcel.stored_at < timedelta(days=KEEP_DAYS[parcel.size]):
            continue
        try:
            parcels.advance(conn, parcel.id, Status.EXPIRED, now)
        except parcels.WrongStatus:  # collected since we looked
            continue
        notify.enqueue(conn, parcel.recipient, "expired", parcel=parcel.id)
        expired += 1
    return expired
