"""Dumps in every form, and archives that mean harm."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.repo.forge.archive import Archive, ArchiveLimits
from reviewgauge.repo.forge.pulls import read_pull

PULL = {
    "number": 7,
    "title": "Add",
    "user": {"login": "ann", "type": "User"},
    "base": {"sha": "b0", "ref": "main", "repo": {"full_name": "o/n"}},
    "head": {"sha": "c1", "repo": None},
}
COMMENT = {"id": 1, "path": "a.py", "body": "Why?", "user": {"login": "bob"}, "original_line": 2, "side": "RIGHT"}
COMMIT = {"sha": "c1", "commit": {"message": "Add", "author": {"email": "a@example.org"}}}
NESTED = {"repo": "o/n", "pull": PULL, "comments": [COMMENT], "commits": [[COMMIT], []]}
FLAT = {**PULL, "comments": 1, "commits": [COMMIT], "review_comments": [COMMENT], "issue_comments": []}
TREE: Mapping[str, Any] = {
    "o/n/pulls/7.json": PULL,
    "o/n/pulls/7/comments.json": [COMMENT],
    "o/n/pulls/7/commits.json": [[COMMIT]],
    "o/n/issues/7/comments.json": [{"id": 5, "body": "When?", "user": None}],
    "o/n/issues/8/comments.json": [{"id": 6}],
    "o/n/languages.json": {"Python": 10},
    "o/n/README.md": "no answer of the forge",
}


SMALL = ArchiveLimits(answer=100_000, free=100_000)


def read(path: Path, limits: ArchiveLimits | None = None) -> list[tuple[str, Any]]:
    return [(where, read_pull(raw, where)) for where, raw in Archive(path, limits).pulls()]


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def written(folder: Path, members: Mapping[str, bytes]) -> Path:
    for name, content in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("value", [NESTED, FLAT])
def test_a_line_is_a_pull_request_in_either_shape(value: Any, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_bytes(lines(value))
    (tmp_path / "p.jsonl.gz").write_bytes(gzip.compress(lines(value)))
    for name in ("p.jsonl", "p.jsonl.gz"):
        ((where, pull),) = read(tmp_path / name)
        assert where == f"{name}, line 1"
        assert (pull.slug, len(pull.threads), len(pull.commits)) == ("o/n#7", 1, 1)
        assert "example.org" not in pull.model_dump_json() and pull.fork_gone


def test_a_folder_of_lines(tmp_path: Path) -> None:
    members = {"b.jsonl": lines(NESTED), "deep/a.jsonl.gz": gzip.compress(lines(FLAT, NESTED)), "c.pkl": b"no"}
    assert [where for where, _ in read(written(tmp_path, members))] == [
        "b.jsonl, line 1",
        "deep/a.jsonl.gz, line 1",
        "deep/a.jsonl.gz, line 2",
    ]


def test_a_folder_of_answers_under_their_own_paths(tmp_path: Path) -> None:
    members = {f"dump/{name}": json.dumps(value).encode() for name, value in TREE.items()}
    members["dump/o/n/pulls/7/reviews.json.gz"] = gzip.compress(b"[]", mtime=0)
    ((where, pull),) = read(written(tmp_path, members))
    assert where == "dump/o/n/pulls/7.json"
    assert (pull.slug, len(pull.threads), len(pull.commits), len(pull.conversation)) == ("o/n#7", 1, 1, 1)
    assert pull.repo_languages == {"Python": 10}


def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(lines(NESTED))
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "p.jsonl").symlink_to(secret)
    (folder / "elsewhere").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(folder / "pipe.jsonl")
    assert read(folder) == []


@pytest.mark.slow
def test_what_unpacks_to_far_more_than_it_is_is_refused(tmp_path: Path) -> None:
    bomb = b'{"a": "' + b"0" * 30_000_000
    (tmp_path / "p.jsonl.gz").write_bytes(gzip.compress(bomb, mtime=0))
    found = [tmp_path / "p.jsonl.gz", written(tmp_path / "folder", {"p.jsonl.gz": gzip.compress(bomb, mtime=0)})]
    for path in found:
        with pytest.raises(UserError, match="unpacks to far more than its size"):
            read(path, SMALL)


def test_one_answer_may_only_be_so_long(tmp_path: Path) -> None:
    members = {"o/n/pulls/7.json": json.dumps({**PULL, "body": os.urandom(80_000).hex()}).encode()}
    with pytest.raises(BadInput, match="is over 100,000 bytes"):
        read(written(tmp_path, members), SMALL)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("p.jsonl", b'{"pull": ', "is not valid JSON"),
        ("p.jsonl", b"[1]\n", "is not an object"),
        ("p.jsonl", b"{}\n", "is not a pull request"),
        ("p.jsonl", lines({"number": 1}), "does not name its repository"),
        ("p.jsonl", b'{"a": ' + b"[" * 100_000 + b"\n", "nested too deeply"),
        ("p.jsonl.gz", b"no gzip", "cannot be unpacked"),
        ("p.jsonl.gz", gzip.compress(lines(*[NESTED] * 100))[:-20], "cannot be unpacked"),
        ("p.zip", b"PK\x03\x04", "is not a dump of pull requests"),
        ("p.pkl", b"\x80\x04.", "is not a dump of pull requests"),
    ],
)
def test_what_is_no_dump_is_one_clear_line(name: str, content: bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=problem):
        read(tmp_path / name)
    with pytest.raises(UserError, match="there is no archive"):
        Archive(tmp_path / "none")
