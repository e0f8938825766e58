"""Lines of code as marked-up text: syntax colours, visible whitespace, and codes for characters that hide.

Lexers run in a process of their own: many take for ever, or very long, on a few characters of a hostile change. A text
that takes too long stays plain, and all others do for a while, so that no number of them stops the service.
"""

from __future__ import annotations

import atexit
import json
import re
import signal
import sys
import threading
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise
from time import monotonic
from typing import Any

from markupsafe import Markup, escape
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

from reviewgauge.repo.processes import Child, ChildEnded, start_worker

LONGEST = 1000  # characters of a line before it is cut
_MOST_COLOURED = 100_000  # characters that are read as one piece of code
SECONDS = 1.0  # of processor time for one text; ordinary ones take milliseconds
REST = 10 * SECONDS  # after a text that took longer
_BLANKS = " \t\f\v\r"
_ODD = ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp", "Zs")
_REORDERS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # the text around them, on the screen
_PLAIN = ("", "n", "nx", "p", "pm", "w", "x")  # names, punctuation: of the colour of the text, half of all tokens
NOTHING = Markup("")
END = Markup('<span class="eof">no newline at the end</span>')

Tokens = list[list[tuple[str, str]]]  # (style class, text) of each token, line by line


_lexer = Child("the lexer", partial(start_worker, __name__), 10 * SECONDS)
_turn = threading.Lock()
_rests_until = [0.0]
atexit.register(_lexer.close)


def coloured(path: str, lines: Sequence[str]) -> Sequence[Markup]:
    """The lines with their tokens in spans. A line is never lost or changed, whatever the lexer makes of it."""
    cut = tuple(line if len(line) <= LONGEST else line[:LONGEST] + "…" for line in lines)
    if not cut or sum(map(len, cut)) > _MOST_COLOURED:
        return [_markup([("", line)]) for line in cut]
    return _marked(path, cut, rests=_resting())


@lru_cache(maxsize=300)  # the same lines are shown to many readers
def _marked(path: str, cut: tuple[str, ...], *, rests: bool) -> list[Markup]:
    tokens = [] if rests else _tokens(path, "\n".join(cut))
    if ["".join(part for _, part in line) for line in tokens] != list(cut):
        tokens = [[("", line)] for line in cut]
    return [_markup(line) for line in tokens]


def _resting() -> bool:
    """Whether texts stay plain now, as one took too long a short while ago."""
    return monotonic() < _rests_until[0]


def _tokens(path: str, text: str) -> Tokens:
    """The tokens of a text; none where the lexer failed, or rests."""
    with _turn:
        if _resting():
            return []
        try:
            _lexer.ask(json.dumps([path, text]).encode() + b"\n")
            found: Tokens = json.loads(_lexer.line())
        except (ChildEnded, OSError):
            _rests_until[0] = monotonic() + REST
            return []
        return found


def main() -> None:
    """The process of the lexers: for each line with a path and a text, one with tokens. A text that is late ends it."""
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        print(json.dumps(_read_tokens(*json.loads(line))), flush=True)


def _read_tokens(path: str, text: str) -> Tokens:
    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False, ensurenl=False)
    found: Tokens = [[]]
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
    """One line. Whitespace at both ends, tabs and characters that hide or reorder text are marked."""
    line = "".join(text for _, text in tokens)
    body = len(line.rstrip(_BLANKS))
    lead = min(len(line) - len(line.lstrip(" \t")), body)
    pieces: list[str] = []
    start = 0
    for name, whole in tokens:
        end = start + len(whole)
        places = [start, *(cut for cut in (lead, body) if start < cut < end), end]
        for at, upto in pairwise(dict.fromkeys(places)):
            text, names = line[at:upto], [name] if name not in _PLAIN else []
            if at >= body:
                names.append("trail")
            elif at < lead and "\t" not in text:
                names.append("sp")
            inner = str(escape(text)) if text.isprintable() else "".join(map(_character, text))
            pieces.append(f'<span class="{" ".join(names)}">{inner}</span>' if names else inner)
        start = end
    return Markup("".join(pieces))  # every character is escaped


@cache
def code_style() -> bytes:
    """The style sheet of the tokens, light and dark, without the rules of the whole block."""
    light, dark = (
        "\n".join(rule for rule in HtmlFormatter(style=style).get_style_defs(".code").splitlines() if ".code ." in rule)
        for style in ("xcode", "github-dark")  # on both backgrounds of a diff their text has contrast enough
    )
    by_system = f"@media (prefers-color-scheme: dark) {{\n:root:not([data-theme='light']) {{\n{dark}\n}}\n}}"
    return f"{light}\n{by_system}\n:root[data-theme='dark'] {{\n{dark}\n}}\n".encode()


def shown_order(value: object) -> object:
    """A value for a page: text with the characters that reorder it marked. No quotes: it may stand in an attribute."""
    if not isinstance(value, str) or isinstance(value, Markup) or not _REORDERS.search(value):
        return value
    return Markup(_REORDERS.sub(lambda found: f"<span class=odd>U+{ord(found[0]):04X}</span>", str(escape(value))))


def _character(one: str) -> str:
    if one == "\t":
        return '<span class="tab">\t</span>'
    if one == "\r":
        return '<span class="odd cr">CR</span>'
    if one != " " and unicodedata.category(one) in _ODD:
        return f'<span class="odd">U+{ord(one):04X}</span>'
    return str(escape(one))
