"""The tables, the same on SQLite and PostgreSQL. Times are seconds since 1970; structures are JSON in ASCII."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

FORMAT = "1"  # of the tables; a store of another one is refused


class Json(TypeDecorator[Any]):
    """JSON in ASCII: PostgreSQL's text takes neither NUL nor lone surrogates, which escapes can write."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """To the database."""
        return None if value is None else json.dumps(value, separators=(",", ":"), allow_nan=False)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """From the database."""
        return None if value is None else json.loads(value)


metadata = MetaData()


def _numbered(name: str, *columns: Any) -> Table:
    return Table(name, metadata, Column("id", Integer, primary_key=True), *columns)


meta = Table("meta", metadata, Column("name", String(40), primary_key=True), Column("value", Text, nullable=False))

projects = _numbered(
    "projects",
    Column("name", String(100), nullable=False, unique=True),
    Column("schema", Json, nullable=False),
    Column("raters", Integer, nullable=False),
    Column("created", Float, nullable=False),
)

guidelines = Table(
    "guidelines",
    metadata,
    Column("project", ForeignKey("projects.id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("text", Json, nullable=False),
    Column("at", Float, nullable=False),
)

accounts = _numbered(
    "accounts",
    Column("name", String(100), nullable=False),
    Column("key", String(200), nullable=False, unique=True),  # the name without its case
    Column("password", Text),  # a hash; without one nobody can log in by password
    Column("role", String(10), nullable=False),
    Column("languages", Json, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("created", Float, nullable=False),
)

invitations = Table(
    "invitations",
    metadata,
    Column("token", String(64), primary_key=True),  # a hash
    Column("role", String(10), nullable=False),
    Column("languages", Json, nullable=False),
    Column("expires", Float, nullable=False),
    Column("used_by", ForeignKey("accounts.id")),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token", String(64), primary_key=True),  # a hash
    Column("account", ForeignKey("accounts.id"), nullable=False),
    Column("csrf", String(64), nullable=False),
    Column("expires", Float, nullable=False),
)

failed_logins = _numbered(
    "failed_logins",
    Column("name", String(64), nullable=False),  # a hash: people type passwords into this field
    Column("address", String(64), nullable=False, index=True),  # a hash
    Column("at", Float, nullable=False),
)

changes = Table(
    "changes",
    metadata,
    Column("project", ForeignKey("projects.id"), primary_key=True),
    Column("case", String(500), primary_key=True),
    Column("change", Json, nullable=False),
)

# The changed files of a change as they are after it, where the repository was at hand: for the lines around hunks.
texts = _numbered(
    "texts",
    Column("project", ForeignKey("projects.id"), nullable=False),
    Column("case", String(500), nullable=False),
    Column("path", Json, nullable=False),
    Column("text", Json, nullable=False),
    Index("texts_of_case", "project", "case"),
)

batches = _numbered(
    "batches",
    Column("project", ForeignKey("projects.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("name", String(200), nullable=False, server_default=""),  # what recorded labels call it
    Column("kind", String(10), nullable=False),  # judge, pilot or training
    Column("open", Boolean, nullable=False),  # those behind a pilot open when the owner has looked at it
    Column("compared", Boolean, nullable=False),  # whether its independent round has ended
    UniqueConstraint("project", "number"),
)

items = _numbered(
    "items",
    Column("project", ForeignKey("projects.id"), nullable=False),
    Column("batch", ForeignKey("batches.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("title", Json, nullable=False),
    Column("item", Json, nullable=False),
    Column("language", String(60), nullable=False),
    Column("round", String(12), nullable=False),  # the one that it is judged in, or `done`
    UniqueConstraint("project", "number"),
    Index("items_of_batch", "batch"),
)

# Items whose right answer is known: those of a training batch, and others that look like any item.
gold = Table(
    "gold",
    metadata,
    Column("item", ForeignKey("items.id"), primary_key=True),
    Column("answers", Json, nullable=False),
    Column("reason", Json, nullable=False),
)

# A place for one judgement of one item in one round. `holder` judges it; the lease says until when alone.
slots = _numbered(
    "slots",
    Column("item", ForeignKey("items.id"), nullable=False),
    Column("round", String(12), nullable=False),
    Column("place", Integer, nullable=False),
    Column("holder", ForeignKey("accounts.id")),
    Column("lease", Float, nullable=False),
    Column("opened", Float, nullable=False),  # when the holder got it
    Column("done", Boolean, nullable=False),
    UniqueConstraint("item", "round", "place"),
    UniqueConstraint("item", "round", "holder"),  # nobody judges one thing twice in a round
    Index("slots_of_holder", "holder", "done"),
)

# Who was ever given a slot: only they may see its item, and hand in late.
leases = Table(
    "leases",
    metadata,
    Column("slot", ForeignKey("slots.id"), primary_key=True),
    Column("rater", ForeignKey("accounts.id"), primary_key=True),
)

# Judgements are only added. Of several versions of one slot the highest counts.
judgements = _numbered(
    "judgements",
    Column("slot", ForeignKey("slots.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("rater", ForeignKey("accounts.id"), nullable=False),
    Column("client_key", String(64), nullable=False),
    Column("answers", Json, nullable=False),
    Column("reason", Json),
    Column("seconds", Float),
    Column("guidelines", Integer, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("slot", "version"),
    UniqueConstraint("rater", "client_key"),
)

# What a rater put aside, and what they noted about an item.
remarks = _numbered(
    "remarks",
    Column("item", ForeignKey("items.id"), nullable=False),
    Column("rater", ForeignKey("accounts.id"), nullable=False),
    Column("skipped", Boolean, nullable=False),
    Column("reason", Json, nullable=False),
    Column("at", Float, nullable=False),
    Index("remarks_of_rater", "rater", "item"),
)

# What was pooled from runs: each distinct comment once, with all who said it, and the item that it is judged in.
# What raters see is never read from here.
pooled = Table(
    "pooled",
    metadata,
    Column("project", ForeignKey("projects.id"), primary_key=True),
    Column("name", String(60), primary_key=True),
    Column("case", String(500), nullable=False),
    Column("item", ForeignKey("items.id"), nullable=False),
    Column("part", Integer, nullable=False),  # of the item; -1 is the finding that the item is about
    Column("comment", Json, nullable=False),
    Column("sources", Json, nullable=False),
)

audit = _numbered(
    "audit",
    Column("at", Float, nullable=False),
    Column("account", Integer),
    Column("action", String(40), nullable=False),
    Column("detail", Json, nullable=False),
)
