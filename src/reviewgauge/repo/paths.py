"""Paths as git stores them (any bytes) and as records hold them (safe text), one to one.

A record's path is UTF-8 text without control characters, backslashes, `..` or a leading `/` or `~`. A byte of a git
path that does not fit is shown as the private character U+F000 + byte, and turned back on the way to git, so that
an odd name neither breaks a record nor is lost. Ordinary names, accents and spaces included, stay as they are.
"""

from __future__ import annotations

import errno
import re

_HIDDEN = 0xF000
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ABOUT_NAMES = frozenset(
    {errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOENT}
)
_QUOTED = re.compile(rb'\\([0-3][0-7]{2}|[abtnvfr"\\])')


def _hide(raw: bytes) -> str:
    return "".join(chr(_HIDDEN + byte) for byte in raw)


def decode_path(raw: bytes) -> str:
    """The text of a record's path for a path of git. Never fails; `encode_path` gives the bytes back."""
    text = "".join(
        _hide(c.encode("utf-8", "surrogateescape")) if _odd(c) else c for c in raw.decode("utf-8", "surrogateescape")
    )
    if text.startswith(("/", "~")):
        text = _hide(text[0].encode()) + text[1:]
    if text[1:3] == ":/":
        text = text[0] + _hide(b":") + text[2:]
    if ".." in text:
        text = "/".join(_hide(b"..") if part == ".." else part for part in text.split("/"))
    return text


def _odd(c: str) -> bool:
    code = ord(c)
    return code < 32 or c == "\\" or code == 127 or 0xD800 <= code <= 0xDFFF or _HIDDEN <= code <= _HIDDEN + 0xFF


def encode_path(path: str) -> bytes:
    """The path of git behind the text of a record's path."""
    parts = bytearray()
    for c in path:
        hidden = ord(c) - _HIDDEN
        parts += bytes([hidden]) if 0 <= hidden <= 0xFF else c.encode("utf-8", "surrogatepass")
    return bytes(parts)


def unquote(text: str) -> bytes:
    """The bytes behind a path as git prints it: as it is, or in double quotes with C escapes."""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) < 2 or not (raw.startswith(b'"') and raw.endswith(b'"')):
        return raw
    return _QUOTED.sub(_unescape, raw[1:-1])


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1].decode("ascii")
    return bytes([_ESCAPES[code] if code in _ESCAPES else int(code, 8)])


def refuses_name(error: OSError) -> bool:
    """Whether a file system does not take a file of that name, whatever room there is."""
    return error.errno in _ABOUT_NAMES
