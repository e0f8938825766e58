"""The rules that compare two texts: `same_concern`, `golden`, `grade` and `relevance`."""

from __future__ import annotations

import json
import re

from reviewgauge.models.fake.rules.prompts import FENCED, prompt_of
from reviewgauge.models.request.messages import Request
from reviewgauge.models.text.lexical import dice, profile

SAME_CONCERN = "Determine whether two given review comments express the same concern"
GOLDEN = "Does the candidate comment raise the issue of the golden comment?"
GRADE = "Scenario Matching: I am going to give you a generated code review"
RELEVANCE = "You will be asked to rate the relevance of reviews for given"

SAME_FROM = 0.3  # the Dice coefficient of two comments that are the same
GRADES = ((1.0, 5), (0.7, 4), (0.4, 3), (0.15, 2), (0.0, 1))  # (least Dice coefficient, grade)
RELEVANCES = ((0.8, 5), (0.6, 4), (0.4, 3), (0.2, 2), (0.0, 1))  # (least share, score)

_ONE, _TWO = FENCED.format("one"), FENCED.format("two")
_COMMENTS = (
    re.compile(f"Review Comment 1:\n{_ONE}\n\nReview Comment 2:\n{_TWO}\n\n-Task-", re.DOTALL),
    re.compile(
        "Review Comment 1:\n(?P<one_text>.*?)\n\nReview Comment 2:\n(?P<two_text>.*?)\n\n-Task-\nDetermine", re.DOTALL
    ),
)
_CANDIDATE = (re.compile(f"Golden comment:\n{_ONE}\n\nCandidate comment:\n{_TWO}\n", re.DOTALL),)
_REVIEWS = (
    re.compile(f"Generated Code Review:\n{_ONE}\n\nReference Code Review:\n{_TWO}", re.DOTALL),
    re.compile('Generated Code Review: "(?P<one_text>.*?)"\n\nReference Code Review: "(?P<two_text>.*)"', re.DOTALL),
)
_CHANGE = (
    re.compile(f"Code Change:\n{_ONE}\n\nReview:\n{_TWO}", re.DOTALL),
    re.compile("\n\nCode Change: (?P<one_text>.*)\n\nReview: (?P<two_text>.*)\n\nYour score:\\Z", re.DOTALL),
)


def same_concern(request: Request) -> str:
    """Do two comments express the same concern? Yes when the Dice coefficient of their content words is at least .3.

    Content words are stemmed and without stop words (`models/text/lexical.dice`). Texts that are equal but for white
    space are the same. The diff is not looked at.
    """
    texts = _texts(request, _COMMENTS)
    if texts is None:
        return "I cannot find two review comments."
    return "yes" if overlap(*texts) >= SAME_FROM else "no"


def golden(request: Request) -> str:
    """Does a candidate raise the golden comment's issue? Yes when their content words' Dice coefficient is .3 or more.

    The confidence of a yes is one half plus half the coefficient, that of a no is one less the coefficient, both to
    two decimals.
    """
    texts = _texts(request, _CANDIDATE)
    if texts is None:
        return "I cannot find a golden comment and a candidate."
    shared = overlap(*texts)
    answer = {"reasoning": f"Dice {shared:.2f}", "match": shared >= SAME_FROM, "confidence": confidence(shared)}
    return json.dumps(answer)


def grade(request: Request) -> str:
    """The grade of a review against its reference: 5, 4, 3, 2 or 1 by the Dice coefficient of their content words.

    5 where it is 1, 4 from .7 on, 3 from .4 on, 2 from .15 on, else 1. Content words are stemmed and without stop
    words.
    """
    texts = _texts(request, _REVIEWS)
    if texts is None:
        return "I cannot find a generated and a reference review."
    return f"Grade={grade_of(*texts)}"


def relevance(request: Request) -> str:
    """The relevance of a review to a code change: 5, 4, 3, 2 or 1 by the share of the review's words that the diff has.

    5 from .8 on, 4 from .6 on, 3 from .4 on, 2 from .2 on, else 1. Distinct content words count, stemmed and without
    stop words; a review without any has 1.
    """
    texts = _texts(request, _CHANGE)
    if texts is None:
        return "I cannot find a code change and a review."
    return str(relevance_of(*texts))


def _texts(request: Request, patterns: tuple[re.Pattern[str], ...]) -> tuple[str, str] | None:
    """The two texts of the prompt, by the first pattern that matches."""
    prompt = prompt_of(request)
    found = next((match for pattern in patterns if (match := pattern.search(prompt))), None)
    return (found["one_text"], found["two_text"]) if found else None


def overlap(one: str, other: str) -> float:
    """The Dice coefficient of their content words; 1 for equal texts."""
    return 1.0 if one.split() == other.split() else dice(one, other)


def confidence(shared: float) -> float:
    """How sure the rule `golden` is of its answer, by the Dice coefficient."""
    return round(0.5 + shared / 2 if shared >= SAME_FROM else 1 - shared, 2)


def grade_of(generated: str, reference: str) -> int:
    """The grade by the rule `grade`."""
    shared = dice(generated, reference)
    return next(value for least, value in GRADES if shared >= least)


def relevance_of(diff: str, text: str) -> int:
    """The score by the rule `relevance`."""
    words, held = profile(text).content, profile(diff).content
    share = len(words & held) / len(words) if words else 0.0
    return next(value for least, value in RELEVANCES if share >= least)
