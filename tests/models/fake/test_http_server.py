"""The fake server below the SDKs: bytes that are not a request, pieces, https, and answers that never end."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import openai
import pytest

from reviewgauge.models.fake.server import FakeServer
from waiting import until

ASKED = [{"role": "user", "content": "Is this fine?"}]


@pytest.fixture(scope="module")
def good() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


def test_an_endless_answer_keeps_a_time_out_from_firing() -> None:
    with FakeServer(fail="endless") as server:
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            body = json.dumps({"model": "fake", "messages": ASKED}).encode()
            raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
            raw.settimeout(1)
            got = b""
            while not got.endswith(b" " * 5):
                got += raw.recv(1000)
        assert got.partition(b"\r\n\r\n")[2].strip() == b""
        waiting(server, 0)


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
        b"GET /v1/messages HTTP/1.1\r\n\r\n",
    ],
)
def test_invalid_requests_are_refused(good: FakeServer, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", good.port)) as raw:
        raw.sendall(sent)
        assert raw.recv(1000).startswith(b"HTTP/1.1 4")


def test_requests_in_pieces_and_in_one_piece(good: FakeServer) -> None:
    one = b"GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n"
    with socket.create_connection(("127.0.0.1", good.port)) as raw:
        for byte in one:
            raw.sendall(bytes([byte]))
        assert raw.recv(5000).startswith(b"HTTP/1.1 200")
        raw.sendall(one + one)
        got = b""
        while got.count(b"HTTP/1.1 200") < 2:
            got += raw.recv(5000)


def test_a_chunked_body_is_read(good: FakeServer) -> None:
    body = json.dumps({"model": "fake", "messages": ASKED}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", good.port)) as raw:
        raw.sendall(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        assert raw.recv(5000).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"messages": 1}', b'{"messages": [1]}', b'{"messages": [{"role": "king"}]}', b"\xff",
     b'{"messages": [{"role": "user", "content": 5}], "max_tokens": 9}',
     b'{"messages": [{"role": "user", "content": ""}], "max_tokens": -1}',
     b'{"messages": [{"role": "user", "content": ""}], "max_tokens": 9, "tools": [5]}'],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_a_malformed_body_is_a_400(good: FakeServer, path: str, body: bytes) -> None:
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(urllib.request.Request(good.url + path, data=body))
    assert raised.value.code == 400
    assert json.load(raised.value)["error"]["message"]


def test_https_with_a_certificate_that_nobody_signed(tmp_path: Path) -> None:
    pem = tmp_path / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(pem), "-out", str(tmp_path / "cert.pem"), "-subj", "/CN=localhost"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed: no certificate to serve")
    pem.write_text(pem.read_text() + (tmp_path / "cert.pem").read_text())
    with FakeServer(certificate=pem) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0)
        with client, pytest.raises(openai.APIConnectionError) as raised:
            client.chat.completions.create(model="fake", messages=[{"role": "user", "content": "hello"}])
        assert isinstance(root_cause(raised.value), ssl.SSLCertVerificationError)
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        trusting.check_hostname = False
        with urllib.request.urlopen(f"{server.url}/stats", context=trusting) as reply:
            assert json.load(reply)["calls"] == 0


def root_cause(error: BaseException) -> BaseException:
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return error


def test_a_client_that_asks_first_is_told_to_go_on(good: FakeServer) -> None:
    body = json.dumps({"model": "fake", "messages": ASKED}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: %d\r\n\r\n" % len(body)
    with socket.create_connection(("127.0.0.1", good.port)) as raw:
        raw.sendall(head)
        assert raw.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        raw.sendall(body)
        assert raw.recv(5000).startswith(b"HTTP/1.1 200 OK")


def test_it_counts_how_many_wait_at_the_same_time() -> None:
    body = json.dumps({"model": "fake", "messages": ASKED}).encode()
    with FakeServer(latency=600) as server, ExitStack() as clients:
        for _ in range(8):
            raw = clients.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        assert waiting(server, 8)["peak_in_flight"] == 8
        clients.close()
        assert waiting(server, 0)["answered"] == 0


def waiting(server: FakeServer, count: int) -> dict[str, Any]:
    until(lambda: server.stats()["in_flight"] == count)
    return server.stats()
