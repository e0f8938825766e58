"""Projects: made from items, found by name, and counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sql

from reviewgauge.annotation.items import ProjectData
from reviewgauge.annotation.schemas.schema import Schema, clean_text
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import (
    DISCUSSION,
    DONE,
    EXPERT,
    INDEPENDENT,
    JUDGE,
    PILOT,
    TRAINING,
    write_gold,
)
from reviewgauge.annotation.store.rounds import active_raters, open_slots
from reviewgauge.annotation.store.tables import batches, changes, guidelines, items, projects, slots, texts
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.annotation import BatchStatus, ProjectStatus


class Project(Record):
    """A project: its schema, and how many raters judge each item."""

    id: int
    name: str
    schema_: Schema
    raters: int


def create_project(
    database: Database, name: str, schema: Schema, data: ProjectData, *, raters: int | None = None
) -> Project:
    """Make a project with its batches and open slots, all or nothing. Raises UserError where the name is taken."""
    places = raters or schema.raters
    now = database.clock()
    with database.writing() as connection:
        if connection.execute(sql.select(projects.c.id).where(projects.c.name == name)).first():
            raise UserError(f"there is a project {name!r}", remedy="--project NAME makes another one")
        values = {"name": name, "schema": schema.model_dump(mode="json"), "raters": places, "created": now}
        project = _inserted(connection, projects, values)
        text = {"project": project, "version": 1, "text": schema.guidelines, "at": now}
        connection.execute(guidelines.insert().values(text))
        made = Project(id=project, name=name, schema_=schema, raters=places)
        add_items(connection, made, data)
        database.log(connection, None, "create project", project=name, items=len(data.items), schema=schema.name)
    return made


def add_items(connection: sql.Connection, project: Project, data: ProjectData) -> list[int]:
    """Add batches of items behind those that the project has; returns the ids of the items, in order."""
    here = sql.select(changes.c.case).where(changes.c.project == project.id)
    known = set(connection.execute(here).scalars())
    new = [(case, change) for case, change in data.changes.items() if case not in known]
    if new:
        rows = [{"project": project.id, "case": case, "change": _json(change)} for case, change in new]
        connection.execute(changes.insert(), rows)
        for case, _ in new:
            files = data.texts.get(case, {}).items()
            of_case = [{"project": project.id, "case": case, "path": path, "text": text} for path, text in files]
            if of_case:
                connection.execute(texts.insert(), of_case)
    batch_number, number = (
        connection.execute(sql.select(sql.func.max(table.c.number)).where(table.c.project == project.id)).scalar() or 0
        for table in (batches, items)
    )
    found: list[int] = []
    start = 0
    waits = sql.exists().where(batches.c.project == project.id, batches.c.open.is_(sql.false()))
    pilot_runs = bool(data.pilot) or bool(connection.execute(sql.select(waits)).scalar())
    for kind, called, size in _layout(data, project.schema_.batch):
        if kind != TRAINING:
            batch_number += 1
        values = {"project": project.id, "number": 0 if kind == TRAINING else batch_number, "name": called}
        values |= {"kind": kind, "open": kind != JUDGE or not pilot_runs, "compared": False}
        batch = _inserted(connection, batches, values)
        for at, item in enumerate(data.items[start : start + size], start):
            title = data.changes[item.subject.case].title or f"Item {number + at + 1}"
            row = {"project": project.id, "batch": batch, "number": number + at + 1, "title": title}
            row["item"] = _json(item)
            found.append(_inserted(connection, items, {**row, "language": item.language, "round": INDEPENDENT}))
            if at in data.gold:
                write_gold(connection, found[-1], data.gold[at])
            if kind == JUDGE:  # the others are for everybody, who get their places when they come
                open_slots(connection, found[-1], INDEPENDENT, range(data.places.get(at, project.raters)))
        start += size
    return found


def _layout(data: ProjectData, size: int) -> Iterator[tuple[str, str, int]]:
    """(kind, name, number of items) of each batch; without names they are of one size, but for the last."""
    if data.training:
        yield TRAINING, "", data.training
    if data.pilot:
        yield PILOT, "", data.pilot
    first, last = data.training + data.pilot, len(data.items)
    for called, count in data.batches or [("", min(size, last - start)) for start in range(first, last, size)]:
        yield JUDGE, called, count


def find_project(database: Database, name: str | None = None) -> Project:
    """A project by name, or the only one. Raises UserError."""
    with database.reading() as connection:
        rows = connection.execute(sql.select(projects).order_by(projects.c.id)).all()
    found = [row for row in rows if name in (None, row.name)]
    if len(found) != 1:
        known = ", ".join(row.name for row in rows) or "none"
        problem = f"there is no project {name!r}" if name else f"there are {len(rows)} projects, which one?"
        raise UserError(problem, remedy=f"--project: {known}")
    row = found[0]
    return Project(id=row.id, name=row.name, schema_=Schema.model_validate(row.schema), raters=row.raters)


def current_guidelines(connection: sql.Connection, project: int) -> tuple[int, str]:
    """(version, text) of the guidelines that hold now."""
    query = sql.select(guidelines).where(guidelines.c.project == project).order_by(guidelines.c.version.desc())
    row = connection.execute(query.limit(1)).one()
    return row.version, row.text


def edit_guidelines(database: Database, project: int, text: str, by: int) -> int:
    """Add a version of the guidelines; every judgement keeps the one that it was made under. Returns its number."""
    cleaned, now = clean_text(text, "the text"), database.clock()
    with database.writing() as connection:
        connection.execute(sql.select(projects.c.id).where(projects.c.id == project).with_for_update())
        version, before = current_guidelines(connection, project)
        if cleaned != before:
            version += 1
            row = {"project": project, "version": version, "text": cleaned, "at": now}
            connection.execute(guidelines.insert().values(row))
            database.log(connection, by, "edit guidelines", version=version)
    return version


def status(database: Database, project: Project) -> ProjectStatus:
    """How far the work is."""
    count = sql.func.count().label("n")
    of_slot = sql.select(items.c.batch, slots.c.done, count).join(slots, slots.c.item == items.c.id)
    of_slot = of_slot.where(items.c.project == project.id, slots.c.round == INDEPENDENT)
    of_item = sql.select(items.c.batch, items.c.round, count).where(items.c.project == project.id)
    with database.reading() as connection:
        in_order = sql.select(batches).where(batches.c.project == project.id, batches.c.kind != TRAINING)
        known = connection.execute(in_order.order_by(batches.c.number)).all()
        counted = connection.execute(of_slot.group_by(items.c.batch, slots.c.done)).all()
        rounds = connection.execute(of_item.group_by(items.c.batch, items.c.round)).all()
        everybody = max(project.raters, len(active_raters(connection)))
    found = []
    for batch in known:
        slot = {bool(row.done): row.n for row in counted if row.batch == batch.id}
        item = {row.round: row.n for row in rounds if row.batch == batch.id}
        wanted = sum(slot.values())
        if batch.kind == PILOT and not batch.compared:
            wanted = max(wanted, sum(item.values()) * everybody)
        one = BatchStatus(
            number=batch.number,
            name=batch.name,
            kind=batch.kind,
            open=batch.open,
            over=batch.compared,
            items=sum(item.values()),
            judgements=slot.get(True, 0),
            wanted=wanted,
            waiting=item.get(DISCUSSION, 0) + item.get(EXPERT, 0),
            done=item.get(DONE, 0),
        )
        found.append(one)
    return ProjectStatus(
        name=project.name,
        schema_name=project.schema_.name,
        items=sum(one.items for one in found),
        done=sum(one.done for one in found),
        batches=tuple(found),
    )


def _inserted(connection: sql.Connection, table: sql.Table, values: dict[str, Any]) -> int:
    found = connection.execute(table.insert().values(values)).inserted_primary_key
    assert found is not None
    return int(found[0])


def _json(record: Record) -> Any:
    return record.model_dump(mode="json", exclude_defaults=True)
