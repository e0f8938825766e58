"""Dumps in every form, and archives that mean harm."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable, Mapping
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
    with Archive(path, limits) as found:
        return [(where, read_pull(raw, where)) for where, raw in found.pulls()]


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def written(path: Path, members: Mapping[str, bytes]) -> Path:
    """An archive of this kind, by its name."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            for name, content in members.items():
                made.writestr(name, content)
    elif ".tar" in path.name:
        with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as tar:
            for name, content in members.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    else:
        for name, content in members.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
    return path


@pytest.fixture(params=["folder", "dump.zip", "dump.tar", "dump.tar.gz"])
def container(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


@pytest.mark.parametrize("value", [NESTED, FLAT])
def test_a_line_is_a_pull_request_in_either_shape(value: Any, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_bytes(lines(value))
    (tmp_path / "p.jsonl.gz").write_bytes(gzip.compress(lines(value)))
    for name in ("p.jsonl", "p.jsonl.gz"):
        ((where, pull),) = read(tmp_path / name)
        assert where == f"{name}, line 1"
        assert (pull.slug, len(pull.threads), len(pull.commits)) == ("o/n#7", 1, 1)
        assert "example.org" not in pull.model_dump_json() and pull.fork_gone


def test_containers_of_lines(container: Path) -> None:
    members = {"b.jsonl": lines(NESTED), "deep/a.jsonl.gz": gzip.compress(lines(FLAT, NESTED)), "c.pkl": b"no"}
    assert [where for where, _ in read(written(container, members))] == [
        "b.jsonl, line 1",
        "deep/a.jsonl.gz, line 1",
        "deep/a.jsonl.gz, line 2",
    ]


def test_containers_of_answers_under_their_own_paths(container: Path) -> None:
    members = {f"dump/{name}": json.dumps(value).encode() for name, value in TREE.items()}
    members["dump/o/n/pulls/7/reviews.json.gz"] = gzip.compress(b"[]", mtime=0)
    ((where, pull),) = read(written(container, members))
    assert where == "dump/o/n/pulls/7.json"
    assert (pull.slug, len(pull.threads), len(pull.commits), len(pull.conversation)) == ("o/n#7", 1, 1, 1)
    assert pull.repo_languages == {"Python": 10}


def test_names_that_leave_the_archive_are_not_opened(tmp_path: Path) -> None:
    evil = {"../evil.jsonl": lines(NESTED), "/etc/evil.jsonl": lines(NESTED), "a\\..\\evil.jsonl": lines(NESTED)}
    for name in ("evil.zip", "evil.tar.gz"):
        assert read(written(tmp_path / name, evil)) == []
    assert sorted(file.name for file in tmp_path.iterdir()) == ["evil.tar.gz", "evil.zip"], "nothing was written"


def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(lines(NESTED))
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "p.jsonl").symlink_to(secret)
    (folder / "elsewhere").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(folder / "pipe.jsonl")
    assert read(folder) == []
    with tarfile.open(tmp_path / "dump.tar", "w") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            entry = tarfile.TarInfo("p.jsonl")
            entry.type, entry.linkname = kind, str(secret)
            tar.addfile(entry)
    assert read(tmp_path / "dump.tar") == []


@pytest.mark.slow
def test_what_unpacks_to_far_more_than_it_is_is_refused(tmp_path: Path) -> None:
    bomb = b'{"a": "' + b"0" * 30_000_000
    (tmp_path / "p.jsonl.gz").write_bytes(gzip.compress(bomb, mtime=0))
    found = [tmp_path / "p.jsonl.gz"]
    found += [written(tmp_path / name, {"p.jsonl": bomb}) for name in ("b.zip", "b.tar.gz")]
    inner = {"p.jsonl.gz": gzip.compress(bomb, mtime=0)}
    found += [written(tmp_path / name, inner) for name in ("n.zip", "n.tar", "folder")]
    for path in found:
        with pytest.raises(UserError, match="unpacks to far more than its size"):
            read(path, SMALL)


def header(kind: bytes, content: bytes) -> bytes:
    """A tar's extra header of one type."""
    entry = tarfile.TarInfo("extra")
    entry.type, entry.size = kind, len(content)
    return entry.tobuf(tarfile.GNU_FORMAT) + content + b"\0" * (-len(content) % 512)


SPARSE = header(tarfile.XHDTYPE, b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n")
PLAIN = header(tarfile.REGTYPE, b"1" * 2000)


@pytest.mark.parametrize(("headers", "problem"), [
    (header(tarfile.XHDTYPE, b"1" * 20_000), "a name or header over 16,384 bytes"),
    (header(tarfile.XGLTYPE, b"1" * 20_000), "a name or header over 16,384 bytes"),
    (header(tarfile.GNUTYPE_LONGNAME, b"a" * 20_000), "a name or header over 16,384 bytes"),
    (header(tarfile.GNUTYPE_LONGLINK, b"a" * 20_000), "a name or header over 16,384 bytes"),
    (header(tarfile.GNUTYPE_LONGNAME, b"a") * 3000, "holds header upon header"),
    (header(tarfile.XHDTYPE, b"9" * 5000 + b" path=a\n"), "cannot read"),
    (SPARSE, "holds a sparse file"),
    (header(tarfile.REGTYPE, bytes(9_000_000)), "unpacks to far more than its size"),
])  # fmt: skip
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("packed", [True, False])
def test_headers_of_a_tar_take_no_memory(
    tmp_path: Path, headers: bytes, problem: str, first: bool, packed: bool
) -> None:
    if not packed and "unpacks" in problem:
        return
    whole = b"" if first else header(tarfile.REGTYPE, b"")
    whole += headers + PLAIN + bytes(1024)
    (tmp_path / "d.tar.gz").write_bytes(gzip.compress(whole, mtime=0) if packed else whole)
    with pytest.raises(UserError, match=problem):
        read(tmp_path / "d.tar.gz", SMALL._replace(free=8_000_000))


def test_one_answer_may_only_be_so_long(tmp_path: Path) -> None:
    members = {"o/n/pulls/7.json": json.dumps({**PULL, "body": os.urandom(80_000).hex()}).encode()}
    with pytest.raises(BadInput, match="is over 100,000 bytes"):
        read(written(tmp_path / "d.tar", members), SMALL)


@pytest.mark.slow
def test_a_tar_is_not_held_in_memory(tmp_path: Path) -> None:
    many = {f"{n}.jsonl": lines(*[NESTED] * 50) for n in range(20)}
    assert len(read(written(tmp_path / "d.tar.gz", many))) == 1000


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
        ("p.zip", b"PK\x03\x04 and then nothing", "is not an archive"),
        ("p.tar.gz", gzip.compress(b"no tar", mtime=0), "is not an archive"),
        ("p.pkl", b"\x80\x04.", "is not an archive"),
    ],
)
def test_what_is_no_dump_is_one_clear_line(name: str, content: bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=problem):
        read(tmp_path / name)
    with pytest.raises(UserError, match="there is no archive"):
        Archive(tmp_path / "none")


def test_a_zip_that_lies_about_its_sizes_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "d.zip", {"p.jsonl": lines(NESTED)})
    whole = bytearray(path.read_bytes())
    at = whole.rindex(b"PK\x01\x02")
    whole[at + 24 : at + 28] = (2**31).to_bytes(4, "little")
    path.write_bytes(bytes(whole))
    with pytest.raises(UserError):
        read(path)


def tar_of(*members: tuple[str, bytes]) -> bytearray:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as made:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            made.addfile(info, io.BytesIO(content))
    return bytearray(out.getvalue())


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: 1024 + 200],  # within the second header
        lambda data: data[:1024],  # between two members, without an end mark
        lambda data: data[: 1024 + 148] + b"0000000\x00" + data[1024 + 156 :],  # its checksum
        lambda data: data[: 1024 + 124] + b"\xff" * 12 + data[1024 + 136 :],  # its size
    ],
)
def test_half_a_tar_is_not_taken_for_a_whole_one(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    whole = bytes(tar_of(("a.jsonl", lines(NESTED)[:512]), ("b.jsonl", lines(NESTED))))
    (tmp_path / "p.tar").write_bytes(damage(whole))
    with pytest.raises(UserError, match=r"cannot read p\.tar"):
        read(tmp_path / "p.tar")


def test_zips_that_cannot_be_unpacked_are_named(tmp_path: Path) -> None:
    good = written(tmp_path / "p.zip", {"o/n/pulls/7.json": json.dumps(PULL).encode() * 1}).read_bytes()
    at = good.index(b"PK\x01\x02")
    encrypted = good[:6] + b"\x01\x00" + good[8 : at + 8] + b"\x01\x00" + good[at + 10 :]
    exotic = good[:8] + b"\x63\x00" + good[10 : at + 10] + b"\x63\x00" + good[at + 12 :]
    wrong = good[: at + 16] + b"\x00\x01\x02\x03" + good[at + 20 :]
    for number, data in enumerate((encrypted, exotic, wrong)):
        path = tmp_path / f"{number}.zip"
        path.write_bytes(data)
        with pytest.raises(UserError, match="cannot be unpacked"):
            read(path)
    twice = tmp_path / "twice.zip"
    with zipfile.ZipFile(twice, "w") as made, pytest.warns(UserWarning):
        made.writestr("p.jsonl", lines(NESTED))
        made.writestr("p.jsonl", lines(NESTED))
    with pytest.raises(UserError, match="have one name"):
        read(twice)
