"""What an answer says beside its verdict: whether it refuses, doubts the verdict, or is in a language unread here.

The wordings are in wordings.toml.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN = 0.1  # the share of letters beyond ASCII from which on an explanation is not English
_SHORT = 6  # words, below which an explanation may hold none of the commonest
_LOOK_BACK = 60  # characters before a claim in which a negation is looked for
_LEAD = 300  # characters of a sentence that leads to a value
_SENTENCE_END = re.compile(r"[.;:!?\n]")


@cache
def _wordings() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("wordings.toml").read_text("utf-8"))


@cache
def _any_of(name: str) -> re.Pattern[str]:
    patterns = [re.sub(r"\{([a-z]+)\}", lambda slot: str(_wordings()[slot[1]]), one) for one in _wordings()[name]]
    return re.compile("|".join(patterns), re.IGNORECASE)


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(_wordings()[name].split())


def refuses(text: str) -> bool:
    """Whether the text refuses, asks for its material, offers help, or is a filter's message in place of an answer."""
    return any(_any_of(name).search(text) is not None for name in ("refusal", "foreign_refusal"))


def doubts(text: str) -> bool:
    """Whether the text withdraws or doubts what it says."""
    return _any_of("doubt").search(text) is not None


def presents_no_answer(before: str) -> bool:
    """Whether the sentence that leads to a value presents it as an example, a quotation or a thing not to do."""
    if not before.endswith(":"):
        return False
    return _any_of("not_the_answer").search(_SENTENCE_END.split(before[:-1][-_LEAD:])[-1]) is not None


def withdraws(after: str) -> bool:
    """Whether the words after a value begin by saying that it is not the answer."""
    return _any_of("withdrawn").match(after) is not None


def is_english(text: str) -> bool:
    """Whether the text can be checked for a contradiction: English, or too short to be in any language."""
    letters = [char for char in text if char.isalpha()]
    if sum(not char.isascii() for char in letters) > _FOREIGN * len(letters):
        return False
    words = [word.lower() for word in _WORD.findall(text)]
    foreign = set(words) & (_words("foreign") - _words("english"))
    english = sum(word in _words("english") for word in words)
    return not (len(foreign) > 1 and len(foreign) >= english) and (english > 0 or len(words) < _SHORT)


def claims_of_sameness(text: str) -> frozenset[bool]:
    """What the text claims of two comments: True that they are the same, False that they differ; a negation turns one.

    The same place and other words are claimed of both kinds of pairs, and count as neither.
    """
    found = {False} if _any_of("opposed").search(text) else set()
    for same in (True, False):
        for claim in _any_of("same" if same else "different").finditer(text):
            before = _SENTENCE_END.split(text[max(0, claim.start() - _LOOK_BACK) : claim.start()])[-1]
            found.add(same != (_any_of("negation").search(before) is not None))
    return frozenset(found)
