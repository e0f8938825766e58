"""Run every job once an hour. One process runs this, beside the API."""

import logging
import os
import time

from wayside import clock, db, notify
from wayside.jobs import expire

log = logging.getLogger(__name__)

JOBS = (
    ("expire", expire.run),
)


def run_once(database: str, gateway: str) -> None:
    conn = db.connect(database)
    try:
        for name, job in JOBS:
            try:
                log.info("%s: %d", name, job(conn, clock.utcnow()))
            except Exception:
                log.exception("job %s failed", name)
        log.info("sent: %d", notify.deliver(conn, notify.webhook(gateway)))
    finally:
        conn.close()


INTERVAL = 3600  # seconds


def main() -> None:
    logging.basicConfig(level=logging.INFO)
    database, gateway = os.environ["WAYSIDE_DATABASE"], os.environ["WAYSIDE_GATEWAY"]
    while True:
        started = time.monotonic()
        try:
            run_once(database, gateway)
        except Exception:
            log.exception("this round failed")
        time.sleep(max(0.0, INTERVAL - (time.monotonic() - started)))
