"""A review thread is a change-point where a commit after the one it was said on changes its line; the first such one.

Its line is the last of the hunk that it is shown with; without a hunk any change of the file counts. The point is the
first message of a reviewer in it, its type that of the rule points_extract. It came with the last commit that changed
the file until then, or with the first of all. A thread that was said on no commit of the list counts as said on the
first.
"""

from __future__ import annotations

import json
import re

from reviewgauge.models.fake.rules.points_extract import kind_of
from reviewgauge.models.fake.rules.slots import FENCED
from reviewgauge.models.request.messages import Request, Role

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
        where, _, hunk = thread["place_text"].partition("\n")
        place = _PLACE.match(where)
        words = first_words.get(thread["label"])
        if place is None or words is None or not commits:
            continue
        said_on = thread["on"] or next(iter(commits))
        answer = _answered(commits, place["path"], hunk.rpartition("\n")[2][1:], said_on)
        if answer is not None:
            introduced, resolved = answer
            points.append(_point(thread["label"], " ".join(words.split()), introduced, resolved))
    return json.dumps({"points": points})


def _answered(commits: dict[str, str], path: str, line: str, said_on: str) -> tuple[str, str] | None:
    """(the commit that brought the file's code, the one that changed the line afterwards); None where none did."""
    number = int(said_on[1:])
    touching = {label: part for label, diff in commits.items() if (part := _of_file(diff, path))}
    before = [label for label in touching if int(label[1:]) <= number]
    later = [label for label, part in touching.items() if int(label[1:]) > number and (not line or f"-{line}" in part)]
    return ((before[-1] if before else next(iter(commits))), later[0]) if later else None


def _of_file(diff: str, path: str) -> list[str]:
    """The lines of one file in a diff."""
    parts = re.split(r"^(?==== )", diff, flags=re.MULTILINE)
    return next((part.split("\n") for part in parts if part.startswith(f"=== {path} (")), [])


def _point(mention: str, words: str, introduced: str, resolved: str) -> dict[str, str | None]:
    return {
        "point": words,
        "type": kind_of(words),
        "mention": mention,
        "introduced": introduced,
        "resolved": resolved,
        "code": None,
        "explanation": f"{resolved} changes it",
    }
