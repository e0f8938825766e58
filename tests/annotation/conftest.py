"""Both databases for every test that takes `database`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sql

from annotation_toys import Postgres
from reviewgauge.annotation.store.database import Database


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as folder:
        server = Postgres(Path(folder))
        server.start()
        yield server
        server.stop()


@pytest.fixture
def postgres(postgres_server: Postgres) -> str:
    return postgres_server.url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.drill)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a new store: a file, or an emptied database."""
    return emptied(request, tmp_path)


def emptied(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    url: str = request.getfixturevalue("postgres")
    engine = sql.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    engine.dispose()
    return url


@pytest.fixture
def database(where: str) -> Iterator[Database]:
    with Database.open(where, create=True) as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Each of the two also outside of drills: for what waits for locks."""
    with Database.open(emptied(request, tmp_path), create=True) as found:
        yield found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Database]:
    """In a file."""
    with Database.open(tmp_path / "store.db", create=True) as found:
        yield found
