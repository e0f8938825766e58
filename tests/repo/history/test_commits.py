from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from git_project import starts
from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import EPOCH, inspect, read_history
from written_history import Written, write_history

BODY = b"".join(b"line %d\n" % n for n in range(1, 41))


# --- merges --------------------------------------------------------------------------------------------------------


@pytest.fixture
def merged(tmp_path: Path) -> tuple[Repository, list[str]]:
    """A branch and a merge of it."""
    history = [Written({b"f": BODY}), Written({b"g": b"g\n"}, parents=(0,)), Written({b"h": b"h\n"}, parents=(0,))]
    history.append(Written({b"g": b"g\n"}, b"Merge branch", parents=(2, 1)))
    return Repository(tmp_path / "r"), write_history(tmp_path / "r", history)


# --- which commits -------------------------------------------------------------------------------------------------


def test_the_walk_is_chosen(merged: tuple[Repository, list[str]]) -> None:
    repository, ids = merged
    everything = [c.id for c in read_history(repository)]
    assert everything[0] == ids[3] and everything[-1] == ids[0] and set(everything) == set(ids)
    assert [c.id for c in read_history(repository, reverse=True)] == everything[::-1]
    assert [c.id for c in read_history(repository, [ids[1]], without=[ids[0]])] == [ids[1]]
    assert [c.id for c in read_history(repository, most=2)] == everything[:2]
    assert [c.id for c in read_history(repository, first_parent=True)] == [ids[3], ids[2], ids[0]]
    merge = next(read_history(repository))
    assert merge.is_merge and merge.parents == (ids[2], ids[1])


def test_wrong_clocks_neither_end_the_walk_nor_turn_it_around(tmp_path: Path) -> None:
    days = [10, 11, 1, 12, 13]  # the third commit is dated before its parents
    history = [Written({b"f": b"%d\n" % n}, when=f"{day * 86400} +0200") for n, day in enumerate(days)]
    ids = write_history(tmp_path / "r", history)
    repository = Repository(tmp_path / "r")
    assert [c.id for c in read_history(repository)] == ids[::-1]


# --- messages, authors, dates --------------------------------------------------------------------------------------


def test_messages_in_any_encoding(tmp_path: Path) -> None:
    history = [
        Written(message="naïve 文\n\nbody\n".encode()),
        Written(message="Grüße\n".encode("latin-1"), encoding=b"ISO-8859-1"),
        Written(message="Grüße €\n".encode("cp1252")),
        Written(message="日本\n".encode("shift-jis"), encoding=b"SHIFT-JIS"),
        Written(message=b""),
        Written(message=b"\n\n  two\nlines  \n\nand a body\n\nof two\n\n"),
        Written(message=b"0" * 32 + b"\ndiff --git a/f b/f\n@@ -1 +1 @@\n:100644 100644 a b M\x01f\n"),
    ]
    write_history(tmp_path / "r", history)
    commits = list(read_history(Repository(tmp_path / "r")))[::-1]
    assert [c.subject for c in commits[:6]] == ["naïve 文", "Grüße", "Grüße €", "日本", "", "two lines"]
    assert commits[0].body == "body" and commits[5].body == "and a body\n\nof two"
    assert commits[6].message.endswith("M\x01f")


def test_authors_are_names_and_times_are_plausible(tmp_path: Path) -> None:
    history = [
        Written(author="Zoë <z@example.invalid>".encode(), authored="1700000000 +0530"),
        Written(author=b"zoe@example.invalid <zoe@example.invalid>"),
        Written(author=b"<z@example.invalid>", authored="99999999999999 +0000"),
        Written(author="Jürgen <j@x>".encode("latin-1"), authored="0 +0000", when="99999999999999 +0000"),
    ]
    write_history(tmp_path / "r", history)
    commits = list(read_history(Repository(tmp_path / "r")))[::-1]
    assert [c.author for c in commits] == ["Zoë", "zoe", "", "Jürgen"]
    assert commits[0].authored == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC) == commits[0].committed
    assert [c.sound_times for c in commits] == [True, True, False, False]
    assert commits[2].authored == commits[2].committed == commits[0].committed
    assert (commits[3].authored, commits[3].committed) == (EPOCH, EPOCH)


# --- errors --------------------------------------------------------------------------------------------------------


def test_what_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    write_history(tmp_path / "r", [Written({b"f": b"%d\n" % n * 99}) for n in range(3)])
    repository = Repository(tmp_path / "r")
    for tip in ("nowhere", "0" * 40, "refs/heads/none"):
        with pytest.raises(UserError, match=r"no such branch or commit|damaged or missing") as error:
            list(read_history(repository, [tip]))
        assert "\n" not in str(error.value)
    for tip in ("--output=x", "a..b", "", "main\n", "^main"):
        with pytest.raises(UserError, match="is not a commit"):
            next(read_history(repository, [tip]))
    write_history(tmp_path / "empty", [])
    with pytest.raises(UserError, match="an empty repository has none"):
        list(read_history(Repository(tmp_path / "empty")))
    with pytest.raises(UserError, match="is not a git directory"):
        list(read_history(Repository(tmp_path / "nowhere")))


def test_git_ends_when_nobody_reads_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_history(tmp_path / "r", [Written({b"f": BODY * 500 + b"%d\n" % n}) for n in range(60)])
    repository = Repository(tmp_path / "r")
    started = starts(monkeypatch)
    blocks = repository.stream("cat-file", "--batch-all-objects", "--batch", block=10)
    assert len(next(blocks)) == 10
    blocks.close()
    commits = read_history(repository)
    next(commits)
    commits.close()  # type: ignore[attr-defined]
    assert len(started) == 2 and all(git.poll() is not None for git in started)


DAY = 86_400


def at(day: int) -> str:
    """A day after 2020 began."""
    return f"{1_577_836_800 + day * DAY} +0000"


def clone(source: Path, target: Path, *options: str) -> Repository:
    subprocess.run(["git", "config", "uploadpack.allowFilter", "true"], cwd=source, check=True)
    subprocess.run(["git", "clone", "-q", *options, f"file://{source}", str(target)], check=True, capture_output=True)
    return Repository(target)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    history = [Written({b"f": b"%d\n" % n}, when=at(n)) for n in range(6)]
    history += [Written({b"g": b"1"}, when=at(7), parents=(2,)), Written({b"g": b"1"}, when=at(8), parents=(5, 6))]
    write_history(tmp_path / "source.git", history)
    return tmp_path / "source.git"


def test_a_sound_repository(source: Path) -> None:
    found = inspect(Repository(source))
    assert (found.commits, found.merges) == (8, 1)
    assert (found.first, found.last) == (datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 9, tzinfo=UTC))
    assert found.warnings == ()


@pytest.mark.slow
def test_what_is_lacking_is_said(source: Path, tmp_path: Path) -> None:
    shallow = inspect(clone(source, tmp_path / "s", "--depth=2"))
    assert shallow.commits < 8 and "shallow" in shallow.warnings[0] and "--unshallow" in shallow.warnings[0]
    repository = clone(source, tmp_path / "p", "--bare", "--filter=blob:none")
    partial = inspect(repository)
    assert partial.commits == 8 and "partial" in partial.warnings[0]
    with pytest.raises(UserError, match=r"partial clone are missing.*without --filter"):
        repository.changed_files("HEAD~1", "HEAD")
