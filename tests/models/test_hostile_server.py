"""A server that wants memory, time or the key gets none of them: each ends in a typed failure."""

from __future__ import annotations

import gzip
import itertools
import json
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pytest

from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.http.address import LARGEST
from reviewgauge.models.request.messages import Request, user
from reviewgauge.models.request.model_spec import ChatSettings
from scripted_endpoint import KEY, OpenAI, Protocol, Say, Scripted

pytestmark = pytest.mark.usefixtures("own_environment")
HI = Request(messages=(user("Say yes."),))
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
SIZED = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
PACKED = OK + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"


@cache
def bomb() -> bytes:
    """What unpacks to 40 times the most that is read."""
    return gzip.compress(bytes(40 * LARGEST), compresslevel=9)


Bytes = Callable[[], Iterable[bytes]]


class Hostile:
    """Sends what it likes to whoever comes, as long as they listen."""

    def __init__(self, says: Bytes) -> None:
        self._says = says
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.asked = 0
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._socket.accept()
            except OSError:
                return
            with line:
                self._talk(line)

    def _talk(self, line: socket.socket) -> None:
        line.recv(65_536)
        self.asked += 1
        try:
            for part in self._says():
                line.sendall(part)
        except OSError:
            return

    def stop(self) -> None:
        self._socket.close()


def endless(start: bytes, part: bytes) -> Bytes:
    return lambda: itertools.chain([start], itertools.repeat(part * (65_536 // len(part))))


ATTACKS: dict[str, tuple[Bytes, str]] = {
    "a gzip bomb": (lambda: [SIZED % len(bomb()), bomb()], "over"),
    "a gzip bomb in chunks": (lambda: [PACKED, b"%x\r\n" % len(bomb()), bomb(), b"\r\n0\r\n\r\n"], "over"),
    "headers without end": (endless(OK, b"X-A: b\r\n"), "not valid HTTP"),
    "one header without end": (endless(OK + b"X-A: ", b"b"), "not valid HTTP"),
    "a body without end": (endless(OK + b"\r\n", b"x"), "over"),
    "chunks without end": (endless(CHUNKED, b"1\r\nx\r\n"), "too many pieces"),
    "empty words beside chunks": (endless(CHUNKED, b"1;" + b"a" * 900 + b"\r\nx\r\n"), "too many pieces"),
    "trailers without end": (endless(CHUNKED + b"0\r\n", b"X-A: b\r\n"), "not valid HTTP"),
    "a length that nobody has": (lambda: [OK + b"Content-Length: 99999999999\r\n\r\n"], "over"),
    "a chunk that nobody has": (endless(CHUNKED + b"FFFFFFFF\r\n", b"x"), "over"),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.drill
def test_what_has_no_end_is_cut_off(name: str) -> None:
    says, words = ATTACKS[name]
    server = Hostile(says)
    with ChatClient(ChatSettings(cache=False, patience=0.0001)) as client, pytest.raises(Failed, match=words) as caught:
        client.model(f"openai:m@{server.url}/v1").ask(HI)
    server.stop()
    assert caught.value.kind is FailureKind.NETWORK and KEY not in str(caught.value)
    assert server.asked > 1


@pytest.mark.drill
def test_a_bomb_is_unpacked_no_further_than_it_may() -> None:
    parts = [SIZED % len(bomb()), bomb()]  # made before memory is measured: it takes 650 MB
    server = Hostile(lambda: parts)
    with ChatClient(ChatSettings(cache=False, patience=0.0001)) as client:
        model = client.model(f"openai:m@{server.url}/v1")
        tracemalloc.start()
        try:
            with pytest.raises(Failed, match="over"):
                model.ask(HI)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    server.stop()
    assert most < 4 * LARGEST, f"{most:,} bytes were held"


@pytest.mark.slow
def test_interim_answers_without_end_end_at_the_deadline() -> None:
    server = Hostile(endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"))
    with ChatClient(ChatSettings(cache=False, patience=0.0001)) as client, pytest.raises(Failed) as caught:
        client.model(f"openai:m@{server.url}/v1?timeout=1").ask(HI)
    server.stop()
    assert caught.value.kind is FailureKind.TIMEOUT


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw deflate", "identity"])
def test_packed_answers_come_out_whole(coding: str) -> None:
    plain = json.dumps(OpenAI().good()).encode()
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    packed = {
        "gzip": gzip.compress(plain),
        "deflate": zlib.compress(plain),
        "raw deflate": raw.compress(plain) + raw.flush(),
        "identity": plain,
    }[coding]
    head = b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (coding.rsplit(maxsplit=1)[-1].encode(), len(packed))
    server = Hostile(lambda: [OK + head, packed])
    with ChatClient(ChatSettings(cache=False, patience=0.0001)) as client:
        assert client.model(f"openai:m@{server.url}/v1").ask(HI).text == "yes"
    server.stop()


def test_what_follows_an_answer_is_nobodys() -> None:
    """The first answer brings a second one along: it must not be taken for the answer to the next question."""
    good = json.dumps(OpenAI().good()).encode()
    evil = good.replace(b"yes", b"EVIL")
    whole = b"".join(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body for body in (good, evil))
    server = Hostile(lambda: [whole])
    with ChatClient(ChatSettings(cache=False, patience=0.0001)) as client:
        model = client.model(f"openai:m@{server.url}/v1")
        assert [model.ask(HI, trial=trial).text for trial in (1, 2, 3)] == ["yes"] * 3
    server.stop()


@pytest.fixture
def elsewhere() -> Iterator[Scripted]:
    made = Scripted(lambda _: Say(OpenAI().good()))
    yield made
    made.stop()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("behind_a_proxy", [False, True])
def test_no_redirect_takes_the_key_elsewhere(
    status: int,
    behind_a_proxy: bool,
    protocol: Protocol,
    server: Scripted,
    elsewhere: Scripted,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.always = lambda _: Say(status=status, headers={"Location": f"{elsewhere.url}/v1", "Set-Cookie": "a=b"})
    if behind_a_proxy:
        monkeypatch.setenv("http_proxy", server.url)
        monkeypatch.setenv("no_proxy", "")
    with ChatClient(ChatSettings(cache=False, patience=0.0001)) as client, pytest.raises(Failed):
        client.model(protocol.spec(server)).ask(HI)
    assert server.asked and not elsewhere.asked
    assert not any("cookie" in asked.headers for asked in server.asked)
