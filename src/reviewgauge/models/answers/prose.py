"""What an answer says beside its verdict: whether it refuses, doubts the verdict, or speaks for it.

The wordings are in wordings.toml.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

_WORD = re.compile(r"[^\W\d_]+")
_LOOK_BACK = 60  # characters before a claim in which a negation is looked for
_LEAD = 300  # characters from which a refusal is told
_FOREIGN_LEAD = 60
_QUOTED = re.compile(r"\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|`[^`\n]{0,300}`|\{[^{}\n]{0,300}\}")
_SENTENCE_END = re.compile(r"[.;:!?\n]")
_BREAK = re.compile(r"(?<=[.!?])\s+|\n")
_LEAD_IN = re.compile(
    r"[^\w\n?]*(?:(?:(?:my |the )?(?:reason(?:s|ing)?|explanation|rationale|analysis)\b(?:\s*[:=]\W*|\W*\Z)"
    r"|(?:because|since|so|here|that is)\b\W+)){0,3}",
    re.IGNORECASE,
)
_SURE = re.compile(
    r"confidence(?: level| score)?\W+(?:very )?(?:high|certain|100 ?%|[89]\d ?%|1(?:\.0)?|0?\.[5-9]\d{0,5})\W*",
    re.IGNORECASE,
)
_CONTENT = re.compile(r":|\b(?:that|about(?! as)|regarding|concerning)\b", re.IGNORECASE)
_MOST_SENTENCES = 4
_MUCH = 0.5  # of the words said of one comment that are said of the other
_LONGEST_PAIR = 600  # characters in which two comments are set side by side


@cache
def _wordings() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("wordings.toml").read_text("utf-8"))


@cache
def _any_of(name: str) -> re.Pattern[str]:
    pattern = "|".join(_wordings()[name])
    for _ in range(2):  # a list may stand within another
        pattern = re.sub(r"\{([a-z]+)\}", lambda slot: str(_wordings()[slot[1]]), pattern)
    return re.compile(pattern, re.IGNORECASE)


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(_wordings()[name].split())


def doubts(text: str) -> bool:
    """Whether the text withdraws or doubts what it says."""
    return _any_of("doubt").search(text) is not None


def is_refusal(text: str) -> bool:
    """Whether a text that should say something of its own is a refusal, an error page or a request for material."""
    beginning = text.strip()[:_LEAD]
    foreign = _any_of("foreign_refusal").search(beginning[:_FOREIGN_LEAD])
    return foreign is not None or _any_of("whole_refusal").match(beginning) is not None


def leads_to_answer(lead: str) -> bool:
    """Whether the line before a value calls it the answer: one of the known lead-ins, and nothing else."""
    return _any_of("lead_in").fullmatch(lead) is not None


def obeys(text: str) -> bool:
    """Whether the text says that it follows orders of the material that it is to judge."""
    return _any_of("obeys").search(text) is not None


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
                turned = negated(before) or _any_of("negated_after").match(text, claim.end()) is not None
                found.add(same != turned)
    if not found and _shared(_any_of("apart_within").search(text[:_LONGEST_PAIR])) == 0:
        found.add(False)
    return frozenset(found)


def negated(before: str) -> bool:
    """Whether what stands before a word negates it."""
    return _any_of("negation").search(_SENTENCE_END.split(before[-_LOOK_BACK:])[-1]) is not None


def belies(high: bool, text: str) -> bool:
    """Whether the text calls worth nothing what a high grade is given, or praises beyond doubt what has a low one."""
    return _any_of("blame" if high else "praise").search(text) is not None


def explains(text: str, subject: str) -> bool:
    """Whether all that a text says are sentences about its `subject`, "comments", "reviews" or "code".

    None may be about the answer itself, its asker or its giver.

    A word or two beside a verdict (`5\\nRefused`, `bug: no`) take it back more often than they explain it.
    """
    denied = [_any_of(name) for name in ("stance", "denial", *(["of_values"] if subject == "reviews" else []))]
    return all(
        _any_of(f"of_{subject}").match(one) is not None and not any(stance.search(one) for stance in denied)
        for one in _sentences(text)
    )


def _sentences(text: str) -> list[str]:
    """The sentences and lines that say something, without the words that lead to an explanation."""
    found = (_LEAD_IN.sub("", one, count=1).strip() for one in _BREAK.split(_QUOTED.sub(" quoted ", text)))
    return [one for one in found if re.search(r"[\w?]", one) and not _SURE.fullmatch(one)]


def speaks_for(same: bool, before: str, after: str) -> bool:
    """Whether what stands around a verdict on two comments is nothing, or says so in its first sentence.

    Lists of refusals and contradictions never hold every wording; what a verdict needs beside it is known better. Of
    reasoning that leads to a verdict, any sentence may say so.
    """
    first, then = _sentences(before), _sentences(after)
    told = [*first, *then]
    if not told or len(told) > _MOST_SENTENCES:
        return not told
    backing = [at for at in ([len(first)] if then else range(len(first))) if _backs(same, " ".join(told[at:]))]
    plain = all(_any_of("stance").search(one) is None for one in told)
    rest = [one for at, one in enumerate(told) if at not in backing]
    return bool(backing) and plain and explains("\n".join(rest), "comments")


def _backs(same: bool, text: str) -> bool:
    """Whether a text begins with a claim of what the verdict says, which no condition follows."""
    shared = _shared(_any_of("too" if same else "apart").match(text[:_LONGEST_PAIR]))
    if shared is not None and same == (shared >= _MUCH):
        return True
    if same and _shared(_any_of("apart_within").search(text[:_LONGEST_PAIR])) == 0:
        return False
    if same and _any_of("deed_of_both").match(text):
        return True
    claim = _any_of("speaks_for_yes" if same else "speaks_for_no").match(text)
    if claim is None:
        return False
    said = _CONTENT.split(_BREAK.split(text[claim.end() :], maxsplit=1)[0], maxsplit=1)[0]
    return _any_of("condition").search(said) is None


def _shared(pair: re.Match[str] | None) -> float | None:
    """How much of what is said of one comment is said of the other, from 0 to 1; None where nothing is compared."""
    one, other = (
        ([_content(side) for side in pair.groups() if side is not None]) if pair else (frozenset(), frozenset())
    )
    return len(one & other) / min(len(one), len(other)) if one and other else None


def _content(text: str) -> frozenset[str]:
    """The words of one side of a comparison that say what it is about."""
    words = [word.lower() for word in _WORD.findall(text)]
    return frozenset(word for word in words if word not in _words("english") | _words("sayings"))
