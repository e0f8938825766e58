from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from git_project import starts
from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.blobs import BlobReader, file_name
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.paths import decode_path
from written_history import MODULE, Written, write_history

ODD = b'odd \xff\t"na\\me'


@pytest.fixture
def written(tmp_path: Path) -> tuple[Repository, str]:
    files = {b"f%d" % n: b"%d\n" % n * n for n in range(300)}
    head = write_history(
        tmp_path / "r",
        [
            Written(
                {
                    **files,
                    ODD: b"odd",
                    b"d/empty": b"",
                    b"nul": b"a\x00b\nblob 3\n",
                    b"large": b"x" * 5_000,
                    b"module": (MODULE, b"1" * 40),
                }
            )
        ],
    )[0]
    return Repository(tmp_path / "r"), head


def test_blobs_are_read_by_name_and_by_id(written: tuple[Repository, str]) -> None:
    repository, head = written
    with BlobReader(repository) as blobs:
        assert blobs.read(f"{head}:f3") == b"3\n3\n3\n"
        assert blobs.read(blobs.look(f"{head}:f3").id) == b"3\n3\n3\n"
        assert blobs.read(f"{head}:nul") == b"a\x00b\nblob 3\n"
        assert blobs.read(f"{head}:d/empty") == b""
        assert blobs.read(file_name(head, decode_path(ODD))) == b"odd"
        assert [blobs.look(f"{head}:{path}").size for path in ("large", "d/empty", "no")] == [5000, 0, None]
        names = [file_name(head, f"f{n}") for n in range(300)]
        assert list(blobs.read_many(names)) == [b"%d\n" % n * n for n in range(300)]
        assert list(blobs.read_many([])) == []


def test_what_is_not_read_has_a_reason(written: tuple[Repository, str]) -> None:
    repository, head = written
    with BlobReader(repository, largest=4_000) as blobs:
        reasons = {
            f"{head}:no": "is not in the repository", "0" * 40: "is not in the repository",
            f"{head}:d": "is a tree, not a file", head: "is a commit, not a file",
            f"{head}:large": "5,000 bytes, over the limit of 4,000", "": "has a name that git cannot look up",
            "a\nb": "has a name that git cannot look up", f"{head}:module": "is not in the repository",
            f"{head}:f1": "",
        }  # fmt: skip
        assert {name: blobs.look(name).problem for name in reasons} == reasons
        assert list(blobs.read_many(reasons)) == [None] * 8 + [b"1\n"]
        assert blobs.look(f"{head}:large").size == 5_000
        long = f"{head}:{'d/' * 3_000}f"
        assert list(blobs.read_many([f"{head}:f1", long, f"{head}:f2"])) == [b"1\n", None, b"2\n2\n"]
    for commit in ("--batch", "a..b", ""):
        with pytest.raises(UserError, match="is not a commit"):
            file_name(commit, "f")


def test_a_damaged_blob_is_none_and_the_others_are_read(written: tuple[Repository, str]) -> None:
    repository, head = written
    folder = repository.git_dir
    packs = list((folder / "objects" / "pack").glob("*.pack"))
    data = packs[0].read_bytes()
    for file in packs[0].parent.iterdir():
        file.unlink()
    subprocess.run(["git", "unpack-objects", "-q"], cwd=folder, input=data, check=True)
    ids = [repository.run("rev-parse", f"{head}:f{n}").decode().strip() for n in (5, 6)]
    for identity, harm in zip(ids, (b"damaged", b""), strict=True):
        loose = folder / "objects" / identity[:2] / identity[2:]
        loose.chmod(0o644)
        loose.write_bytes(harm)
    with BlobReader(repository) as blobs:
        wanted = [f"{head}:f{n}" for n in range(4, 8)]
        assert list(blobs.read_many(wanted)) == [b"4\n" * 4, None, None, b"7\n" * 7]


def test_a_partial_clone_says_so_and_fetches_nothing(tmp_path: Path, written: tuple[Repository, str]) -> None:
    repository, head = written
    subprocess.run(["git", "config", "uploadpack.allowFilter", "true"], cwd=repository.git_dir, check=True)
    clone = tmp_path / "clone"
    origin = f"file://{repository.git_dir}"
    subprocess.run(["git", "clone", "-q", "--bare", "--filter=blob:none", origin, str(clone)], check=True)
    with BlobReader(Repository(clone)) as blobs:
        assert blobs.read(f"{head}:f3") is None
        problem = blobs.look(f"{head}:f3").problem
        assert "is not in the repository" in problem or "partial" in problem
        assert list(blobs.read_many([f"{head}:f3", f"{head}:f4"])) == [None, None]
    assert not list((clone / "objects").glob("??/*"))


def test_a_process_that_was_killed_is_started_anew(
    written: tuple[Repository, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, head = written
    started = starts(monkeypatch)
    with BlobReader(repository) as blobs:
        assert blobs.read(f"{head}:f1") == b"1\n"
        assert len(started) == 2
        for git in started:
            git.kill()
        assert blobs.read(f"{head}:f2") == b"2\n2\n"
