from __future__ import annotations

import hashlib
import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.engine.bundle import archive
from reviewgauge.engine.bundle.archive import unpack, write_archive


@pytest.fixture
def into(tmp_path: Path) -> Path:
    return tmp_path / "into"


def make_zip(path: Path, *names: str | zipfile.ZipInfo, content: bytes = b"x") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name in names:
            made.writestr(name, content)
    return path


def test_the_same_files_give_the_same_bytes_and_come_out(tmp_path: Path, into: Path) -> None:
    source = tmp_path / "one" / "b" / "漢.txt"
    source.parent.mkdir(parents=True)
    source.write_bytes(b"hello" * 1000)
    write_archive(tmp_path / "one.zip", tmp_path / "one")
    os.utime(source, (1, 1))
    source.chmod(0o600)
    write_archive(tmp_path / "two.zip", tmp_path / "one")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert unpack(tmp_path / "one.zip", into) == {"b/漢.txt": hashlib.sha256(b"hello" * 1000).hexdigest()}
    assert (into / "b" / "漢.txt").read_bytes() == source.read_bytes()


@pytest.mark.parametrize(("name", "said"), [
    ("../out.txt", "climbs out of its folder"),
    ("/etc/out.txt", "absolute path"), ("a\\..\\out.txt", "backslash"), ("a/./b", "unclear name"),
    ("a\nb", "control character"),
])  # fmt: skip
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, into: Path, name: str, said: str) -> None:
    path = make_zip(tmp_path / "bad.zip", "good.txt", name)
    with pytest.raises(BadInput, match=said):
        unpack(path, into)
    assert not into.exists(), "nothing is written before everything was looked at"
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(tmp_path: Path, into: Path, kind: int) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = (kind | 0o777) << 16
    with pytest.raises(BadInput, match="a link or a device"):
        unpack(make_zip(tmp_path / "bad.zip", info, content=b"/etc/passwd"), into)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("names", [("a.txt", "a.txt"), ("a.txt", "A.TXT")])
def test_a_name_that_occurs_twice_is_refused(tmp_path: Path, into: Path, names: tuple[str, str]) -> None:
    with pytest.raises(BadInput, match="one name twice"):
        unpack(make_zip(tmp_path / "bad.zip", *names), into)


def test_too_many_files_are_refused(tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_FILES", 1)
    with pytest.raises(BadInput, match="holds 2 files, over 1"):
        unpack(make_zip(tmp_path / "bad.zip", "a", "b"), into)


def patch_size(path: Path, size: int) -> None:
    """Write another unpacked size into the central directory of an archive with one file."""
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", size)
    path.write_bytes(data)


def test_a_size_beyond_the_limit_is_refused_unread(tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGEST", 1000)
    path = make_zip(tmp_path / "bomb.zip", "a", content=b"0" * 1000)
    patch_size(path, 1001)
    with pytest.raises(BadInput, match="unpacks to"):
        unpack(path, into)
    assert not into.exists()


def test_a_file_that_unpacks_to_more_than_it_says_does_not(tmp_path: Path, into: Path) -> None:
    path = make_zip(tmp_path / "liar.zip", "a", content=b"0" * 5_000_000)
    patch_size(path, 10)
    with pytest.raises(BadInput, match="not a whole bundle"):
        unpack(path, into)
    assert sum(file.stat().st_size for file in into.iterdir()) <= 10


@pytest.mark.parametrize("keep", [0, 1, 40, -30, -1])
def test_a_truncated_archive_is_one_clear_error(tmp_path: Path, into: Path, keep: int) -> None:
    path = make_zip(tmp_path / "a.zip", "a.txt", "b.txt", content=os.urandom(500))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(UserError, match="is the file complete"):
        unpack(path, into)


def test_an_encrypted_archive_is_refused(tmp_path: Path, into: Path) -> None:
    path = make_zip(tmp_path / "a.zip", "a.txt")
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(BadInput, match="encrypted"):
        unpack(path, into)


def test_a_missing_file_is_a_user_error(tmp_path: Path, into: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        unpack(tmp_path / "nowhere.zip", into)
