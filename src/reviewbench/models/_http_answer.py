"""An HTTP/1.1 answer, put together from the bytes as they come. Source: RFC 9112."""

from __future__ import annotations

import re

LARGEST = 64 * 1024**2  # bytes of one answer; the longest that models write are a hundredth of that
_LONGEST_HEAD = 256 * 1024  # bytes of a status line with its headers
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?")
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?")
Header = tuple[bytes, bytes]


class Garbled(Exception):
    """The bytes are no HTTP answer, or stop before it is whole."""


class HttpAnswer:
    """`feed` takes bytes until the answer is whole; then `status`, `headers` and `body` hold it.

    `keeps`: the connection may be used again. The body is as sent, so it may still be compressed.
    """

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[Header] = []
        self.body = b""
        self.keeps = False
        self._rest = bytearray()
        self._length: int | None = None  # of the body; None: chunked, or up to the end of the line
        self._chunked = False
        self._chunks: list[bytes] = []
        self._size = 0  # bytes in them
        self._whole = False

    def feed(self, data: bytes) -> bool:
        """Take more bytes; whether the answer is whole now. Raises Garbled."""
        self._rest += data
        if len(self._rest) > LARGEST:
            raise Garbled(f"the answer is over {LARGEST:,} bytes")
        while not self.status:
            if not self._read_head():
                return False
        self._whole = self._read_chunks() if self._chunked else self._read_length()
        if self._whole and self._rest:
            self.keeps = False  # more than was announced: whose it is cannot be known
        return self._whole

    def end(self) -> None:
        """The other side closed. Raises Garbled where the answer is not whole without more."""
        if self._whole:
            return
        if not self.status:
            raise Garbled("the other side hung up in the middle of its answer" if self._rest else "no answer came")
        if self._chunked or self._length is not None:
            raise Garbled("the answer is cut off")
        self.body, self._whole, self.keeps = bytes(self._rest), True, False

    def _read_head(self) -> bool:
        """Read status and headers, where they are there. Interim answers (1xx) are passed over."""
        end = self._rest.find(b"\r\n\r\n")
        if end < 0:
            if len(self._rest) > _LONGEST_HEAD or not self._rest.startswith(b"HTTP/1."[: len(self._rest)]):
                raise Garbled("the answer is not HTTP")
            return False
        first, *lines = bytes(self._rest[:end]).split(b"\r\n")
        del self._rest[: end + 4]
        found = _STATUS.fullmatch(first)
        if found is None:
            raise Garbled("the answer is not HTTP")
        status = int(found[2])
        if status < 200:
            return bool(self._rest)
        self.headers = [_header(line) for line in lines]
        self._measure(found[1] == b"1", status)
        self.status = status
        return True

    def _measure(self, modern: bool, status: int) -> None:
        """How long the body is, and whether the connection is kept."""
        named: dict[bytes, list[bytes]] = {}
        for name, value in self.headers:
            named.setdefault(name.lower(), []).append(value.lower())
        coding = b",".join(named.get(b"transfer-encoding", ()))
        lengths = {length.strip() for value in named.get(b"content-length", ()) for length in value.split(b",")}
        if status in (204, 304):
            self._length = 0
        elif coding:
            if coding.strip() != b"chunked":
                raise Garbled("the answer is encoded in a way that was not asked for")
            self._chunked = True
        elif lengths:
            length = lengths.pop()
            if lengths or not length.isdigit() or len(length) > 15:
                raise Garbled("the answer does not say how long it is")
            self._length = int(length)
            if self._length > LARGEST:
                raise Garbled(f"the answer is over {LARGEST:,} bytes")
        wishes = {wish.strip() for value in named.get(b"connection", ()) for wish in value.split(b",")}
        self.keeps = (b"close" not in wishes) if modern else (b"keep-alive" in wishes)

    def _read_length(self) -> bool:
        if self._length is None or len(self._rest) < self._length:
            return False
        self.body = bytes(self._rest[: self._length])
        del self._rest[: self._length]
        return True

    def _read_chunks(self) -> bool:
        """Read the chunks that are there. The last one is empty, and trailers may follow it."""
        at, rest = 0, self._rest
        whole = False
        while (end := rest.find(b"\r\n", at)) >= 0:
            found = _CHUNK.fullmatch(rest, at, end)
            if found is None:
                raise Garbled("the answer is cut into no chunks")
            size = int(found[1], 16)
            if size == 0:
                after = end if rest[end : end + 4] == b"\r\n\r\n" else rest.find(b"\r\n\r\n", end)
                if after >= 0:
                    whole, at = True, after + 4
                break
            stop = end + 2 + size
            if len(rest) < stop + 2:
                break
            if rest[stop : stop + 2] != b"\r\n":
                raise Garbled("the answer is cut into no chunks")
            self._chunks.append(bytes(rest[end + 2 : stop]))
            self._size += size
            at = stop + 2
        else:
            if len(rest) - at > 1024:
                raise Garbled("the answer is cut into no chunks")
        del rest[:at]
        if self._size > LARGEST:
            raise Garbled(f"the answer is over {LARGEST:,} bytes")
        if whole:
            self.body, self._chunks = b"".join(self._chunks), []
        return whole


def _header(line: bytes) -> Header:
    name, colon, value = line.partition(b":")
    if not colon or not _TOKEN.fullmatch(name) or b"\x00" in value:
        raise Garbled("the answer's headers are none")
    return name, value.strip(b" \t")
