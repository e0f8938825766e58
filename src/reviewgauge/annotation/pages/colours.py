"""Lines of code as marked-up text: syntax colours, visible whitespace, and codes for characters that hide."""

from __future__ import annotations

import hashlib
import threading
import unicodedata
import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup, escape
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

LONGEST = 1000  # characters of a line before it is cut
_MOST_COLOURED = 200_000  # characters that are read as one piece of code
_BLANKS = " \t\f\v\r"


class _Packed:
    """The colours of pieces of code, compressed: raters see the same ones, and colouring is what a page waits for."""

    def __init__(self, most: int = 64_000_000) -> None:
        self._most, self._size = most, 0
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: bytes, make: Callable[[], str]) -> str:
        """What is kept under a name; made where it is not."""
        with self._lock:
            raw = self._kept.get(name)
            if raw is not None:
                self._kept.move_to_end(name)
        if raw is not None:
            return zlib.decompress(raw).decode("utf-8", "surrogatepass")
        text = make()
        raw = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
        with self._lock:
            self._size += len(raw) - len(self._kept.pop(name, b""))
            self._kept[name] = raw
            while self._size > self._most:
                self._size -= len(self._kept.popitem(last=False)[1])
        return text


_packed = _Packed()


def coloured(path: str, lines: Sequence[str]) -> list[Markup]:
    """The lines with their tokens in spans. A line is never lost or changed, whatever the lexer makes of it."""
    cut = [line if len(line) <= LONGEST else line[:LONGEST] + "…" for line in lines]
    text = "\n".join(cut)
    if not cut or len(text) > _MOST_COLOURED:
        return [_markup([("", line)]) for line in cut]
    name = hashlib.sha256(f"{path}\0{text}".encode("utf-8", "surrogatepass")).digest()
    return [Markup(line) for line in _packed.get(name, lambda: "\n".join(_marked(path, cut, text))).split("\n")]


def _marked(path: str, cut: Sequence[str], text: str) -> list[Markup]:
    tokens = _tokens(path, text)
    if ["".join(part for _, part in line) for line in tokens] != cut:
        tokens = [[("", line)] for line in cut]
    return [_markup(line) for line in tokens]


def _tokens(path: str, text: str) -> list[list[tuple[str, str]]]:
    """(class, text) of each token, line by line."""
    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False, ensurenl=False)
    found: list[list[tuple[str, str]]] = [[]]
    for _, kind, value in lexer.get_tokens_unprocessed(text):
        name = _class_of(kind)
        for at, piece in enumerate(value.split("\n")):
            if at:
                found.append([])
            if piece:
                found[-1].append((name, piece))
    return found


def _class_of(kind: Any) -> str:
    """The style class of a kind of token, or of the nearest kind above it that has one."""
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    return str(STANDARD_TYPES.get(kind, ""))


def _markup(tokens: Sequence[tuple[str, str]]) -> Markup:
    """One line. Tabs, blanks at the end, carriage returns and characters that hide or reorder text are marked."""
    whole = "".join(text for _, text in tokens)
    body, at = len(whole.rstrip(_BLANKS)), 0
    parts: list[str] = []
    for name, text in tokens:
        if text.isprintable() and at + len(text) <= body:
            inner = str(escape(text))
        else:
            inner = "".join(_character(one, at + offset >= body) for offset, one in enumerate(text))
        parts.append(f'<span class="{name}">{inner}</span>' if name else inner)
        at += len(text)
    return Markup("".join(parts))  # every character was escaped


def _character(one: str, trailing: bool) -> str:
    if one == "\t":
        return '<span class="tab">\t</span>'
    if one == "\r":
        return '<span class="odd">CR</span>'
    if trailing and one in _BLANKS:
        return f'<span class="trail">{one}</span>'
    if one != " " and unicodedata.category(one) in ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"):
        return f'<span class="odd">U+{ord(one):04X}</span>'
    return str(escape(one))
