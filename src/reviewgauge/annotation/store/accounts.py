"""Accounts, invitations and sessions. Tokens are kept as hashes."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import sqlalchemy as sql
from pydantic import Field

from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.passwords import hashed
from reviewgauge.annotation.store.tables import accounts, invitations, sessions
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError

SESSION = 14 * 86_400.0  # seconds
INVITATION = 7 * 86_400.0
CONSENSUS = "consensus"  # the rater of what raters agreed on, so nobody's name


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

    def reads(self, language: str) -> bool:
        """Whether code of a language is for them."""
        return not self.languages or language.casefold() in ("", *map(str.casefold, self.languages))


class Invitation(Record):
    """What nobody has accepted yet. `id` is a hash of its token, which opens nothing."""

    id: str
    role: Role
    languages: tuple[str, ...] = ()
    expires: float


class Session(Record):
    """A login: whose it is, and the token that their forms carry."""

    account: Account
    csrf: Annotated[str, Field(min_length=20)]


def new_account(
    connection: sql.Connection, now: float, name: str, role: Role, *, languages: Sequence[str] = (), kept: str = ""
) -> Account:
    """Make an account. `kept` is the hash of its password: without one nobody can log in. Raises UserError."""
    name, key = check_name(name), name_key(name)
    if connection.execute(sql.select(accounts.c.id).where(accounts.c.key == key)).first():
        raise UserError(f"the name {name!r} is taken")
    row = {
        "name": name,
        "key": key,
        "password": kept or None,
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
    if name_key(name) == CONSENSUS:
        raise UserError(f"the name {CONSENSUS!r} stands for what raters agreed on", remedy="choose another")
    return name


def find_account(connection: sql.Connection, name: str) -> Account | None:
    """The account of a name, whatever its case."""
    row = connection.execute(sql.select(accounts).where(accounts.c.key == name_key(name))).first()
    return None if row is None else account_of(row)


def local_account(connection: sql.Connection, now: float, name: str) -> Account:
    """The account of who runs the service: an owner's, unless it is a rater's who has a password.

    An import makes accounts without one, to which nobody else can log in.
    """
    found = find_account(connection, name) or new_account(connection, now, name, Role.OWNER)
    mine = accounts.update().where(accounts.c.id == found.id, accounts.c.password.is_(None))
    theirs = connection.execute(mine.values(role=Role.OWNER.value)).rowcount == 0
    return found if theirs else found.model_copy(update={"role": Role.OWNER})


def account_names(connection: sql.Connection) -> dict[int, str]:
    """The name of every account."""
    return {row.id: row.name for row in connection.execute(sql.select(accounts.c.id, accounts.c.name))}


def all_accounts(connection: sql.Connection) -> list[Account]:
    """Every account in the order of their making."""
    return [account_of(row) for row in connection.execute(sql.select(accounts).order_by(accounts.c.id))]


def can_log_in(connection: sql.Connection, role: Role) -> bool:
    """Whether anybody of a role has a password."""
    found = sql.select(accounts.c.id).where(accounts.c.role == role.value, accounts.c.active, accounts.c.password != "")
    return connection.execute(found).first() is not None


def begin_session(database: Database, account: Account) -> str:
    """A new session; returns its token, which is kept as a hash only."""
    token, now = secrets.token_urlsafe(32), database.clock()
    row = {"token": digest(token), "account": account.id, "csrf": secrets.token_urlsafe(32), "expires": now + SESSION}
    with database.writing() as connection:
        long_over = sessions.c.expires < now - SESSION  # a clock that jumps ahead and back ends nobody's session
        connection.execute(sessions.delete().where(long_over))
        connection.execute(sessions.insert().values(row))
    return token


def find_session(database: Database, token: str) -> Session | None:
    """The session of a token, unless it expired or its account was closed."""
    query = (
        sql.select(accounts, sessions.c.csrf)
        .join(sessions, sessions.c.account == accounts.c.id)
        .where(sessions.c.token == digest(token), sessions.c.expires > database.clock(), accounts.c.active)
    )
    with database.reading() as connection:
        row = connection.execute(query).first()
    return None if row is None else Session(account=account_of(row), csrf=row.csrf)


def end_session(database: Database, token: str) -> None:
    """Log out."""
    with database.writing() as connection:
        connection.execute(sessions.delete().where(sessions.c.token == digest(token)))


def invite(database: Database, role: Role, languages: Sequence[str] = (), *, by: int | None = None) -> str:
    """An invitation for one person; returns its token."""
    token = secrets.token_urlsafe(24)
    row = {"role": role.value, "languages": sorted(set(languages)), "expires": database.clock() + INVITATION}
    with database.writing() as connection:
        connection.execute(invitations.insert().values(token=digest(token), **row))
        database.log(connection, by, "invite", role=role.value)
    return token


def open_invitations(connection: sql.Connection, now: float) -> list[Invitation]:
    """Those that somebody may still accept, the first to expire first."""
    still_open = (invitations.c.used_by.is_(None), invitations.c.expires >= now)
    query = sql.select(invitations).where(*still_open).order_by(invitations.c.expires)
    return [
        Invitation(id=row.token, role=Role(row.role), languages=tuple(row.languages), expires=row.expires)
        for row in connection.execute(query)
    ]


def accept(database: Database, token: str, name: str, password: str) -> Account:
    """Make the account that an invitation is for, once. Raises UserError."""
    name, mine = check_name(name), invitations.c.token == digest(token)
    check_invitation(database, token)  # a stranger's guess costs no hash
    kept = hashed(password)
    with database.writing() as connection:
        now = database.clock()
        row = _check_open(connection.execute(sql.select(invitations).where(mine).with_for_update()).first(), now)
        account = new_account(connection, now, name, Role(row.role), languages=row.languages, kept=kept)
        connection.execute(invitations.update().where(mine).values(used_by=account.id))
        database.log(connection, account.id, "accept invitation")
    return account


def check_invitation(database: Database, token: str) -> None:
    """Raises UserError where nobody can accept the invitation (any more)."""
    with database.reading() as connection:
        query = sql.select(invitations).where(invitations.c.token == digest(token))
        _check_open(connection.execute(query).first(), database.clock())


def _check_open(invitation: Any, now: float) -> Any:
    if invitation is None or invitation.used_by is not None or invitation.expires < now:
        raise UserError(
            "this invitation is not valid, was used or withdrawn, or has expired", remedy="ask for a new one"
        )
    return invitation


def account_of(row: Any) -> Account:
    """The account in a row."""
    return Account(
        id=row.id, name=row.name, role=Role(row.role), languages=tuple(row.languages), active=bool(row.active)
    )


def name_key(name: str) -> str:
    """What tells names apart: without case, and alike for characters that look alike."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())[:200]


def digest(text: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
