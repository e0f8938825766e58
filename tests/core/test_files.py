"""Files that may be somebody else's: no link is followed, only plain files are opened, and nothing without a limit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import check_page, open_database, open_within, read_file, read_within


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_RDWR | os.O_APPEND | os.O_CREAT])
def test_a_link_is_named_and_its_target_stays(tmp_path: Path, flags: int) -> None:
    target = tmp_path / "bashrc"
    target.write_text("mine")
    link = tmp_path / "lock"
    link.symlink_to(target)
    with pytest.raises(UserError, match=r"lock is a link"):
        open_within(link, flags)
    link.unlink()
    link.symlink_to(tmp_path / "not there")
    with pytest.raises(UserError, match=r"lock is a link"):
        open_within(link, flags)
    assert target.read_text() == "mine"
    assert not (tmp_path / "not there").exists()


def test_a_pipe_and_a_second_name_of_a_file_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="pipe is not a plain file"):
        open_within(tmp_path / "pipe", os.O_RDONLY)
    (tmp_path / "a").write_text("x")
    os.link(tmp_path / "a", tmp_path / "b")
    with pytest.raises(UserError, match="the same file as another"):
        open_within(tmp_path / "b", os.O_RDWR)
    assert read_within(tmp_path / "b") == b"x"


def test_the_folder_that_the_user_names_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "x").write_text("y")
    (tmp_path / "here").symlink_to("there")
    assert read_within(tmp_path / "here" / "x") == b"y"


def test_reading_has_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * 11)
    assert read_file(file, 11) == read_within(file, 11) == b"x" * 11
    for read in (read_file, read_within):
        with pytest.raises(BadInput, match="longer than 10 bytes"):
            read(file, 10)
    with pytest.raises(BadInput, match="is a device"):
        read_file(Path("/dev/zero"))


def test_a_page_takes_the_place_of_pages_only(tmp_path: Path) -> None:
    mine, page, empty = tmp_path / "cases.jsonl", tmp_path / "old.html", tmp_path / "empty"
    mine.write_text('{"id": "a"}\n')
    page.write_text("<!doctype html>\n<html><body>old</body></html>")
    empty.touch()
    for path in (page, empty, tmp_path / "new.html", tmp_path, "/dev/stdout", None):
        check_page(path)
    with pytest.raises(UserError, match="is not an HTML page, and would be replaced"):
        check_page(mine)


TABLE = "CREATE TABLE IF NOT EXISTS t (x)"
OTHER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT * FROM t").fetchall()
connection.close()
"""


def test_another_connection_of_this_process_leaves_the_locks_of_the_first(tmp_path: Path) -> None:
    """Else another process thinks that it is the last one and removes the log: `disk I/O error` here."""
    file = tmp_path / "t.sqlite"
    first = open_database(file, [TABLE])
    first.execute("PRAGMA journal_mode = WAL")
    first.execute("INSERT INTO t VALUES (1)")
    second = open_database(file, [TABLE])
    subprocess.run([sys.executable, "-c", OTHER, str(file)], check=True)
    assert file.with_name("t.sqlite-wal").exists()
    first.execute("INSERT INTO t VALUES (2)")
    assert second.execute("SELECT count(*) FROM t").fetchone() == (2,)
    first.close()
    second.close()
