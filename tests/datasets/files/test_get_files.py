from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from reviewgauge.core.data_card import Card, Origin
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.get import FilesGot, fetch_files
from reviewgauge.datasets.martian import Martian

CONTENT = bytes(range(256)) * 4000  # 1 MB, several pieces


class Server(ThreadingHTTPServer):
    """A real server on the loopback interface that misbehaves on request and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {"/data.json": CONTENT, "/sub/more.json": b"more"}
        self.cut: int | None = None  # bytes after which an answer breaks off
        self.ranges = True
        self.asked: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers["Range"]
        self.server.asked.append((self.path, wanted))
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.ranges else 0
        body = content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if self.server.cut is None else body[: self.server.cut])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def origin(name: str = "data.json", content: bytes = CONTENT) -> Origin:
    digest = hashlib.sha256(content).hexdigest()
    return Origin(name=name, url=f"https://unreachable.invalid/{name}", sha256=digest, size=len(content))


class Files(Martian):
    """A data set of files of these tests."""

    files: ClassVar[tuple[Origin, ...]]

    @property
    def card(self) -> Card:
        return super().card.model_copy(update={"files": self.files})


def fetch(files: list[Origin], folder: Path, url: str, progress: Progress | None = None) -> int:
    """How many files came now, from a server at `url`."""
    Files.files = tuple(one.model_copy(update={"url": f"{url}/{one.name}"}) for one in files)
    return fetch_files(Files(), out=folder, progress=progress).fetched


def take(files: Sequence[Origin], source: Path, target: Path) -> FilesGot:
    Files.files = tuple(files)
    return fetch_files(Files(), source=source, out=target)


def left(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_files_come_whole_and_with_progress(server: Server, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    files = [origin(), origin("sub/more.json", b"more")]
    done = fetch(files, tmp_path, server.url, progress=lambda *call: seen.append(call))
    assert done == 2
    assert (tmp_path / "data.json").read_bytes() == CONTENT
    assert left(tmp_path) == ["data.json", "sub/more.json"]
    counted = [there for there, _, name in seen if name == "data.json"]
    assert counted == sorted(counted) and counted[-1] == len(CONTENT) and len(counted) > 2


def test_what_is_there_and_right_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    fetch([origin()], tmp_path, server.url)
    assert fetch([origin()], tmp_path, server.url) == 0
    assert len(server.asked) == 1
    (tmp_path / "data.json").write_bytes(CONTENT[:-1] + b"x")  # right size, wrong content
    assert fetch([origin()], tmp_path, server.url) == 1
    assert (tmp_path / "data.json").read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_the_old_file_and_no_new_one(server: Server, tmp_path: Path) -> None:
    server.files["/data.json"] = CONTENT[:-1] + b"x"
    (tmp_path / "data.json").write_bytes(b"mine")
    with pytest.raises(UserError, match="wrong checksum"):
        fetch([origin()], tmp_path, server.url)
    assert left(tmp_path) == ["data.json"] and (tmp_path / "data.json").read_bytes() == b"mine"


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_answer_is_continued(server: Server, tmp_path: Path, ranges: bool) -> None:
    server.cut, server.ranges = 500_000, ranges
    with pytest.raises(UserError, match=r"500,000 of 1,024,000|cannot reach"):
        fetch([origin()], tmp_path, server.url)
    assert not (tmp_path / "data.json").exists()
    kept = (tmp_path / "data.json.part").stat().st_size
    assert 0 < kept <= 500_000
    server.cut = None
    fetch([origin()], tmp_path, server.url)
    assert server.asked[-1] == ("/data.json", f"bytes={kept}-")
    assert (tmp_path / "data.json").read_bytes() == CONTENT and left(tmp_path) == ["data.json"]


def test_a_stale_part_that_does_not_fit_is_thrown_away(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.json.part").write_bytes(b"y" * 300)
    with pytest.raises(UserError, match="wrong checksum"):
        fetch([origin()], tmp_path, server.url)
    fetch([origin()], tmp_path, server.url)
    (tmp_path / "data.json").unlink()
    (tmp_path / "data.json.part").write_bytes(b"y" * (len(CONTENT) + 1))
    fetch([origin()], tmp_path, server.url)
    assert (tmp_path / "data.json").read_bytes() == CONTENT


def test_more_than_the_official_size_is_not_stored(server: Server, tmp_path: Path) -> None:
    server.files["/data.json"] = CONTENT * 3
    with pytest.raises(UserError, match="sends more than"):
        fetch([origin()], tmp_path, server.url)
    assert left(tmp_path) == []


def test_one_line_for_what_the_network_does(server: Server, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="answered 404") as caught:
        fetch([origin("absent.json")], tmp_path, server.url)
    assert "\n" not in str(caught.value)
    with pytest.raises(UserError, match="cannot reach"):
        fetch([origin()], tmp_path, "http://127.0.0.1:1")
    with pytest.raises(UserError, match="not an http or https"):
        fetch([origin()], tmp_path, "file:///etc")
    assert left(tmp_path) == []


def test_a_name_that_climbs_out_is_refused(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.\./evil"):
        fetch([origin("../evil")], tmp_path / "in", server.url)
    assert server.asked == []


def test_take_copies_and_says_what_is_official(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "data.json").write_bytes(CONTENT)
    (source / "other.json").write_bytes(b"an excerpt")
    (source / "private.txt").write_text("is not part of the data set")
    files = [origin(), origin("other.json", b"the whole"), origin("absent.json")]
    assert take(files, source, target) == (target, 2, 2, ("other.json",), ("absent.json",))
    assert left(target) == ["data.json", "other.json"]
    with pytest.raises(UserError, match="holds none of"):
        take([origin("absent.json")], source, target)
    with pytest.raises(UserError, match="is not a folder"):
        take(files, source / "data.json", target)
    with pytest.raises(UserError, match="is the target folder"):
        take(files, source, source)


def test_the_files_at_hand_are_those_of_the_card(shared_data: Path, tmp_path: Path) -> None:
    """The goldens and AACR's files are the official ones; Martian's results at hand are cut to three repositories."""
    aacr = take(read_card("aacr_bench").files, shared_data / "aacr-bench", tmp_path / "a")
    assert aacr.differs == aacr.absent == ()
    martian = take(read_card("martian").files, shared_data / "martian", tmp_path / "m")
    assert "golden_comments/keycloak.json" in martian.absent
    assert len(martian.differs) == 6 and all(name.startswith("results/") for name in martian.differs)
