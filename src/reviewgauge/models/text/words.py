"""Text to words: identifiers split, lower-cased, stemmed; plus identifiers, numbers, negations and concepts.

Everything here is a pure function of one text, so it can be cached by text.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

LONGEST_TEXT = 20_000  # characters; what lies beyond is not read, so that one huge comment cannot stall a run
STOP_WEIGHT = 0.05

STOP_WORDS = frozenset(
    """
    a about after all also an and any are as at be because been before being both but by can cannot could did do does
    done each either else even every for from further get gets had has have having here how however i if in into is it
    its itself just let like make makes may might more most much must need needs now of on once one only or other our
    out over own please rather s same should since so some such t than that the their them then there therefore these
    they this those though through thus to too under up us use used uses using very was we were what when where
    whether which while who why will with within would yet you your
    """.split()  # noqa: SIM905
)

NEGATIONS = frozenset(
    """
    not no never none nor without cannot cant dont doesnt didnt isnt arent wasnt werent wont shouldnt couldnt wouldnt
    hasnt havent hadnt neither nothing lacks lack lacking missing fails fail
    """.split()  # noqa: SIM905
)

_FENCE = re.compile(r"^[^\S\n]*(?:```|~~~).*$", re.MULTILINE)
_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|</?[a-zA-Z][^<>\n]{0,300}>|!\[[^\[\]\n]*\]\([^()\s]*\)|https?://\S+", re.DOTALL
)
_APOSTROPHE = re.compile(r"(?<=[a-zA-Z])['’](?=[a-zA-Z])")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Letters and digits apart; a Chinese, Japanese or Korean character stands for itself, as no blanks part words there.
_WORD = re.compile(r"[぀-ヿ㐀-鿿가-힯]|(?:(?![぀-ヿ㐀-鿿가-힯])[^\W\d_])+|\d+")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*")
_CODE = re.compile(r"`([^`\n]{1,200})`")

_SUFFIXES = (
    ("ization", "iz", 2), ("isation", "iz", 2), ("ations", "at", 2), ("ation", "at", 2), ("encies", "ent", 3),
    ("ancies", "ant", 3), ("ency", "ent", 3), ("ancy", "ant", 3), ("ences", "ent", 3), ("ances", "ant", 3),
    ("ence", "ent", 3), ("ance", "ant", 3), ("iness", "i", 3), ("ments", "", 4), ("ment", "", 4), ("tions", "t", 3),
    ("tion", "t", 3), ("ness", "", 3), ("ities", "", 3), ("ity", "", 3), ("ably", "abl", 3), ("ally", "al", 3),
    ("edly", "", 3), ("ingly", "", 3), ("ings", "", 3), ("ing", "", 3), ("ies", "i", 2), ("ied", "i", 2),
    ("ed", "", 3), ("ly", "", 3), ("sses", "ss", 1), ("xes", "x", 2), ("ches", "ch", 2), ("shes", "sh", 2),
    ("ers", "", 4), ("er", "", 4), ("ors", "", 4), ("or", "", 4), ("ss", "ss", 1), ("us", "us", 1), ("is", "is", 1),
    ("s", "", 3),
)  # fmt: skip


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The word without its commonest English suffix; a rule of thumb, not a linguist's stem. Lower case in and out."""
    if len(word) < 4 or not word.isascii():
        return word
    for suffix, replacement, shortest in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= shortest:
            word = word[: len(word) - len(suffix)] + replacement
            break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 2 and word[-1] == "y" else word


def prose(text: str) -> str:
    """`text` without fences, tags, HTML comments, images and links, cut to LONGEST_TEXT characters."""
    return _FENCE.sub(" ", _MARKUP.sub(" ", text[:LONGEST_TEXT]))


def raw_words(text: str) -> list[str]:
    """The lower-cased words of `text` in order: camelCase and snake_case split, letters and digits apart."""
    joined = _APOSTROPHE.sub("", text)
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", joined))]


def tokens(text: str) -> list[str]:
    """The stemmed words of `text` in order, stop words included (unstemmed, so that they stay recognisable)."""
    return [word if word in STOP_WORDS else stem(word) for word in raw_words(prose(text))]


def without(text: str, known: Set[str]) -> str:
    """`text` without the parts of names and the words whose stem is `known`."""
    parts = _CAMEL.sub("_", _APOSTROPHE.sub("", prose(text)))
    return _WORD.sub(lambda word: " " if stem(word[0].lower()) in known else word[0], parts)


def is_identifier(name: str) -> bool:
    """Whether a name looks like code: an inner underscore, an inner change of case, or letters with digits."""
    bare = name.strip("_$")
    if len(bare) < 3:
        return False
    return "_" in bare or name[0] in "_$" or bool(_CAMEL.search(bare)) or any(c.isdigit() for c in bare)


def identifiers(text: str) -> frozenset[str]:
    """The names of code in `text`: names that look like code, plain names in backticks, names that are called.

    Lower-cased and without underscores, so that `userId` and `user_id` are one.
    """
    text = prose(text)
    found = {name for name in _NAME.findall(text) if is_identifier(name)}
    found.update(match for match in re.findall(r"([A-Za-z_]\w{2,80})\(", text))
    for code in _CODE.findall(text):
        found.update(name for name in _NAME.findall(code) if len(name) > 2)
    return frozenset(name.replace("_", "").replace("$", "").lower() for name in found) - STOP_WORDS - {""}


def numbers(text: str) -> frozenset[str]:
    """The numbers that stand alone in `text`, as written."""
    return frozenset(_NUMBER.findall(prose(text)))


def negations(text: str) -> int:
    """How many words of `text` deny something."""
    return sum(word in NEGATIONS for word in raw_words(prose(text)))
