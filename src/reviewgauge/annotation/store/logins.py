"""Logging in by name and password. Wrong tries are counted by name and address, so that no stranger locks a name."""

from __future__ import annotations

import ipaddress
from typing import Any

import sqlalchemy as sql

from reviewgauge.annotation.store.accounts import Account, account_of, digest, name_key
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.passwords import hashed, matches
from reviewgauge.annotation.store.tables import accounts, failed_logins, sessions
from reviewgauge.core.errors import UserError

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
