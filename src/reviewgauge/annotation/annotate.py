"""`reviewgauge annotate init` as a function: a project from cases and reviews."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from reviewgauge.annotation.items import make_items
from reviewgauge.annotation.schemas.schema import Schema, load_schema
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import create_project
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.annotation import AnnotateResult


def annotate(
    database: str | Path,
    cases: Sequence[Case],
    reviews: Iterable[Review] = (),
    *,
    schema: str | Path | Schema,
    project: str = "main",
    raters: int | None = None,
    batch: int | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> AnnotateResult:
    """Make a project in `database`, a file or the URL of a PostgreSQL; `annotate serve` shows it to people.

    `schema` is a shipped one by name, a TOML file, or a Schema. `raters` and `batch` default to what it says; `limit`
    draws so many items. Raises UserError.
    """
    wanted = schema if isinstance(schema, Schema) else load_schema(schema)
    if batch is not None:
        wanted = wanted.model_copy(update={"batch": batch})
    data = make_items(wanted, cases, reviews, limit=limit, seed=seed)
    with Database.open(database, create=True) as opened:
        made = create_project(opened, project, wanted, data, raters=raters)
    count, changes = len(data.items), len(data.changes)
    return AnnotateResult(did=f"{count:,} items of {changes:,} changes, for {made.raters} raters each", count=count)
