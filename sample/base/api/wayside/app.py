"""The HTTP API, as a WSGI application."""

import hmac
import json
import logging
import re
import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime
from http import HTTPStatus
from typing import Any

from wayside import clock, db, parcels, pricing
from wayside.models import SIZES, Event, Parcel, Status

log = logging.getLogger(__name__)

LONGEST_BODY = 64 * 1024
Json = dict[str, Any]


class BadRequest(Exception):
    """The request does not say what it must."""


class App:
    """`key` signs pickup codes, `token` is what agents and terminals show."""

    def __init__(self, database: str, key: bytes, token: str, now: Callable[[], datetime] = clock.utcnow) -> None:
        self.database = database
        self.key = key
        self.token = token
        self.now = now

    def __call__(self, environ: Json, start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            status, body = self.answer(environ)
        except BadRequest as error:
            status, body = HTTPStatus.BAD_REQUEST, {"error": str(error)}
        except parcels.NotFound as error:
            status, body = HTTPStatus.NOT_FOUND, {"error": str(error)}
        except (parcels.WrongStatus, parcels.WrongCode) as error:
            status, body = HTTPStatus.CONFLICT, {"error": str(error)}
        except Exception:
            log.exception("%s %s failed", environ["REQUEST_METHOD"], environ["PATH_INFO"])
            status, body = HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "internal error"}
        payload = json.dumps(body).encode()
        start_response(
            f"{status.value} {status.phrase}",
            [("Content-Type", "application/json"), ("Content-Length", str(len(payload)))],
        )
        return [payload]

    def answer(self, environ: Json) -> tuple[HTTPStatus, Json]:
        for method, pattern, handler, for_agents in ROUTES:
            match = pattern.fullmatch(environ["PATH_INFO"])
            if match is None or method != environ["REQUEST_METHOD"]:
                continue
            if for_agents and not self.authorised(environ):
                return HTTPStatus.UNAUTHORIZED, {"error": "a valid token is needed"}
            conn = db.connect(self.database)
            try:
                return handler(self, conn, environ, **match.groupdict())
            finally:
                conn.close()
        return HTTPStatus.NOT_FOUND, {"error": "no such resource"}

    def authorised(self, environ: Json) -> bool:
        given = environ.get("HTTP_AUTHORIZATION", "")
        return hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode())

    def show_parcel(self, conn: sqlite3.Connection, environ: Json, parcel_id: str) -> tuple[HTTPStatus, Json]:
        parcel = parcels.get(conn, parcel_id)
        locker = parcels.get_locker(conn, parcel.locker)
        body = {
            **self.parcel_json(parcel, parcels.history(conn, parcel_id)),
            "locker": {
                "name": locker.name,
                "street": locker.street,
                "note": locker.note,
                "opens": locker.opens,
                "closes": locker.closes,
            },
        }
        return HTTPStatus.OK, body

    def announce(self, conn: sqlite3.Connection, environ: Json) -> tuple[HTTPStatus, Json]:
        body = read_json(environ)
        size = text_field(body, "size")
        if size not in SIZES:
            raise BadRequest(f"size must be one of {', '.join(SIZES)}")
        fields = [text_field(body, name) for name in ("id", "locker", "recipient")]
        try:
            parcels.announce(conn, *fields, size, self.now())
        except sqlite3.IntegrityError:
            raise BadRequest(f"parcel {fields[0]} was announced before") from None
        return HTTPStatus.CREATED, {"id": fields[0]}

    def scan(self, conn: sqlite3.Connection, environ: Json, parcel_id: str) -> tuple[HTTPStatus, Json]:
        body = read_json(environ)
        try:
            status = Status(text_field(body, "status"))
            at = clock.from_text(text_field(body, "at")) if "at" in body else self.now()
        except ValueError as error:
            raise BadRequest(str(error)) from None
        if status is Status.STORED:
            parcels.store(conn, parcel_id, at, self.key)
        elif status in (Status.IN_TRANSIT, Status.RETURNED):
            parcels.advance(conn, parcel_id, status, at)
        else:
            raise BadRequest(f"a scan cannot make a parcel {status.value}")
        return HTTPStatus.OK, {"id": parcel_id, "status": status.value}

    def collect(self, conn: sqlite3.Connection, environ: Json, parcel_id: str) -> tuple[HTTPStatus, Json]:
        code = text_field(read_json(environ), "code")
        parcels.collect(conn, parcel_id, code, self.now(), self.key)
        return HTTPStatus.OK, {"id": parcel_id, "status": Status.COLLECTED.value}

    def parcel_json(self, parcel: Parcel, history: list[Event]) -> Json:
        waiting = parcel.status is Status.STORED and parcel.stored_at is not None
        return {
            "id": parcel.id,
            "size": parcel.size,
            "status": parcel.status.value,
            "fee": pricing.storage_fee(parcel.stored_at, self.now()) if waiting else 0,
            "history": [{"status": event.status.value, "at": clock.to_text(event.at)} for event in history],
        }


def read_json(environ: Json) -> Json:
    """The request's body, which must be a JSON object of at most LONGEST_BODY bytes."""
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if not 0 <= length <= LONGEST_BODY:
            raise BadRequest("the body is too long")
        body = json.loads(environ["wsgi.input"].read(length))
    except ValueError:
        raise BadRequest("the body is not JSON") from None
    if not isinstance(body, dict):
        raise BadRequest("the body is not a JSON object")
    return body


def text_field(body: Json, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise BadRequest(f"{name} is missing")
    return value


PARCEL = r"/parcels/(?P<parcel_id>[A-Za-z0-9-]{4,40})"
ROUTES = (
    ("GET", re.compile(PARCEL), App.show_parcel, False),
    ("POST", re.compile(r"/parcels"), App.announce, True),
    ("POST", re.compile(PARCEL + r"/scans"), App.scan, True),
    ("POST", re.compile(PARCEL + r"/collect"), App.collect, True),
)
