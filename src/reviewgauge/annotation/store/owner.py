"""What an owner does beside judging: rounds that end early, remarks, accounts that close or reopen, invitations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sql

from reviewgauge.annotation.store.accounts import Account, Role, account_names
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import DISCUSSION, INDEPENDENT, PILOT, TRAINING, NotYours
from reviewgauge.annotation.store.projects import Project
from reviewgauge.annotation.store.rounds import check_discussion, end_independent, lock_batch
from reviewgauge.annotation.store.tables import accounts, audit, batches, invitations, items, remarks, sessions, slots
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.annotation import AuditLine


def end_batch(database: Database, project: Project, owner: Account, number: int) -> None:
    """End the independent round of a batch with the judgements that are there. Raises NotYours, UserError."""
    _check(owner)
    with database.writing() as connection:
        query = sql.select(batches.c.id).where(batches.c.project == project.id, batches.c.number == number)
        batch = connection.execute(query.where(batches.c.kind != TRAINING)).scalar()
        if batch is None:
            raise UserError(f"there is no batch {number}")
        if lock_batch(connection, batch):
            raise UserError(f"batch {number} was compared already")
        end_independent(connection, project.schema_, batch)
        database.log(connection, owner.id, "end batch", batch=number)


def open_rest(database: Database, project: Project, owner: Account) -> None:
    """Open the batches that wait behind the pilot. Raises NotYours, UserError while it is being judged."""
    _check(owner)
    with database.writing() as connection:
        of_project = batches.c.project == project.id
        runs = sql.select(batches.c.id).where(of_project, batches.c.kind == PILOT, batches.c.compared.is_(sql.false()))
        if connection.execute(runs).first():
            raise UserError("the pilot is still being judged", remedy="wait until it is over, or end it")
        connection.execute(batches.update().where(of_project).values(open=True))
        database.log(connection, owner.id, "open the rest")


def all_remarks(database: Database, project: Project, owner: Account) -> Sequence[Any]:
    """Every remark, the latest first: item, rater, whether it was skipped, reason. Raises NotYours."""
    _check(owner)
    said = items.c.number.label("item"), accounts.c.name.label("rater"), remarks.c.skipped, remarks.c.reason
    query = sql.select(*said).join(items, items.c.id == remarks.c.item).join(accounts, accounts.c.id == remarks.c.rater)
    query = query.where(items.c.project == project.id).order_by(remarks.c.id.desc()).limit(500)
    with database.reading() as connection:
        return connection.execute(query).all()


def audit_log(database: Database) -> list[AuditLine]:
    """Who did what, the earliest first: for whoever holds the database."""
    with database.reading() as connection:
        names = account_names(connection)
        return [
            AuditLine(at=row.at, account=names.get(row.account, ""), action=row.action, detail=row.detail)
            for row in connection.execute(sql.select(audit).order_by(audit.c.id))
        ]


def close_account(database: Database, owner: Account, account: int) -> None:
    """Let nobody log in to an account any more; what it judged stays. Raises NotYours, UserError."""
    _check(owner)
    if account == owner.id:
        raise UserError("you cannot close your own account")
    with database.writing() as connection:
        connection.execute(accounts.update().where(accounts.c.id == account).values(active=False))
        connection.execute(sessions.delete().where(sessions.c.account == account))
        theirs = sql.select(items.c.id, items.c.batch).join(slots, slots.c.item == items.c.id)
        theirs = theirs.where(items.c.round == DISCUSSION, slots.c.round == INDEPENDENT, slots.c.holder == account)
        for row in connection.execute(theirs.order_by(items.c.batch)).all():
            lock_batch(connection, row.batch)
            check_discussion(connection, row.id)
        database.log(connection, owner.id, "close account", closed=account)


def reopen_account(database: Database, owner: Account, account: int) -> None:
    """Let them log in again. Raises NotYours."""
    _check(owner)
    with database.writing() as connection:
        connection.execute(accounts.update().where(accounts.c.id == account).values(active=True))
        database.log(connection, owner.id, "reopen account", reopened=account)


def withdraw(database: Database, owner: Account, invitation: str) -> None:
    """Let nobody accept an invitation any more. Raises NotYours."""
    _check(owner)
    with database.writing() as connection:
        unused = (invitations.c.token == invitation, invitations.c.used_by.is_(None))
        connection.execute(invitations.delete().where(*unused))
        database.log(connection, owner.id, "withdraw invitation")


def _check(owner: Account) -> None:
    if owner.role is not Role.OWNER:
        raise NotYours("only an owner may do this")
