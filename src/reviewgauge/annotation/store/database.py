"""Opens a database by file or URL, and gives out transactions: SQLite in WAL mode, or PostgreSQL."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError, TimeoutError

from reviewgauge.annotation.store.tables import FORMAT, audit, meta, metadata
from reviewgauge.core.errors import MissingExtra, UserError, one_line
from reviewgauge.core.files import check_journal

BUSY = 30  # seconds that a writer waits for another one
_READ = {"read_only": True}


class Database:
    """One store. `clock` tells the time in seconds since 1970."""

    def __init__(self, engine: sql.Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self.clock = engine, clock
        self._turn = threading.Lock() if engine.dialect.name == "sqlite" else None

    @classmethod
    def open(cls, where: str | Path, *, create: bool = False, clock: Callable[[], float] = time.time) -> Self:
        """The store in a file, or at a URL of PostgreSQL. Raises UserError."""
        engine = _engine(str(where), create=create)
        database = cls(engine, clock)
        try:
            database._prepare(one_line(engine.url.render_as_string()), create=create)
        except SQLAlchemyError as error:
            engine.dispose()
            raise unavailable(error) from None
        except BaseException:
            engine.dispose()
            raise
        return database

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """A transaction that writes: all of it happens, or nothing. On SQLite writers take turns.

        SQLite itself lets whoever asks at the right moment go first, and some wait very long.
        """
        if self._turn is not None and not self._turn.acquire(timeout=BUSY):
            raise TimeoutError("others write all the time")
        try:
            with self._engine.begin() as connection:
                yield connection
        finally:
            if self._turn is not None:
                self._turn.release()

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """A transaction that reads one state of the database."""
        with self._engine.connect().execution_options(**_READ) as connection, connection.begin():
            yield connection

    def log(self, connection: sql.Connection, account: int | None, action: str, **detail: Any) -> None:
        """Add a line to the audit log, in the same transaction as what it tells of."""
        row = {"at": self.clock(), "account": account, "action": action, "detail": detail}
        connection.execute(audit.insert().values(row))

    def _prepare(self, name: str, *, create: bool) -> None:
        known = sql.inspect(self._engine).get_table_names()
        if "meta" not in known:
            if not create:
                raise UserError(f"{name} is not a store of annotations", remedy="reviewgauge annotate init makes one")
            if known and self._engine.dialect.name == "sqlite":
                raise UserError(f"{name} holds other tables", remedy="name a new file")
            metadata.create_all(self._engine)
            with self.writing() as connection:
                if not connection.execute(sql.select(meta.c.value).where(meta.c.name == "format")).scalar():
                    connection.execute(meta.insert().values(name="format", value=FORMAT))
        with self.reading() as connection:
            found = connection.execute(sql.select(meta.c.value).where(meta.c.name == "format")).scalar()
        if found != FORMAT:
            raise UserError(
                f"{name} has the format {found!r}, and this version of reviewgauge reads {FORMAT!r}",
                remedy="use the version that made it; its annotate export and this one's annotate import move the work",
            )


def is_url(where: str) -> bool:
    """Whether a word is the URL of a server, not a file."""
    return "://" in where


def unavailable(error: SQLAlchemyError) -> UserError:
    """What to say of a database that cannot be used, without its password."""
    said = str(getattr(error, "orig", None) or error)
    return UserError(f"the database cannot be used: {one_line(said, 200)}", remedy="is it running, and the name right?")


def _engine(where: str, *, create: bool) -> sql.Engine:
    if not is_url(where):
        return _sqlite(Path(where), create=create)
    if not where.startswith(("postgresql://", "postgresql+psycopg://")):
        raise UserError(
            f"{where.partition('://')[0]} is not supported", remedy="postgresql://USER@HOST/NAME, or a file"
        )
    url = "postgresql+psycopg://" + where.partition("://")[2]
    try:
        return sql.create_engine(url, pool_pre_ping=True, pool_size=10, max_overflow=20)
    except ModuleNotFoundError:
        raise MissingExtra("the driver of PostgreSQL (psycopg)", "annotate") from None
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise UserError("the URL of the database is not valid", remedy="postgresql://USER@HOST/NAME") from None


def _sqlite(path: Path, *, create: bool) -> sql.Engine:
    if not create and not path.is_file():
        raise UserError(f"there is no file {path}", remedy="reviewgauge annotate init makes one")
    if create:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):  # nobody else on this machine reads votes and hashes; its WAL is as private
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    check_journal(path)
    engine = sql.create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY}, pool_size=20, max_overflow=30)
    sql.event.listen(engine, "connect", _settle)
    sql.event.listen(engine, "begin", _begin)
    return engine


def _settle(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "trusted_schema=OFF"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: sql.Connection) -> None:
    """A writer takes its turn at once: one that read first could not become a writer later."""
    read_only = connection.get_execution_options().get("read_only")
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")
