"""A review thread is a change-point where a commit after the one it was said on changes its file; the first such one.

The point is the first message of a reviewer in it, its type that of the rule points_extract. It came
with the last commit that changed the file until then, or with the first of all. A thread that was said on no commit of
the list counts as said on the first.
"""

from __future__ import annotations

import json
import re

from reviewbench.models.fakes._slots import FENCED
from reviewbench.models.fakes.points_extract import kind_of
from reviewbench.models.messages import Request, Role

OPENING = "You read the history of a pull request and list its change-points."
_COMMIT = re.compile(
    rf"^(?P<label>C\d+)(?:, [\d: -]+)?\n{FENCED.format('message')}\n{FENCED.format('diff')}$", re.MULTILINE | re.DOTALL
)
_THREAD = re.compile(
    rf"^(?P<label>T\d+), a thread(?: said on (?P<on>C\d+))?\n{FENCED.format('place')}$", re.MULTILINE | re.DOTALL
)
_TURN = re.compile(
    rf"^(?P<label>T\d+)\.\d+ reviewer(?: \d+)?(?:, [\d: -]+)?\n{FENCED.format('said')}$", re.MULTILINE | re.DOTALL
)
_PLACE = re.compile(r"(?P<path>.*?)(?:, lines? \d+(?: to \d+)?(?: before the change)?)?\Z")


def reply(request: Request) -> str:
    """The list of change-points, as JSON."""
    asked = next(message.text for message in request.messages if message.role is Role.USER)
    commits = {found["label"]: found["diff_text"] for found in _COMMIT.finditer(asked)}
    first_words: dict[str, str] = {}
    for turn in _TURN.finditer(asked):
        first_words.setdefault(turn["label"], turn["said_text"])
    points = []
    for thread in _THREAD.finditer(asked):
        place = _PLACE.match(thread["place_text"].split("\n", maxsplit=1)[0])
        words = first_words.get(thread["label"])
        if place is None or words is None or not commits:
            continue
        said_on = thread["on"] or next(iter(commits))
        answer = _answered(commits, place["path"], said_on)
        if answer is not None:
            introduced, resolved = answer
            points.append(_point(thread["label"], " ".join(words.split()), introduced, resolved))
    return json.dumps({"points": points})


def _answered(commits: dict[str, str], path: str, said_on: str) -> tuple[str, str] | None:
    """(the commit that brought the file's code, the one that changed it afterwards); None where none did."""
    number = int(said_on[1:])
    touching = [label for label, diff in commits.items() if f"\n=== {path} (" in f"\n{diff}"]
    later = [label for label in touching if int(label[1:]) > number]
    before = [label for label in touching if int(label[1:]) <= number]
    return ((before[-1] if before else next(iter(commits))), later[0]) if later else None


def _point(mention: str, words: str, introduced: str, resolved: str) -> dict[str, str | None]:
    return {
        "point": words,
        "type": kind_of(words),
        "mention": mention,
        "introduced": introduced,
        "resolved": resolved,
        "code": None,
        "explanation": f"{resolved} changes the same file",
    }
