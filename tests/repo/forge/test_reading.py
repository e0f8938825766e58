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
from reviewgauge.repo.forge.pulls import read_pull
from reviewgauge.repo.forge.reading import read_archive

PULL = {
    "number": 7,
    "title": "Add",
    "user": {"login": "ann", "type": "User"},
    "base": {"sha": "b0", "ref": "main", "repo": {"full_name": "o/n"}},
    "head": {"sha": "c1", "repo": None},
}
COMMENT = {"id": 1, "path": "a.py", "body": "Why?", "user": {"login": "bob"}, "original_line": 2, "side": "RIGHT"}
COMMIT = {"sha": "c1", "commit": {"message": "Add", "author": {"email": "a@example.org"}}}
NESTED = {"repo": "o/n", "pull": PULL, "comments": [COMMENT], "commits": [COMMIT]}


def read(path: Path) -> list[tuple[str, Any]]:
    return [(where, read_pull(raw, where)) for where, raw in read_archive(path)]


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def written(folder: Path, members: Mapping[str, bytes]) -> Path:
    for name, content in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("name", ["p.jsonl", "p.jsonl.gz"])
def test_a_line_is_a_pull_request(name: str, tmp_path: Path) -> None:
    content = lines(NESTED)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    ((where, pull),) = read(tmp_path / name)
    assert where == f"{name}, line 1"
    assert (pull.slug, len(pull.threads), len(pull.commits)) == ("o/n#7", 1, 1)
    assert "example.org" not in pull.model_dump_json() and pull.fork_gone


def test_a_folder_of_lines(tmp_path: Path) -> None:
    members = {"b.jsonl": lines(NESTED), "deep/a.jsonl.gz": gzip.compress(lines(NESTED, NESTED)), "c.pkl": b"no"}
    assert [where for where, _ in read(written(tmp_path, members))] == [
        "b.jsonl, line 1",
        "deep/a.jsonl.gz, line 1",
        "deep/a.jsonl.gz, line 2",
    ]


def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(lines(NESTED))
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "p.jsonl").symlink_to(secret)
    (folder / "elsewhere").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(folder / "pipe.jsonl")
    assert read(folder) == []


def test_what_unpacks_to_far_more_than_it_is_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl.gz").write_bytes(gzip.compress(b"0" * (65 << 20), compresslevel=1))
    with pytest.raises(BadInput, match="is longer than 67,108,864 bytes"):
        read(tmp_path / "p.jsonl.gz")


@pytest.mark.parametrize(("name", "content", "problem"), [
    ("p.jsonl", b'{"pull": ', "is not valid JSON"),
    ("p.jsonl", b"[1]\n", "is not an object"),
    ("p.jsonl", b"{}\n", "does not name its repository and number"),
    ("p.jsonl", lines({"pull": {"number": 1}}), "does not name its repository"),
    ("p.jsonl", b'{"a": ' + b"[" * 100_000 + b"\n", "nested too deeply"),
    ("p.jsonl.gz", b"no gzip", "cannot be unpacked"),
    ("p.jsonl.gz", gzip.compress(lines(*[NESTED] * 100))[:-20], "cannot be unpacked"),
    ("p.zip", b"PK\x03\x04", "is not a dump of pull requests"),
    ("p.pkl", b"\x80\x04.", "is not a dump of pull requests"),
])  # fmt: skip
def test_what_is_no_dump_is_one_clear_line(name: str, content: bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=problem):
        read(tmp_path / name)
    with pytest.raises(UserError, match="there is no archive"):
        read(tmp_path / "none")
