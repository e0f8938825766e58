"""An answer as text: without its reasoning, and the verdict that it states.

A verdict is a word from a closed list, or a number. It leads the answer, stands alone, or is labelled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from reviewgauge.models.answers.prose import doubts

T = TypeVar("T")
_THOUGHT = "think|thinking|thought|reasoning"
_OPEN = re.compile(rf"\s*<({_THOUGHT})>", re.IGNORECASE)
_CLOSE = re.compile(rf"</({_THOUGHT})>", re.IGNORECASE)
_ANY = re.compile(rf"</?(?:{_THOUGHT})>", re.IGNORECASE)
_VERDICT = ("answer", "verdict", "decision", "conclusion", "judgment", "judgement", "grade", "score", "rating")
_LABELS = (
    "result", "response", "output", "label", "category", "issue category", "classification", "class", "type", "domain",
    "problem domain", "same", "same concern", "same issue", "match", "relevance", "relevance score", "relevance rating",
    "confidence", "severity", "overall",
)  # fmt: skip
_LABEL = rf"(?:(?:final|my|the|your|overall) )?(?:{'|'.join(_VERDICT)})|{'|'.join(_LABELS)}"
_LED_IN = r"(?:(?:so|thus|hence|therefore),?\s+)?(?:the\s+)?(?:final\s+)?"
_LABELLED = re.compile(rf"[\"']?{_LED_IN}({_LABEL})[\"']?(?:\s*[:=]\s*|\s+is:?\s+)", re.IGNORECASE)
_LABEL_ALONE = re.compile(rf"{_LED_IN}(?:{_LABEL})\s*:?", re.IGNORECASE)
_MARKUP = re.compile(r"\\(?:boxed|text)(?=\{)|[*`$]+|#(?!\w)|(_+)")
_TAG = re.compile(rf"<({'|'.join(_VERDICT)}|result|output|label|category)>", re.IGNORECASE)
_WITHIN_TAG = 200  # characters between a tag and the one that closes it
_FENCE = re.compile(r"^```\w*[ \t]*$", re.MULTILINE)
_PAIRS = {'"': '"', "'": "'", "(": ")", "[": "]", "{": "}", "“": "”", "‘": "’", "«": "»"}
_ENDS = re.compile(r"\s*(?:$|[.,:;!…]+(?=[\s\"'”’)\]}]|$)(?!\s*\d)|[—–-]+\s|\(|(?:because|since)\b)")
LONGEST = 20_000  # characters of an answer that is asked for as one word or number
MOST_LINES = 100
_EXPLAINING = ("reason", "reasons", "reasoning", "explanation", "rationale", "confidence", "analysis")


class Unreadable(ValueError):
    """An answer that cannot be read without guessing. Its text is the reason, fit to be told to the model."""


def without_reasoning(text: str) -> str:
    """The answer after the reasoning that it begins with; what looks like reasoning further on is part of it.

    Some endpoints put the opening tag into the prompt, so that only the closing one comes back.
    """
    text = text.removeprefix("\ufeff")
    at = 0
    while (opened := _OPEN.match(text, at)) is not None:
        closed = re.compile(f"</{opened[1]}>", re.IGNORECASE).search(text, opened.end())
        if closed is None:
            raise Unreadable("the reasoning does not end, and no answer follows it")
        at = closed.end()
    text = text[at:]
    if (closed := _CLOSE.search(text)) is not None and _ANY.search(text, 0, closed.start()) is None:
        text = text[closed.end() :]
    if not text.strip():
        raise Unreadable("the answer is empty")
    return text.strip()


def plain(text: str) -> str:
    """The answer where a word or a number is expected: there no reasoning may be left, wherever it stands."""
    text = without_reasoning(text)
    if len(text) > LONGEST:
        raise Unreadable(f"it has {len(text):,} characters where a word or a number is asked for")
    if (lines := len(text.splitlines())) > MOST_LINES:
        raise Unreadable(f"it has {lines:,} lines where a word or a number is asked for")
    if _ANY.search(text) is not None:
        raise Unreadable("reasoning stands within the answer")
    return text


class Statement(NamedTuple, Generic[T]):
    """A verdict on one line: whether a label says so, and what stands after it on that line."""

    value: T
    line: int
    labelled: bool
    rest: str


class ReadAnswer(NamedTuple, Generic[T]):
    """A verdict with what else the answer says: `rest` of its line, the lines `before` and `after`."""

    value: T
    labelled: bool
    rest: str
    before: str
    after: str


def verdict(
    text: str, match: Callable[[str], tuple[T, str] | None], wanted: str, asked: Sequence[str] = ()
) -> ReadAnswer[T]:
    """The verdict of an answer. `match` reads one from the beginning of a line: (value, what follows it).

    What a label that says "answer" or one of `asked` introduces must be a verdict.

    It must lead the answer, stand alone on its first or last line, or be labelled; all verdicts must agree.
    """
    lines = _lines(text)
    found: list[Statement[T]] = []
    for number, line in enumerate(lines):
        labelled = _LABELLED.match(line)
        body = _unwrapped(line[labelled.end() :] if labelled else line)
        matched = match(body)
        if matched is not None and _ENDS.match(matched[1]):
            found.append(Statement(matched[0], number, labelled is not None, matched[1]))
        elif labelled is not None and any(word in labelled[1].lower() for word in (*_VERDICT, *asked)):
            raise Unreadable(f"what it calls its {labelled[1].lower()} is not {wanted}")
    last = len(lines) - 1
    stated = [s for s in found if s.labelled or s.line == 0 or (s.line == last and not s.rest.strip(" .!"))]
    if not stated:
        raise Unreadable(f"it is not {wanted}, and nothing else")
    if any(other.value != stated[0].value for other in found):
        raise Unreadable("it gives more than one answer")
    one = max(stated, key=lambda s: s.labelled)
    again = {s.line: s.rest for s in found}  # the same verdict on another line does not explain it
    said = [again.get(number, line) for number, line in enumerate(lines)]
    before, after = "\n".join(said[: one.line]), "\n".join(said[one.line + 1 :])
    if doubts(text):
        raise Unreadable("it takes its answer back or is not sure of it")
    return ReadAnswer(one.value, one.labelled, one.rest, before, after)


def _lines(text: str) -> list[str]:
    """The lines that say something, as plain text. A label alone on its line (a heading) is joined to the next one."""
    text = _without_tags(_as_labels(_FENCE.sub("", text)))
    lines = [line for line in map(_bare, text.splitlines()) if line]
    joined: list[str] = []
    for line in lines:
        if joined and _LABEL_ALONE.fullmatch(joined[-1]):
            joined[-1] = f"{joined[-1].rstrip(' :')}: {line}"
        else:
            joined.append(line)
    return joined


def _without_tags(text: str) -> str:
    """`<answer>no</answer>` as a line `answer: no`."""
    parts: list[str] = []
    at, lowered = 0, text.lower()
    if len(lowered) != len(text):  # a few letters are longer in lower case
        return text
    for tag in _TAG.finditer(text):
        end = lowered.find(f"</{tag[1].lower()}>", tag.end(), tag.end() + _WITHIN_TAG + len(tag[0]) + 1)
        if tag.start() < at or end < 0:
            continue
        parts += [text[at : tag.start()], f"answer: {text[tag.end() : end].strip() or '(nothing)'}"]
        at = end + len(tag[0]) + 1
    return "".join([*parts, text[at:]])


def _as_labels(text: str) -> str:
    """An answer that is one flat JSON object and nothing else, as a line `key: value` a key; any other as it is."""
    try:
        found = json.loads(text, object_pairs_hook=_distinct, strict=False)
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, dict) or any(isinstance(value, dict | list) for value in found.values()):
        return text
    if len([key for key in found if key.lower() not in _EXPLAINING]) != 1 or found.get("confidence") == 0:
        raise Unreadable("its JSON object says more than its answer, which may be the opposite")
    lines = {key: value if isinstance(value, str) else json.dumps(value) for key, value in found.items()}
    return "\n".join(f"{key.replace('_', ' ')}: {value}" for key, value in lines.items())


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _bare(line: str) -> str:
    """A line without mark-up, and without the quotes or brackets around all of it."""
    return _unwrapped(_MARKUP.sub(_kept_underscores, line))


def _kept_underscores(mark: re.Match[str]) -> str:
    """The underscores within a word; those around one are mark-up."""
    around = mark.string[max(0, mark.start() - 1) : mark.start()] + mark.string[mark.end() : mark.end() + 1]
    return mark[0] if mark[1] and len(around) == 2 and around.replace("_", "").isalnum() else ""


def _unwrapped(line: str) -> str:
    """The line without quotes or brackets that hold all of it (two pairs at most) or its first word alone."""
    line = line.strip()
    for _ in range(2):
        whole = len(line) > 1 and _PAIRS.get(line[0]) == line[-1] and line[0] not in line[1:-1]
        if whole or (line[:2] == "[[" and line[-2:] == "]]"):
            line = line[1:-1].strip()
    if line and (closing := _PAIRS.get(line[0])):
        inner, found, rest = line[1:].partition(closing)
        if found and len(inner.split()) == 1:
            return inner + rest
    return line


def one_of(words: Sequence[str]) -> re.Pattern[str]:
    """A pattern of any of `words`, the longest first; blanks, hyphens and underscores in them are one another."""
    parts = [r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", word))) for word in words]
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(sorted(parts, key=len, reverse=True))})(?![\w-]|\.\w)", re.IGNORECASE)
