"""An HTTP/1.1 answer, put together from the bytes as they come. Source: RFC 9112."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

LARGEST = 16 * 1024**2  # bytes of one answer, packed or not; the longest that models write are a tenth of that
_MOST = 2 * LARGEST  # bytes on the line, with the frames of chunks
_MOST_CHUNKS = 20_000  # each takes its time, which all calls share
_MOST_INTERIM = 100  # answers that only say that one will come
_LONGEST_HEAD = 256 * 1024  # bytes of a status line with its headers
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?")
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?")
_OF_THE_LINE = (b"content-encoding", b"content-length", b"transfer-encoding")  # not of what was sent over it
Header = tuple[bytes, bytes]


class Garbled(Exception):
    """The bytes are not HTTP answer, or stop before it is whole."""


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
        self._chunks = bytearray()
        self._pieces = 0  # chunks, or interim answers before them
        self._seen = 0  # bytes on the line so far
        self._whole = False

    def feed(self, data: bytes) -> bool:
        """Take more bytes; whether the answer is whole now. Raises Garbled."""
        known = len(self._rest)
        self._rest += data
        self._seen += len(data)
        if len(self._rest) > LARGEST + _LONGEST_HEAD or self._seen > _MOST:
            raise _too_large()
        while not self.status:
            if not self._read_head(max(0, known - 3)):
                return False
            known = 0
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

    def _read_head(self, known: int) -> bool:
        """Read status and headers, where they are there. Interim answers (1xx) are passed over.

        In the first `known` bytes no end of the headers begins.
        """
        end = self._rest.find(b"\r\n\r\n", known)
        if end < 0:
            if len(self._rest) > _LONGEST_HEAD or not self._rest.startswith(b"HTTP/1."[: len(self._rest)]):
                raise Garbled("the answer is not HTTP")
            return False
        if end > _LONGEST_HEAD:
            raise Garbled("the answer's headers never end")
        first, *lines = bytes(self._rest[:end]).split(b"\r\n")
        del self._rest[: end + 4]
        found = _STATUS.fullmatch(first)
        if found is None:
            raise Garbled("the answer is not HTTP")
        status = int(found[2])
        if status < 200:
            self._count(_MOST_INTERIM)
            return bool(self._rest)
        self.headers = [_header(line) for line in lines]
        self._measure(found[1] == b"1", status)
        self.status = status
        return True

    def _count(self, most: int) -> None:
        self._pieces += 1
        if self._pieces > most:
            raise Garbled("the answer comes in too many pieces")

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
            modern = modern and not lengths  # two lengths: where it ends may be meant in two ways
        elif lengths:
            length = lengths.pop()
            if lengths or not length.isdigit() or len(length) > 15:
                raise Garbled("the answer does not say how long it is")
            self._length = int(length)
            if self._length > LARGEST:
                raise _too_large()
        wishes = {wish.strip() for value in named.get(b"connection", ()) for wish in value.split(b",")}
        self.keeps = (b"close" not in wishes) if modern else (b"keep-alive" in wishes and not (coding and lengths))

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
                elif len(rest) - end > _LONGEST_HEAD:
                    raise Garbled("the answer's trailers never end")
                break
            stop = end + 2 + size
            if len(rest) < stop + 2:
                break
            if rest[stop : stop + 2] != b"\r\n":
                raise Garbled("the answer is cut into no chunks")
            self._count(_MOST_CHUNKS)
            self._chunks += rest[end + 2 : stop]
            at = stop + 2
        else:
            if len(rest) - at > 1024:
                raise Garbled("the answer is cut into no chunks")
        del rest[:at]
        if len(self._chunks) > LARGEST:
            raise _too_large()
        if whole:
            self.body, self._chunks = bytes(self._chunks), bytearray()
        return whole


def _header(line: bytes) -> Header:
    name, colon, value = line.partition(b":")
    if not colon or not _TOKEN.fullmatch(name) or any(bad in value for bad in (b"\x00", b"\r", b"\n")):
        raise Garbled("the answer's headers are none")
    return name, value.strip(b" \t")


def _too_large() -> Garbled:
    return Garbled(f"the answer is over {LARGEST:,} bytes")


def unpacked(headers: Sequence[Header], body: bytes) -> tuple[list[Header], bytes]:
    """(the headers that still hold, the body as it was before it was packed). Raises Garbled.

    A small body may unpack to a thousand times its size, so it is unpacked no further than to LARGEST bytes.
    """
    kept = [(name, value) for name, value in headers if name.lower() not in _OF_THE_LINE]
    coded = b",".join(value for name, value in headers if name.lower() == b"content-encoding")
    coding = coded.strip().lower()
    if coding in (b"", b"identity"):
        return kept, body
    if coding not in (b"gzip", b"x-gzip", b"deflate"):
        raise Garbled("the answer is packed in a way that was not asked for")
    if not body:
        return kept, body
    raw = coding == b"deflate" and not _has_zlib_head(body)
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS if raw else zlib.MAX_WBITS | 32)
    try:
        found = unpacker.decompress(body, LARGEST + 1)
    except zlib.error:
        raise Garbled("the answer is packed badly") from None
    if len(found) > LARGEST:
        raise _too_large()
    if not unpacker.eof:
        raise Garbled("the answer is cut off")
    return kept, found


def _has_zlib_head(body: bytes) -> bool:
    """Whether a deflated body has the two bytes before it that it should; some servers leave them out (RFC 9110)."""
    return len(body) > 1 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
