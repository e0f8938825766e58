"""The pooled comments of a project: who said them is kept here, apart from the items that raters see."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sql

from reviewgauge.annotation.schemas.schema import ITEM
from reviewgauge.annotation.store.tables import pooled
from reviewgauge.core.base import Record
from reviewgauge.core.records import Comment


class Source(Record):
    """Who said it: a comment of a review."""

    system: str
    attempt: int
    comment: str


class Pooled(Record):
    """A distinct comment with everybody who said it, and where it is judged: `ITEM` is the finding of its item.

    `name` comes from the comment's case, place and words, and is the id of the reference that it may become.
    """

    name: str
    case: str
    comment: Comment
    sources: tuple[Source, ...]
    item: int = 0
    part: int = ITEM


def read_pool(connection: sql.Connection, project: int) -> dict[str, Pooled]:
    """The pooled comments of a project by their names, in the order in which they came."""
    query = sql.select(pooled).where(pooled.c.project == project).order_by(pooled.c.item, pooled.c.part)
    found = {}
    for row in connection.execute(query).all():
        values: dict[str, Any] = {key: value for key, value in row._mapping.items() if key != "project"}
        found[row.name] = Pooled.model_validate(values)
    return found


def write_pool(connection: sql.Connection, project: int, one: Pooled) -> None:
    """Add a pooled comment, or replace what is known of it."""
    same = (pooled.c.project == project) & (pooled.c.name == one.name)
    values = one.model_dump(mode="json", exclude_defaults=True, include={"comment", "sources"})
    row = {"case": one.case, "item": one.item, "part": one.part, **values}
    if connection.execute(pooled.update().where(same).values(row)).rowcount == 0:
        connection.execute(pooled.insert().values(project=project, name=one.name, **row))
