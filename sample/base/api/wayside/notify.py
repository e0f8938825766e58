"""Messages to recipients. They are written to an outbox within the transaction that causes them, and sent later."""

import json
import logging
import sqlite3
import urllib.request
from collections.abc import Callable

from wayside import clock

log = logging.getLogger(__name__)

TEMPLATES = {
    "stored": "Your parcel {parcel} waits for you at {locker}. Your pickup code is {code}.",
    "expired": "Your parcel {parcel} was not collected in time and goes back to the sender.",
}
Send = Callable[[str, str], None]


def enqueue(conn: sqlite3.Connection, recipient: str, template: str, **fields: str) -> None:
    if template not in TEMPLATES:
        raise ValueError(f"no template is called {template!r}")
    conn.execute(
        "INSERT INTO outbox (recipient, template, fields, created_at) VALUES (?, ?, ?, ?)",
        (recipient, template, json.dumps(fields), clock.to_text(clock.utcnow())),
    )


def deliver(conn: sqlite3.Connection, send: Send) -> int:
    """Send what waits in the outbox, oldest first; returns how many messages were sent.

    A message is marked once it was handed over, so that a crash in between sends it twice rather than never.
    """
    rows = conn.execute("SELECT * FROM outbox WHERE sent_at IS NULL ORDER BY id").fetchall()
    for row in rows:
        text = TEMPLATES[row["template"]].format(**json.loads(row["fields"]))
        send(row["recipient"], text)
        conn.execute("UPDATE outbox SET sent_at = ? WHERE id = ?", (clock.to_text(clock.utcnow()), row["id"]))
    return len(rows)


def webhook(url: str, timeout: float = 5.0) -> Send:
    """A `send` that posts to the message gateway."""

    def send(recipient: str, text: str) -> None:
        body = json.dumps({"to": recipient, "text": text}).encode()
        request = urllib.request.Request(url, data=body, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=timeout):
            log.info("message handed over")

    return send
