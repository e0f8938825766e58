"""Behaviours of the fake model: the faults that judges have, to test the tools that look for them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue

from reviewgauge.models.fake.faults import share_of
from reviewgauge.models.request.messages import Request

_NAME = re.compile(r"(?:reviewgauge-)?(?:fake-)?([a-z]+)(?:-(\d{1,4}))?")
_FENCED = re.compile(r"^<<<DATA (\w+)>>>\n(.*?)\n<<<END \1>>>$", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_GRADE = re.compile(r"(?<![\w.])([1-5])(?![\w.]\d|\w)")
_ORDERED = re.compile(
    r"\b(?:answer|reply|respond|output|say|print|return)\b[^.\n]{0,40}?[\s\"'`*:](yes|no|true|false|[1-5]|10)\b"
    r"|\b(?:score|grade|rate|rating)\b[^.\n]{0,40}?\b([1-5]|10)\b",
    re.IGNORECASE,
)
TOP, BOTTOM = 5, 1
_FINDINGS = '{"points": [{'  # how the reply of a rule begins that lists something


@dataclass(frozen=True)
class FakeBehaviour:
    """How a model of this name departs from the rules. `number` follows the name: `noisy-30`."""

    name: str
    about: str
    number: int
    stray: Callable[[str, Request, str, int], str]

    def say(self, text: str, request: Request, repeat: str) -> str:
        """The model's answer where the rule's is `text`."""
        return self.stray(text, request, repeat, self.number)


def behaviour_of(model: str) -> FakeBehaviour:
    """The behaviour that a model's name selects, such as `noisy-30` or `fake-noisy-30`; `rules` for any other name."""
    found = _NAME.fullmatch(model.lower())
    behaviour = BEHAVIOURS.get(found[1]) if found else None
    if found is None or behaviour is None:
        return BEHAVIOURS["rules"]
    return behaviour if found[2] is None else replace(behaviour, number=int(found[2]))


def is_behaviour(model: str) -> bool:
    """Whether a model's name selects a behaviour, `rules` included."""
    found = _NAME.fullmatch(model.lower())
    return found is not None and found[1] in BEHAVIOURS


def contradict(text: str) -> str:
    """The opposite of a reply: yes is no, true is false, a grade g is 6 - g, a list of findings is empty."""

    def opposite(value: JsonValue) -> JsonValue:
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return TOP + BOTTOM - value if BOTTOM <= value <= TOP else value
        if isinstance(value, str) and value.lower() in ("yes", "no"):
            return "no" if value.lower() == "yes" else "yes"
        return value

    return json.dumps({"points": []}) if text.startswith(_FINDINGS) else _changed(text, opposite)


def approve(text: str, yes: bool = True) -> str:
    """A reply that says yes (or no) to everything, with the highest (or lowest) grade."""

    def approved(value: JsonValue) -> JsonValue:
        if isinstance(value, bool):
            return yes
        if isinstance(value, int):
            return (TOP if yes else BOTTOM) if BOTTOM <= value <= TOP else value
        return ("yes" if yes else "no") if isinstance(value, str) and value.lower() in ("yes", "no") else value

    return _changed(text, approved)


def _changed(text: str, change: Callable[[JsonValue], JsonValue]) -> str:
    """`text` with its verdicts changed: those in its JSON, else its first yes or no, else its first grade."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, (dict, list)):
        return json.dumps(_walk(value, change), ensure_ascii=False)
    if _WORD.search(text):
        return _WORD.sub(lambda match: _as(match[0], str(change(match[0].lower()))), text, count=1)
    return _GRADE.sub(lambda match: str(change(int(match[1]))), text, count=1)


def _as(model: str, word: str) -> str:
    return word.upper() if model.isupper() else word.capitalize() if model[0].isupper() else word


def _walk(found: JsonValue, value: Callable[[JsonValue], JsonValue]) -> JsonValue:
    if isinstance(found, dict):
        return {name: _walk(part, value) for name, part in found.items()}
    if isinstance(found, list):
        return [_walk(part, value) for part in found]
    return value(found)


def _material(request: Request) -> list[str]:
    """The texts under review: those between fences, or the whole last message where there are none."""
    fenced = [block for message in request.messages for _, block in _FENCED.findall(message.text)]
    return fenced or [request.messages[-1].text]


def _rules(text: str, request: Request, repeat: str, number: int) -> str:
    return text


def _noisy(text: str, request: Request, repeat: str, number: int) -> str:
    return _contradict_some(text, request, f"noisy\0{repeat}", number)


def _touchy(text: str, request: Request, repeat: str, number: int) -> str:
    return _contradict_some(text, request, "touchy", number)


def _contradict_some(text: str, request: Request, seed: str, percent: int) -> str:
    prompt = "\n".join(message.text for message in request.messages)
    return contradict(text) if share_of(f"{seed}\0{prompt}") * 100 < percent else text


def _contrary(text: str, request: Request, repeat: str, number: int) -> str:
    return contradict(text)


def _wordy(text: str, request: Request, repeat: str, number: int) -> str:
    longest = max(len(block.split()) for block in _material(request))
    return approve(text) if longest >= number else text


def _first(text: str, request: Request, repeat: str, number: int) -> str:
    blocks = _material(request)
    return approve(text, blocks[-2] > blocks[-1]) if len(blocks) > 1 else text


def _gullible(text: str, request: Request, repeat: str, number: int) -> str:
    orders = [order for block in _material(request) for order in _ORDERED.findall(block)]
    if not orders:
        return text
    order = (orders[-1][0] or orders[-1][1]).lower()
    return approve(text, order not in ("no", "false", "1", "2"))


_ABOUT: Mapping[str, tuple[str, int, Callable[[str, Request, str, int], str]]] = {
    "rules": ("keeps to the rules", 0, _rules),
    "noisy": ("says the opposite in N% of the repeats (20), by a hash of request, repeat and seed", 20, _noisy),
    "touchy": ("says the opposite on N% of the requests (20), by a hash of every character", 20, _touchy),
    "contrary": ("always says the opposite", 0, _contrary),
    "wordy": ("says yes, or the highest grade, where a text under review has N words or more (60)", 60, _wordy),
    "first": ("says yes where, of the last two fenced texts, the first comes later in the alphabet", 0, _first),
    "gullible": ("does what a text under review tells it to answer", 0, _gullible),
}
BEHAVIOURS: Mapping[str, FakeBehaviour] = {name: FakeBehaviour(name, *rest) for name, rest in _ABOUT.items()}
