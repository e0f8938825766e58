"""Accounts, invitations, sessions, and logging in by name and password. Tokens and passwords are kept as hashes.

Wrong tries are counted by name and address, so that no stranger locks a name.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
import threading
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


def open_invitations(connection: sql.Connection, now: float) -> Sequence[Any]:
    """Those that somebody may still accept, the first to expire first; the hash in `token` opens nothing."""
    still_open = (invitations.c.used_by.is_(None), invitations.c.expires >= now)
    return connection.execute(sql.select(invitations).where(*still_open).order_by(invitations.c.expires)).all()


def accept(database: Database, token: str, name: str, password: str) -> Account:
    """Make the account that an invitation is for, once. Raises UserError."""
    name, mine = check_name(name), invitations.c.token == digest(token)
    check_invitation(database, token)  # a stranger's guess costs no hash
    kept = hashed(password)
    with database.writing() as connection:
        now = database.clock()
        row = _open_invitation(connection, token, now)
        account = new_account(connection, now, name, Role(row.role), languages=row.languages, kept=kept)
        connection.execute(invitations.update().where(mine).values(used_by=account.id))
        database.log(connection, account.id, "accept invitation")
    return account


def check_invitation(database: Database, token: str) -> None:
    """Raises UserError where nobody can accept the invitation (any more)."""
    with database.reading() as connection:
        _open_invitation(connection, token, database.clock(), lock=False)


def _open_invitation(connection: sql.Connection, token: str, now: float, *, lock: bool = True) -> Any:
    query = sql.select(invitations).where(invitations.c.token == digest(token))
    row = connection.execute(query.with_for_update() if lock else query).first()
    if row is None or row.used_by is not None or row.expires < now:
        raise UserError(
            "this invitation is not valid, was used or withdrawn, or has expired", remedy="ask for a new one"
        )
    return row


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


# --- passwords: few are hashed at a time, as each takes 64 MiB and a tenth of a second ------------------------------

SHORTEST, LONGEST = 10, 200  # characters
_AT_ONCE = threading.BoundedSemaphore(2)
_HASHER = PasswordHasher()
_NOBODY = _HASHER.hash(secrets.token_hex())  # checked for unknown names, so that they take as long as known ones


def hashed(password: str) -> str:
    """What is kept of a password. Raises UserError for one of a wrong length."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise UserError(f"a password has {SHORTEST} to {LONGEST} characters")
    with _AT_ONCE:
        return _HASHER.hash(_plain(password))


def matches(kept: str | None, password: str) -> bool:
    """Whether a password is the one that is kept; it takes as long where none is."""
    with _AT_ONCE:
        try:
            return _HASHER.verify(kept or _NOBODY, _plain(password[: LONGEST + 1])) and bool(kept)
        except (VerificationError, InvalidHashError):
            return False


def _plain(password: str) -> bytes:
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


# --- logging in -----------------------------------------------------------------------------------------------------

COUNTED = 3600.0  # seconds in which a wrong try counts
FREE, FREE_OF_ADDRESS = 5, 30  # wrong tries of one name, and of all names, from one address until they must wait
LONGEST_WAIT = 900.0


def log_in(database: Database, name: str, password: str, address: str = "") -> Account:
    """The account of a name and its password. Raises UserError, the same for a wrong name and a wrong password."""
    row = _checked(database, name, password, address)
    with database.writing() as connection:
        database.log(connection, row.id, "log in", address=address)
    return account_of(row)


def change_password(database: Database, account: Account, old: str, new: str, address: str = "") -> None:
    """Give an account another password, and end all of its sessions. Raises UserError."""
    kept = hashed(new)
    _checked(database, account.name, old, address)
    with database.writing() as connection:
        connection.execute(accounts.update().where(accounts.c.id == account.id).values(password=kept))
        connection.execute(sessions.delete().where(sessions.c.account == account.id))
        database.log(connection, account.id, "change password", address=address)


def _checked(database: Database, name: str, password: str, address: str) -> Any:
    """The row of an account whose password this is. Raises UserError."""
    tried = {"name": digest(name_key(name)), "address": digest(_network(address))}
    _count(database, tried)  # before the password is checked, so that racing tries all count
    with database.reading() as connection:
        row = connection.execute(sql.select(accounts).where(accounts.c.key == name_key(name))).first()
    known = row is not None and row.active
    right = matches(row.password if row is not None and known else None, password)
    with database.writing() as connection:
        if right:
            of_both = (failed_logins.c.name == tried["name"]) & (failed_logins.c.address == tried["address"])
            connection.execute(failed_logins.delete().where(of_both))
            return row
        database.log(connection, None if row is None else row.id, "wrong password", address=address)
    raise UserError("the name or the password is wrong")


def _count(database: Database, tried: dict[str, str]) -> None:
    """Count a try. Raises UserError where it comes too soon after others."""
    now, at = database.clock(), failed_logins.c.at
    query = sql.select(sql.func.count(), sql.func.coalesce(sql.func.max(at), now))
    query = query.where(failed_logins.c.address == tried["address"])
    with database.writing() as connection:
        connection.execute(failed_logins.delete().where((at < now - COUNTED) | (at > now + 1)))  # clocks jump back too
        of_address = connection.execute(query).one()
        of_name = connection.execute(query.where(failed_logins.c.name == tried["name"])).one()
        wait = max(_wait(now, of_address, FREE_OF_ADDRESS), _wait(now, of_name, FREE))
        if wait <= 0:
            connection.execute(failed_logins.insert().values(**tried, at=now))
    if wait > 0:
        raise UserError("too many tries", remedy=f"wait {wait:.0f} seconds")


def _wait(now: float, found: Any, free: int) -> float:
    """Seconds until the next try: one after `free` wrong ones, then twice as many each time."""
    tries, latest = found
    return 0.0 if tries < free else latest + min(2.0 ** min(tries - free, 20), LONGEST_WAIT) - now


def _network(address: str) -> str:
    """What one stranger holds: an address, or the /64 network of IPv6."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address) or found.ipv4_mapped is not None:
        return str(getattr(found, "ipv4_mapped", None) or found)
    return str(ipaddress.ip_network((found, 64), strict=False))
