"""`fake:rules` follows the rules, its kin stray from them: `noisy-30`, `fickle-30`, `contrary`, `literal`."""

from __future__ import annotations

import json
import re
from functools import partial

from pydantic import JsonValue

from fake_rules.review_rules import as_notes, judged_lines, named_report, report, review
from fake_rules.rules import RULES
from reviewgauge.models.fake import MODELS, first_example, share_of
from reviewgauge.models.request.messages import Repeat, Request

_WORD = re.compile(r"\b(yes|no)\b")
_GRADE = re.compile(r"(?<![\w.])([1-5])(?![\w.]\d|\w)")
_FINDINGS = '{"points": [{'  # how the reply of a rule begins that lists something


def by_rules(request: Request) -> str | None:
    """The answer by the first rule whose opening words the messages hold; else the prompt's own example."""
    asked = "\n".join(message.text for message in request.messages)
    own = next((rule for rule in RULES if rule.opening in asked), None)
    return first_example(request, Repeat(), None) if own is None else own.reply(request)


def say(name: str, request: Request, repeat: Repeat, seed: int | None) -> str | None:
    """The answer of the toy model of this name."""
    text, (kind, _, percent) = by_rules(request), name.partition("-")
    if text is None or kind == "rules":
        return text
    if kind == "literal":  # reports only what the prompt names
        return named_report(request) if text == report(request) else text
    if kind == "fickle":  # judges each added line of a review wrongly in N% of the repeats, apart from all others
        return _fickle(request, f"fickle\0{seed}:{tuple(repeat)}", int(percent)) if text == review(request) else text
    prompt = "\n".join(message.text for message in request.messages)
    strays = kind == "contrary" or share_of(f"noisy\0{seed}:{tuple(repeat)}\0{prompt}") * 100 < int(percent)
    return contradict(text) if strays else text


def contradict(text: str) -> str:
    """The opposite of a reply: yes is no, true is false, a grade g is 6 - g, a list of findings is empty."""
    if text.startswith(_FINDINGS):
        return json.dumps({"points": []})
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return json.dumps({name: _opposite(part) for name, part in value.items()}, ensure_ascii=False)
    if _WORD.search(text):
        return _WORD.sub(lambda match: "no" if match[0] == "yes" else "yes", text, count=1)
    return _GRADE.sub(lambda match: str(6 - int(match[1])), text, count=1)


def _opposite(value: JsonValue) -> JsonValue:
    if isinstance(value, bool):
        return not value
    if isinstance(value, list):
        return [_opposite(part) for part in value]
    if isinstance(value, dict):
        return {name: _opposite(part) for name, part in value.items()}
    return 6 - value if isinstance(value, int) and 1 <= value <= 5 else value


def _fickle(request: Request, draw: str, percent: int) -> str:
    said = []
    for line, note in judged_lines(request):
        strays = share_of(f"{draw}\0{line}\0{request.messages[0].text}") * 100 < percent
        if strays != (note is not None):
            said.append((line, note or f"Why {line[1:].strip()}?"))
    return as_notes(said)


def register() -> None:
    """Make the toy models known as `fake:rules`, `fake:noisy-30` ..."""
    names = ["rules", "contrary", "literal", *(f"{kind}-{n}" for kind in ("noisy", "fickle") for n in range(61))]
    MODELS.update({name: partial(say, name) for name in names})
