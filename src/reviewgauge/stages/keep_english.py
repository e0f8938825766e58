"""Keep changes whose title and description are English.

Source: AACR-Bench's language standard (arXiv:2601.19494, B.1): "the title and description of the PR must be
written in English". The paper does not say how it knows. Here function words decide (Grefenstette, JADT 1995), and in
short titles words of the trade ("fix", "bump") for English, accents and endings ("-ção", "-ung") for other languages,
each half as much; a text with neither is `unknown`. The lists are this project's own.

No library does it better. Of 50 English titles of two to four words ("Fix typo") these lists recognise 49 and call none
foreign; py3langid 0.4, limited to 27 languages, recognises 36 and calls 7 foreign. Of 73 longer titles both judge 72
right, and lingua (96 MB) 70. The titles are in the tests.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from typing_extensions import override

from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case

LanguageAnswer = Literal["english", "other", "unknown"]

_LISTS = tomllib.loads(files(__package__).joinpath("keep_english.toml").read_text("utf-8"))
_ENGLISH, _TRADE = frozenset(_LISTS["function_words"].split()), frozenset(_LISTS["trade_words"].split())
_OTHERS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _LISTS["others"].items()}
_ENDS = {name: re.compile(rf"\w{{3,}}(?:{endings})") for name, endings in _LISTS["endings"].items()}
_AT_HOME = frozenset({"naïve", "café", "façade", "résumé", "déjà"})  # accents that English has
_AMBIGUOUS = frozenset().union(*_OTHERS.values()) & _ENGLISH
_BY_WORD: dict[str, tuple[str, ...]] = {}
for _name, _listed in _OTHERS.items():
    for _word in _listed - _TRADE - _AMBIGUOUS:
        _BY_WORD[_word] = (*_BY_WORD.get(_word, ()), _name)

_NOISE = re.compile(
    r"<!--.*?(-->|\Z)|^(```|~~~).*?(^\2|\Z)|`[^`\n]*`|!\[[^\[\]]*\]\([^()]*\)|(?<=\])\([^()\s]*\)|</?[a-z][^<>]*>"
    r"|\b[a-z][a-z0-9+.-]{0,30}://\S+|\bwww\.\S+|(?<!\S)[^\s@]+@\S+|(?<!\w)@[\w-]+|^[\w-]+-by:[^\n]*$|(?<![^\s#])[^\s#]*#\d+|:[a-z_]+:"
    r"|\A\W*[a-z]+(\([^()\n]*\))?!?:|\A\W*revert\b|^(?:refs?|see|closes|fixes)\b[:\s]*$",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(r"[^\s()\[\]{}<>,;:!?\"“”„«»…|*=+~]+")
_WORD = re.compile(r"[^\W\d_]++(?:['’][^\W\d_]+)*")
LONGEST = 100_000  # characters of a text that tell its language
LONG = 8  # words from which on a text must show its function words
SHARE = 0.12  # of the words of a long text that must be English function words or words of the trade
FOREIGN = 0.1  # of the letters may be of another script than Latin: people's names
SURE, WEAK = 2, 1  # what a function word counts; what a word of the trade, an ending or an accent does


def judge_text(text: str) -> LanguageAnswer:
    """What a text is."""
    prose = _NOISE.sub(" ", text[:LONGEST])
    letters = [c for c in prose if c.isalpha()]
    if sum(not _is_latin(c) for c in letters) > FOREIGN * len(letters):
        return "other"
    words = _words(prose)
    if not words:
        return "unknown"
    known = [word for word in words if word in _ENGLISH or word in _TRADE]
    english = sum(SURE if word in _ENGLISH - _AMBIGUOUS else WEAK if word in _TRADE else 0 for word in known)
    other = _closest_other(words)
    if other > english:
        return "other"
    if len(words) >= LONG:
        return "english" if len(known) >= SHARE * len(words) and english > other else "other"
    return "english" if english > other else "unknown"


def _words(prose: str) -> list[str]:
    """Lower-case words; what looks like a name of the code (`snake_case`, `CamelCase`, `a.b`, `x2`) is none."""
    found: list[str] = []
    for token in _TOKEN.findall(prose):
        parts = re.split(r"[-–—/]", token.strip(".'’\"")) if "." not in token.strip(".") else []
        found += [p.lower().replace("’", "'") for p in parts if _WORD.fullmatch(p) and not re.search(r"[a-z][A-Z]", p)]
    return found


def _closest_other(words: list[str]) -> int:
    """The evidence for the other language that has most of it. An accent counts for each of them."""
    counts = dict.fromkeys(_OTHERS, 0)
    for word in words:
        if word in _ENGLISH or word in _TRADE or word in _AT_HOME:
            continue
        accent = WEAK if not word.isascii() and _is_latin(word[0]) else 0
        listed = _BY_WORD.get(word, ())
        for name in counts:
            ends = name in _ENDS and _ENDS[name].fullmatch(word) is not None
            counts[name] += SURE if name in listed else max(accent, WEAK if ends else 0)
    return max(counts.values())


@lru_cache(maxsize=4096)
def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith(("LATIN", "MODIFIER"))


@dataclass(frozen=True)
class KeepEnglish(Stage):
    """Judge title and description apart; code, links, quoted markup and names of the code are not read.

    A title that cannot be judged ("v2.1.0") is kept where the description is English. An empty description says
    nothing against English.
    """

    @override
    def keep(self, case: Case) -> Case | str:
        title = judge_text(case.change.title)
        description = judge_text(case.change.description)
        if title == "other":
            return "the title is not English"
        if description == "other":
            return "the description is not English"
        if "english" not in (title, description):
            return "neither title nor description shows its language"
        return case
