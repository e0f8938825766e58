"""Strict reading of model answers: a value where the answer is unambiguous, `Unreadable` with the reason where not.

Every reader takes the raw text of an answer and raises nothing but `Unreadable`. The reasoning that an answer begins
with (`<think>...</think>`) is cut off; reasoning that does not end leaves no answer. A verdict is read where it leads
the answer, stands alone on the first or last line, or is labelled (`Answer: no`), and only where nothing else in the
answer speaks against it. Sentences are never searched for a verdict: "the two are not similar" is unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from reviewgauge.core.trust import texts_in
from reviewgauge.models.answers.json_values import only_object
from reviewgauge.models.answers.prose import (
    belies,
    claims_of_sameness,
    doubts,
    explains,
    is_refusal,
    negated,
    obeys,
    speaks_for,
)
from reviewgauge.models.answers.text import Unreadable, one_of, plain, verdict, without_reasoning
from reviewgauge.models.request.messages import Prompt

__all__ = [
    "Unreadable", "choice", "json_object", "one_answer", "options_of",
    "whole_number", "without_reasoning", "yes_no",
]  # fmt: skip


def one_answer(options: Sequence[str | int]) -> dict[str, JsonValue]:
    """The JSON schema of an answer that is one of `options`; the readers of verdicts read it as well as bare words."""
    answer: dict[str, JsonValue] = {
        "enum": list(options),
        "type": "string" if isinstance(options[0], str) else "integer",
    }
    return {
        "type": "object", "properties": {"answer": answer}, "required": ["answer"], "additionalProperties": False,
    }  # fmt: skip


def options_of(schema: Mapping[str, Any] | None) -> list[str]:
    """The options of such a schema; none for another one."""
    answer = ((schema or {}).get("properties") or {}).get("answer") or {}
    return [str(option) for option in answer.get("enum", ())]


# --- yes or no -----------------------------------------------------------------------------------------------------

_YES_NO = re.compile(r"(yes|no)\b(?![-'’])", re.IGNORECASE)
_HALF = re.compile(
    r"\s*(?:…|\.\.|\?)|\W*"
    r"(?:not (?:\w+ly|quite|in all)|and|or|but|except|unless|however|part(?:ly|ially)|if|kind of|sort of|mostly"
    r"|somewhat|in part|more or less)\b",
    re.I,
)


def yes_no(text: str) -> bool:
    """True for yes, False for no. An explanation may follow that does not contradict, qualify or withdraw it."""
    found = verdict(plain(text), _yes_no, "yes or no")
    explanation = f"{found.rest}\n{found.after}"
    around = explanation if found.labelled else f"{found.before}\n{explanation}"
    if _HALF.match(found.rest):
        raise Unreadable("it answers yes or no only in part")
    check_same(found.value, f"{found.before}\n{explanation}")
    if obeys(around) or not speaks_for(found.value, found.before, explanation):
        raise Unreadable("its explanation does not say plainly why it is yes or no")
    return found.value


def check_same(same: bool, explanation: str) -> None:
    """Raise Unreadable where an explanation refuses, or claims the opposite of a verdict on two comments."""
    if is_refusal(explanation) or doubts(explanation):
        raise Unreadable("its explanation refuses, asks for something or doubts its yes or no")
    if same and obeys(explanation):
        raise Unreadable("it follows an order of the material that it is to judge")
    if (not same) in claims_of_sameness(explanation):
        raise Unreadable("its explanation contradicts its yes or no")


def _yes_no(line: str) -> tuple[bool, str] | None:
    found = _YES_NO.match(line)
    return None if found is None else (found[1].lower() == "yes", line[found.end() :])


# --- a label from a closed list ------------------------------------------------------------------------------------


_NAMES_OF_LABELS = ("category", "label", "class", "type", "domain")


def choice(text: str, options: Sequence[str], synonyms: Mapping[str, str] | None = None) -> str:
    """The option that the answer names, as `options` spells it. `synonyms`: other words for options.

    Case, and whether a blank, a hyphen or an underscore joins words, make no difference.
    """
    known = {_folded(word): option for word, option in {**(synonyms or {}), **{o: o for o in options}}.items()}
    pattern = one_of(list({**(synonyms or {}), **dict.fromkeys(options)}))

    def match(line: str) -> tuple[str, str] | None:
        found = pattern.match(line)
        return None if found is None else (known[_folded(found[0])], line[found.end() :])

    found = verdict(plain(text), match, f"one of {', '.join(options)}", asked=_NAMES_OF_LABELS)
    said = f"{found.rest}\n{found.after}"
    around = f"{found.before}\n{said}"
    for other in pattern.finditer(said if found.labelled else around):
        if known[_folded(other[0])] != found.value:
            raise Unreadable("it names more than one of the options")
        if negated(other.string[: other.start()]):
            raise Unreadable("it takes its option back")
    _check_beside(pattern.sub("", around), "code")
    return found.value


def _check_beside(text: str, subject: str) -> None:
    """Raise Unreadable where what stands beside a class or a number is anything but plain statements of the matter."""
    if obeys(text) or not explains(text, subject):
        raise Unreadable("what stands beside its answer does not plainly explain it")


def _folded(word: str) -> str:
    return re.sub(r"[\s_-]+", " ", word).casefold()


# --- a whole number ------------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?<![\w.,-])([+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?)(?![\w%]|[.,][0-9])")
_OUT_OF = re.compile(r"\s*(?:/|out of)\s*([0-9]{1,9})(?!\w|\.[0-9])")
_UNIT = re.compile(r"\s*(?:points?|stars?)\b", re.IGNORECASE)
_SENTENCE = re.compile(
    r"(?:i(?:['’]d| would| will)? (?:give|rate|score|grade|assign)(?: (?:it|this|that|the|a|an|as|at|with|of|code"
    r"|generated|review|change|overall|relevance|grade|score|rating))*"
    r"|(?:the|my|a|this|based on|overall)\b[^.\n]{0,80}?\b(?:grade|score|rating)"
    r"(?:\s*+(?:\b(?:of|is|as|a|would be|should be)\b|[:=]))+)\s*+(?=[0-9])",
    re.IGNORECASE,
)


_IN_WORDS = re.compile(
    r"(?<!the )(?<!these )\b(?:two|three|four|five|six|seven|eight|nine|ten)\b(?! (?:\w+ )?(?!stars)\w+s\b)"
    r"|\b(?:an?|or|to|than|not|least|most|exactly|grade|score|rating) one\b",
    re.IGNORECASE,
)


def whole_number(text: str, low: int, high: int, meanings: Mapping[int, re.Pattern[str]] | None = None) -> int:
    """The only number in the answer, from `low` to `high`: "4", "**4**", "Grade=4", "4/5" where `high` is 5.

    `meanings`: what the scale calls its values, which may stand beside them.
    """
    scale = rf"(?<![\w.]){low}\s*(?:-|–|to|and)\s*{high}(?![\w.])"
    answer = re.sub(rf"\(?\bon (?:a|the) scale (?:of|from) {scale}\)?", "", plain(text))
    answer = re.sub(scale, "the scale", answer)
    wanted = f"one whole number from {low} to {high}"

    def match(line: str) -> tuple[float, str] | None:
        sentence = _SENTENCE.match(line)
        if sentence is not None:
            line = line[sentence.end() :]
        found = _NUMBER.match(line)
        if found is None:
            return None
        rest = line[found.end() :]
        if (out_of := _OUT_OF.match(rest)) is not None and int(out_of[1]) == high:
            rest = rest[out_of.end() :]
        if (unit := _UNIT.match(rest)) is not None:
            rest = rest[unit.end() :]
        if re.match(r"[.):]\s+\S|\s*!", rest) and sentence is None:
            rest = "a list item"  # "2. The review ..." repeats the second criterion, whose grade is another
        return float(found[1]), rest

    found = verdict(answer, match, wanted)
    if not found.value.is_integer() or not low <= found.value <= high:
        raise Unreadable(f"its number {found.value:g} is not {wanted}")
    beside = re.sub(rf"(?:/|\bout of)\s*{high}\b", "", f"{found.before}\n{found.rest}\n{found.after}")
    if any(low <= float(other[1]) <= high for other in _NUMBER.finditer(beside)) or _IN_WORDS.search(beside):
        raise Unreadable("it holds two numbers")
    value = int(found.value)
    if value * 2 != low + high and belies(value * 2 > low + high, beside):
        raise Unreadable("its words speak for another number")
    meaning = (meanings or {}).get(value)
    _check_beside(meaning.sub("", beside) if meaning and not explains(beside, "reviews") else beside, "reviews")
    return value


# --- JSON ----------------------------------------------------------------------------------------------------------


def json_object(text: str, required: Collection[str] = (), prompt: Prompt | None = None) -> dict[str, JsonValue]:
    """The only JSON object in the answer; it must have the keys `required`.

    A text in it that is a refusal as a whole, or repeats the words of `prompt`, makes it unreadable.
    """
    value = only_object(without_reasoning(text))
    missing = sorted(set(required) - value.keys())
    if missing:
        raise Unreadable(f"its JSON object lacks {', '.join(missing)}")
    if any(value.get(key) for key in ("error", "refusal")):
        raise Unreadable("its JSON object reports an error or a refusal")
    for one in texts_in(value.values()):
        if is_refusal(one):
            raise Unreadable("a text in its JSON object is a refusal")
        if prompt is not None and prompt.is_repeated_by(one):
            raise Unreadable("a text in its JSON object repeats the question")
    return value
