from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.repo.git.log_stream import LogCommit, LogStream
from reviewgauge.repo.git.repository import Repository
from written_history import LINK, Written, write_history

MARK = b"f00dfeedf00dfeedf00dfeedf00dfeed"
FORMAT = f"--format=tformat:{MARK.decode()}%H%x00%P%x00%an%x00%at%x00%ct%x00%B%x00"
UNLIMITED = 1 << 40


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What git prints for a history with every kind of commit: empty, with a change of type, a merge, large, small."""
    folder = tmp_path_factory.mktemp("stream") / "r"
    body = b"".join(b"%d diff --git a/x b/x\n" % n for n in range(60))
    history = [
        Written(
            {b"f": body, b"a\ndiff --git a/q b/q\x01": b"x", b"link": b"text"}, b"diff --git a/f b/f\n\n@@ -1 +1 @@"
        ),
        Written(),
        Written({b"big": body * 5, b"f": body + b"diff --git\n", b"link": (LINK, b"f"), b"z": b"1\n"}, b""),
        Written({b"f": b"side\n" + body}, parents=(0,)),
        Written({b"f": b"both\n" + body + b"merged\n", b"z": b"2\n"}, parents=(2, 3)),
        Written({b"big": None}),
    ]
    write_history(folder, [replace(commit, when=f"{n} +0000") for n, commit in enumerate(history)])
    shape = ("--raw", "-z", "-p", "--no-abbrev", "-M", "--diff-merges=first-parent", "--date-order")
    return Repository(folder).run("log", FORMAT, *shape)


def cut(text: bytes, sizes: list[int]) -> Iterator[bytes]:
    """`text` in blocks of these sizes, over and over."""
    at = number = 0
    while at < len(text):
        size = sizes[number % len(sizes)]
        yield text[at : at + size]
        at, number = at + size, number + 1


def read(text: bytes, sizes: list[int], large: int = UNLIMITED, largest: int = UNLIMITED) -> list[LogCommit]:
    return list(LogStream(cut(text, sizes), MARK, largest, UNLIMITED, large=large))


def test_commits_are_cut_where_git_ended_them(printed: bytes) -> None:
    commits = read(printed, [len(printed)])
    assert [len(commit.entries) for commit in commits] == [1, 2, 1, 4, 0, 3]
    assert [len(commit.diffs) for commit in commits] == [1, 2, 1, 5, 0, 3]
    assert [commit.fields[5] for commit in commits[3:]] == [b"", b"a change", b"diff --git a/f b/f\n\n@@ -1 +1 @@"]
    assert [entry.path for entry in commits[5].entries] == [b"a\ndiff --git a/q b/q\x01", b"f", b"link"]
    assert [entry.letter for entry in commits[3].entries] == ["A", "M", "T", "A"]
    assert (
        b"".join(diff or b"" for diff in commits[5].diffs).count(b"\n+") == 62 + 3
    )  # with the three names of the files


@given(
    sizes=st.lists(st.integers(30, 4_000), min_size=1, max_size=5),
    large=st.sampled_from([64, 300, 5_000, UNLIMITED]),
    largest=st.sampled_from([0, 150, 900, 8_000, UNLIMITED]),
)
def test_how_the_stream_comes_does_not_matter(printed: bytes, sizes: list[int], large: int, largest: int) -> None:
    """Any blocks, and commits cut whole or as they come: the same commits; only diffs over the limit are None."""
    whole = read(printed, [len(printed)])
    found = read(printed, sizes, large, largest)
    assert [(c.fields, c.entries) for c in found] == [(c.fields, c.entries) for c in whole]
    for mine, full in zip(found, whole, strict=True):
        assert len(mine.diffs) == len(full.diffs)
        for diff, expected in zip(mine.diffs, full.diffs, strict=True):
            assert expected is not None
            assert diff == (expected if len(expected) <= largest else None)


def test_a_commit_stays_within_its_room(printed: bytes) -> None:
    """What comes after the room is used up is left out; small diffs that still fit are kept."""
    for large in (64, UNLIMITED):
        commit = list(LogStream(cut(printed, [64]), MARK, UNLIMITED, 3_000, large=large))[3]
        assert commit.diffs[0] is None and None not in commit.diffs[1:]


def test_a_huge_diff_is_not_held(printed: bytes) -> None:
    """Of a diff of many megabytes no more than the limit and a block is ever in memory."""
    head, _, tail = printed.rpartition(b"diff --git a/big b/big")

    def blocks() -> Iterator[bytes]:
        yield head
        yield b"diff --git a/big b/big\n@@ -1 +1 @@\n"
        line = b"+" + b"x" * 999 + b"\n"
        for _ in range(600):
            yield line * 100
        yield b"\ndiff --git " + tail.partition(b"\ndiff --git ")[2]

    tracemalloc.start()
    commits = list(LogStream(blocks(), MARK, 1_000_000, 10_000_000, large=1_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8_000_000
    assert sum(diff is None for commit in commits for diff in commit.diffs) == 1
    assert [c.entries for c in commits] == [c.entries for c in read(printed, [len(printed)])]


@given(st.binary(max_size=300))
def test_damage_never_makes_it_fail(text: bytes) -> None:
    list(LogStream(cut(text.replace(b"m", MARK), [7]), MARK, 100, 100, large=20))
