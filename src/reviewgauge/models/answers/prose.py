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
_LEAD = 300  # characters from which a refusal is told
_FOREIGN_LEAD = 60
_QUOTED = re.compile(r"\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|`[^`\n]{0,300}`|\{[^{}\n]{0,300}\}")
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


def is_refusal(text: str) -> bool:
    """Whether a text that should say something of its own is a refusal, an error page or a request for material."""
    beginning = text.strip()[:_LEAD]
    foreign = _any_of("foreign_refusal").search(beginning[:_FOREIGN_LEAD])
    return foreign is not None or _any_of("whole_refusal").match(beginning) is not None


def presents_no_answer(lead: str) -> bool:
    """Whether the line that leads to a value presents it as an example, a quotation or a thing not to do."""
    return _any_of("not_the_answer").search(lead) is not None


def obeys(text: str) -> bool:
    """Whether the text says that it follows orders of the material that it is to judge."""
    return _any_of("obeys").search(text) is not None


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

    The same place and other words are claimed of both kinds of pairs, and count as neither; quotations claim nothing.
    """
    text = _QUOTED.sub(" ", text)
    found = {False} if _any_of("opposed").search(text) else set()
    for name, same in (("same", True), ("same_deed", True), ("different", False)):
        for claim in _any_of(name).finditer(text):
            before = _SENTENCE_END.split(text[max(0, claim.start() - _LOOK_BACK) : claim.start()])[-1]
            if not _any_of("about_wording").search(before):
                found.add(same != (_any_of("negation").search(before) is not None))
    return frozenset(found)


def speaks_for(same: bool, explanation: str) -> bool:
    """Whether an explanation of a verdict on two comments supports it in so many words, or says next to nothing.

    Lists of refusals and contradictions never hold every wording; what a verdict needs beside it is known better.
    """
    words = [word for word in _WORD.findall(explanation) if word.lower() not in _words("of_verdicts")]
    if not words or same in claims_of_sameness(explanation):
        return True
    return _any_of("speaks_for_yes" if same else "speaks_for_no").search(explanation) is not None
