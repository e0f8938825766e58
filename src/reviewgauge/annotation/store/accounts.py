"""Accounts, invitations, passwords and sessions. Tokens are kept as hashes, and passwords by Argon2."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import sqlalchemy as sql
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from pydantic import Field

from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.tables import accounts, failed_logins, invitations, sessions
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError

SESSION = 14 * 86_400.0  # seconds
INVITATION = 7 * 86_400.0
TRIES, WITHIN = 8, 900.0  # failed logins of one name, and the seconds in which they count
SHORTEST, LONGEST = 10, 200  # characters of a password
CONSENSUS = "consensus"  # the rater of what raters agreed on, so nobody's name
_HASHER = PasswordHasher()
_NOBODY = _HASHER.hash(secrets.token_hex())  # checked for unknown names, so that they take as long as known ones


class Role(StrEnum):
    """What an account may do: judge, adjudicate, or both and see the whole project."""

    RATER = "rater"
    EXPERT = "expert"
    OWNER = "owner"


class Account(Record):
    """Somebody who works here. Without `languages` they judge code of all."""

    id: int
    name: str
    role: Role
    languages: tuple[str, ...] = ()
    active: bool = True


class Session(Record):
    """A login: whose it is, and the token that their forms carry."""

    account: Account
    csrf: Annotated[str, Field(min_length=20)]


def new_account(
    connection: sql.Connection, now: float, name: str, role: Role, *, languages: Sequence[str] = (), password: str = ""
) -> Account:
    """Make an account; without a password nobody can log in to it. Raises UserError."""
    name, key = check_name(name), _key(name)
    if connection.execute(sql.select(accounts.c.id).where(accounts.c.key == key)).first():
        raise UserError(f"the name {name!r} is taken")
    row = {
        "name": name,
        "key": key,
        "password": _hashed(password) if password else None,
        "role": role.value,
        "languages": sorted(set(languages)),
        "active": True,
        "created": now,
    }
    found = connection.execute(accounts.insert().values(row)).inserted_primary_key
    assert found is not None
    return Account(id=found[0], name=name, role=role, languages=tuple(row["languages"]))  # type: ignore[arg-type]


def check_name(name: str) -> str:
    """A name as it is kept. Raises UserError."""
    name = " ".join(unicodedata.normalize("NFC", name).split())
    if not 1 <= len(name) <= 60 or not name.isprintable():
        raise UserError("a name has 1 to 60 printable characters")
    if _key(name) == CONSENSUS:
        raise UserError(f"the name {CONSENSUS!r} stands for what raters agreed on", remedy="choose another")
    return name


def find_account(connection: sql.Connection, name: str) -> Account | None:
    """The account of a name, whatever its case."""
    row = connection.execute(sql.select(accounts).where(accounts.c.key == _key(name))).first()
    return None if row is None else _account(row)


def account_names(connection: sql.Connection) -> dict[int, str]:
    """The name of every account."""
    return {row.id: row.name for row in connection.execute(sql.select(accounts.c.id, accounts.c.name))}


def all_accounts(connection: sql.Connection) -> list[Account]:
    """Every account in the order of their making."""
    return [_account(row) for row in connection.execute(sql.select(accounts).order_by(accounts.c.id))]


def can_log_in(connection: sql.Connection, role: Role) -> bool:
    """Whether anybody of a role has a password."""
    found = sql.select(accounts.c.id).where(accounts.c.role == role.value, accounts.c.active, accounts.c.password != "")
    return connection.execute(found).first() is not None


def log_in(database: Database, name: str, password: str) -> Account:
    """The account of a name and its password. Raises UserError, the same for a wrong name and a wrong password."""
    now, hashed_name = database.clock(), _digest(_key(name))
    with database.writing() as connection:  # counted before the password is checked, so that racing tries all count
        connection.execute(failed_logins.delete().where(failed_logins.c.at < now - WITHIN))
        of_name = failed_logins.c.name == hashed_name
        tries = connection.execute(sql.select(sql.func.count()).where(of_name)).scalar_one()
        connection.execute(failed_logins.insert().values(name=hashed_name, at=now))
        row = connection.execute(sql.select(accounts).where(accounts.c.key == _key(name))).first()
    if tries >= TRIES:
        raise UserError("too many tries for this name", remedy="wait a quarter of an hour")
    known = row is not None and row.active and row.password
    if not _verified(row.password if row is not None and known else _NOBODY, password) or row is None or not known:
        raise UserError("the name or the password is wrong")
    with database.writing() as connection:
        connection.execute(failed_logins.delete().where(failed_logins.c.name == hashed_name))
        database.log(connection, row.id, "log in")
    return _account(row)


def begin_session(database: Database, account: Account) -> str:
    """A new session; returns its token, which is kept as a hash only."""
    token, now = secrets.token_urlsafe(32), database.clock()
    row = {"token": _digest(token), "account": account.id, "csrf": secrets.token_urlsafe(32), "expires": now + SESSION}
    with database.writing() as connection:
        connection.execute(sessions.delete().where(sessions.c.expires < now))
        connection.execute(sessions.insert().values(row))
    return token


def find_session(database: Database, token: str) -> Session | None:
    """The session of a token, unless it expired or its account was closed."""
    query = (
        sql.select(accounts, sessions.c.csrf)
        .join(sessions, sessions.c.account == accounts.c.id)
        .where(sessions.c.token == _digest(token), sessions.c.expires > database.clock(), accounts.c.active)
    )
    with database.reading() as connection:
        row = connection.execute(query).first()
    return None if row is None else Session(account=_account(row), csrf=row.csrf)


def end_session(database: Database, token: str) -> None:
    """Log out."""
    with database.writing() as connection:
        connection.execute(sessions.delete().where(sessions.c.token == _digest(token)))


def invite(database: Database, role: Role, languages: Sequence[str] = (), *, by: int | None = None) -> str:
    """An invitation for one person; returns its token."""
    token = secrets.token_urlsafe(24)
    row = {"role": role.value, "languages": sorted(set(languages)), "expires": database.clock() + INVITATION}
    with database.writing() as connection:
        connection.execute(invitations.insert().values(token=_digest(token), **row))
        database.log(connection, by, "invite", role=role.value)
    return token


def accept(database: Database, token: str, name: str, password: str) -> Account:
    """Make the account that an invitation is for, once. Raises UserError."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise UserError(f"a password has {SHORTEST} to {LONGEST} characters")
    mine, now = invitations.c.token == _digest(token), database.clock()
    with database.writing() as connection:
        row = connection.execute(sql.select(invitations).where(mine).with_for_update()).first()
        if row is None or row.used_by is not None or row.expires < now:
            raise UserError("this invitation is not valid, was used, or has expired", remedy="ask for a new one")
        account = new_account(connection, now, name, Role(row.role), languages=row.languages, password=password)
        connection.execute(invitations.update().where(mine).values(used_by=account.id))
        database.log(connection, account.id, "accept invitation")
    return account


def _account(row: Any) -> Account:
    return Account(
        id=row.id, name=row.name, role=Role(row.role), languages=tuple(row.languages), active=bool(row.active)
    )


def _key(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())[:200]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _hashed(password: str) -> str:
    return _HASHER.hash(unicodedata.normalize("NFKC", password))


def _verified(hashed: str, password: str) -> bool:
    try:
        return _HASHER.verify(hashed, unicodedata.normalize("NFKC", password[:LONGEST]))
    except (VerificationError, InvalidHashError):
        return False
