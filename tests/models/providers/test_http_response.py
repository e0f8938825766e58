"""HTTP answers, however their bytes are cut up on the way."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.models.providers.http_response import LARGEST, Garbled, HttpAnswer

OK = b"HTTP/1.1 200 OK\r\n"


def read(content: bytes, cuts: list[int] | None = None, closed: bool = False) -> HttpAnswer:
    answer = HttpAnswer()
    places = sorted({0, len(content), *(cut % (len(content) + 1) for cut in cuts or [])})
    for start, stop in pairwise(places):
        answer.feed(content[start:stop])
    if closed:
        answer.end()
    return answer


def chunked(parts: list[bytes]) -> bytes:
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts if part)
    return OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


def measured(body: bytes) -> bytes:
    return OK + b"Content-Length: %d\r\nX-A: b\r\n\r\n" % len(body) + body


@given(st.lists(st.binary(max_size=40), max_size=6), st.lists(st.integers(0, 500), max_size=8), st.booleans())
def test_any_cut_gives_the_same_answer(parts: list[bytes], cuts: list[int], in_chunks: bool) -> None:
    body = b"".join(parts)
    answer = read(chunked(parts) if in_chunks else measured(body), cuts)
    assert (answer.status, answer.body, answer.keeps) == (200, body, True)


@given(st.binary(max_size=200), st.lists(st.integers(0, 500), max_size=4))
def test_any_bytes_give_an_answer_or_the_typed_error(content: bytes, cuts: list[int]) -> None:
    for start in (b"", b"HTTP/1.1 ", OK, OK + b"Transfer-Encoding: chunked\r\n\r\n", OK + b"Content-Length: "):
        try:
            answer = read(start + content, cuts, closed=True)
        except Garbled:
            continue
        assert 200 <= answer.status < 1000


@given(st.lists(st.binary(min_size=1, max_size=20), max_size=4), st.booleans())
def test_it_reads_what_h11_reads(parts: list[bytes], in_chunks: bool) -> None:
    content = chunked(parts) if in_chunks else measured(b"".join(parts))
    peer = h11.Connection(h11.CLIENT)
    peer.send(h11.Request(method="GET", target="/", headers=[("Host", "a")]))
    peer.send(h11.EndOfMessage())
    peer.receive_data(content)
    body = b""
    while not isinstance(event := peer.next_event(), h11.EndOfMessage):
        body += bytes(event.data) if isinstance(event, h11.Data) else b""
    assert read(content).body == body


def test_without_a_length_the_end_of_the_line_ends_it() -> None:
    answer = read(OK + b"\r\nall there is", closed=True)
    assert (answer.body, answer.keeps) == (b"all there is", False)


def test_interim_answers_are_passed_over() -> None:
    answer = read(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + measured(b"yes"))
    assert (answer.status, answer.body) == (200, b"yes")


def test_trailers_are_read_away() -> None:
    answer = read(chunked([b"yes"])[:-2] + b"X-Checked: 1\r\n\r\n")
    assert (answer.body, answer.keeps) == (b"yes", True)


@pytest.mark.parametrize(
    ("content", "keeps"),
    [
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n", True),
        (OK + b"Content-Length: 0\r\nConnection: x, Close\r\n\r\n", False),
        (measured(b"yes") + b"more", False),
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
    ],
)
def test_which_connections_are_used_again(content: bytes, keeps: bool) -> None:
    assert read(content).keeps is keeps


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"\x16\x03\x01 TLS",
        b"HTTP/2 200\r\n\r\n",
        measured(b"yes")[:-1],
        chunked([b"yes"])[:-2],
        chunked([b"yes"]).replace(b"3\r\n", b"-3\r\n"),
        chunked([b"yes"]).replace(b"yes\r\n", b"yess\r"),
        OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nyes!",
        OK + b"Content-Length: +3\r\n\r\nyes",
        OK + b"Content-Length: %d\r\n\r\n" % (LARGEST + 1),
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        OK + b"no colon\r\n\r\n",
        OK + b"A: b\r\n folded: c\r\n\r\n",
        OK + b"A" * 300_000,
    ],
)
def test_what_is_no_answer_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(Garbled):
        read(content, closed=True)
