"""A database with two lockers, and an API that is called without a network."""

import io
import json
import os
import tempfile
import unittest
from datetime import datetime, timezone

from wayside import db
from wayside.app import App

KEY = b"test key"
TOKEN = "test-token"
START = datetime(2024, 1, 10, 9, 0, tzinfo=timezone.utc)


class DatabaseTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.database = os.path.join(folder.name, "wayside.db")
        self.conn = db.connect(self.database)
        self.addCleanup(self.conn.close)
        db.migrate(self.conn)
        self.conn.executemany(
            "INSERT INTO lockers (id, name, street, note, opens, closes) VALUES (?, ?, ?, ?, ?, ?)",
            [
                ("quay", "Old Quay", "2 Quay Street", "behind the bakery", "06:00", "22:00"),
                ("mill", "Mill Lane", "17 Mill Lane", "", None, None),
            ],
        )

    def code_sent(self) -> str:
        row = self.conn.execute(
            "SELECT fields FROM outbox WHERE template = 'stored' ORDER BY id DESC LIMIT 1"
        ).fetchone()
        return json.loads(row["fields"])["code"]


class ApiTest(DatabaseTest):
    def setUp(self) -> None:
        super().setUp()
        self.time = START
        self.app = App(self.database, KEY, TOKEN, now=lambda: self.time)

    def call(self, method: str, path: str, body: object = None, token: str = TOKEN, query: str = ""):
        raw = b"" if body is None else json.dumps(body).encode()
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_LENGTH": str(len(raw)),
            "HTTP_AUTHORIZATION": f"Bearer {token}",
            "wsgi.input": io.BytesIO(raw),
        }
        seen = []
        chunks = self.app(environ, lambda status, headers: seen.append(status))
        return int(seen[0].split()[0]), json.loads(b"".join(chunks))

    def announce(self, parcel_id: str = "WS-1001", locker: str = "quay", size: str = "small") -> None:
        body = {"id": parcel_id, "locker": locker, "recipient": "ada@example.org", "size": size}
        self.assertEqual(self.call("POST", "/parcels", body)[0], 201)

    def scan(self, parcel_id: str, status: str, **fields: str) -> int:
        return self.call("POST", f"/parcels/{parcel_id}/scans", {"status": status, **fields})[0]

    def store(self, parcel_id: str = "WS-1001", **kwargs: str) -> None:
        self.announce(parcel_id, **kwargs)
        self.assertEqual(self.scan(parcel_id, "in_transit"), 200)
        self.assertEqual(self.scan(parcel_id, "stored"), 200)
