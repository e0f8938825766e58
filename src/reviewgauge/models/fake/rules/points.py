"""The rules about change-points: `points_extract`, `points_hit` and `change_points`."""

from __future__ import annotations

import json
import re

from reviewgauge.models.fake.rules.prompts import FENCED, prompt_of
from reviewgauge.models.request.messages import Request
from reviewgauge.models.text.lexical import dice

EXTRACT = "You list the change-points of a code review."
HIT = "You compare the change-points that a code review predicted"
CHANGE_POINTS = "You read the history of a pull request and list its change-points."

TYPE_WORDS = (
    ("F.4", ("check", "validate", "null", "none", "boundary", "overflow", "missing case")),
    ("F.3", ("leak", "close", "lock", "memory", "resource", "race", "thread")),
    ("F.1", ("signature", "interface", "argument", "parameter", "caller")),
    ("F.5", ("library", "dependency", "version", "upgrade")),
    ("F.6", ("not implemented", "whole feature", "rewrite")),
    ("F.2", ("wrong", "bug", "logic", "incorrect", "crash", "injection", "error", "fails", "loop")),
    ("E.1.1", ("comment", "docstring", "documentation", "typo", "rename", "name")),
    ("E.1.2", ("type hint", "annotation", "const", "final")),
    ("E.2", ("indent", "whitespace", "format", "blank line", "style")),
    ("E.3.1", ("move", "duplicate", "unused", "dead code", "remove")),
    ("E.3.2", ("test", "refactor", "simplify", "complex")),
)
GRAVE = ("crash", "security", "injection", "data loss", "deadlock", "corrupt")
_COMMENT = re.compile(r"^Comment (\d+)\n<<<DATA (\w+)>>>\n(.*?)\n<<<END \2>>>$", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(.+)$", re.MULTILINE)
_PLACE_LINE = re.compile(r"\A\[[^\]\n]+\]\n")

OTHERWISE = "\nIn other words:\n"
HIT_FROM = 0.3
_BLOCK = re.compile(r"^([KP]\d+)\n<<<DATA (\w+)>>>\n(.*?)\n<<<END \2>>>$", re.MULTILINE | re.DOTALL)

_COMMIT = re.compile(
    rf"^(?P<label>C\d+)(?:, [\d: -]+)?\n{FENCED.format('message')}\n{FENCED.format('diff')}$", re.MULTILINE | re.DOTALL
)
_THREAD = re.compile(
    rf"^(?P<label>T\d+), a thread(?: said on (?P<on>C\d+))?\n{FENCED.format('place')}$", re.MULTILINE | re.DOTALL
)
_TURN = re.compile(
    rf"^(?P<label>T\d+)\.\d+ reviewer(?: \d+)?(?:, [\d: -]+)?\n{FENCED.format('turn')}$", re.MULTILINE | re.DOTALL
)
_PLACE = re.compile(r"(?P<path>.*?)(?:, lines? \d+(?: to \d+)?(?: before the change)?)?\Z")


def extract(request: Request) -> str:
    """A comment with list items is one point an item, any other is one point as it stands.

    The type is that of the first of these lines with a word that begins a word of the point, else E.3.2. The severity
    is 9 for a point with crash, security, injection, data loss, deadlock or corrupt, 6 for a functional type, else 3.

    - F.4: check, validate, null, none, boundary, overflow, missing case
    - F.3: leak, close, lock, memory, resource, race, thread
    - F.1: signature, interface, argument, parameter, caller
    - F.5: library, dependency, version, upgrade
    - F.6: not implemented, whole feature, rewrite
    - F.2: wrong, bug, logic, incorrect, crash, injection, error, fails, loop
    - E.1.1: comment, docstring, documentation, typo, rename, name
    - E.1.2: type hint, annotation, const, final
    - E.2: indent, whitespace, format, blank line, style
    - E.3.1: move, duplicate, unused, dead code, remove
    - E.3.2: test, refactor, simplify, complex
    """
    points = []
    for number, _, text in _COMMENT.findall(request.messages[1].text):
        body = _PLACE_LINE.sub("", text)
        for point in _ITEM.findall(body) or [body]:
            words = " ".join(point.split())
            kind = type_of(words)
            points.append({"comment": int(number), "point": words, "type": kind, "severity": _severity(words, kind)})
    unique = {json.dumps(point): point for point in points}
    return json.dumps({"points": list(unique.values())})


def type_of(text: str) -> str:
    """The type by the table of words."""
    text = text.lower()
    return next((code for code, words in TYPE_WORDS if any(re.search(rf"\b{word}", text) for word in words)), "E.3.2")


def _severity(text: str, kind: str) -> int:
    if any(word in text.lower() for word in GRAVE):
        return 9
    return 6 if kind.startswith("F") else 3


def hit(request: Request) -> str:
    """A prediction hits a known point if its content words' Dice overlap with one of the phrasings is at least .3."""
    texts = {name: text for name, _, text in _BLOCK.findall(request.messages[1].text)}
    known = [name for name in texts if name.startswith("K")]
    predicted = [name for name in texts if name.startswith("P")]
    hits = [{"known": k, "predictions": [p for p in predicted if _alike(texts[k], texts[p])]} for k in known]
    return json.dumps({"hits": hits})


def _alike(known: str, predicted: str) -> bool:
    phrasings = _PLACE_LINE.sub("", known).split(OTHERWISE)
    return any(dice(phrasing, predicted) >= HIT_FROM for phrasing in phrasings)


def change_points(request: Request) -> str:
    """A review thread is a change-point where a later commit changes its line; the first such commit resolves it.

    Its line is the last of the hunk that it is shown with; without a hunk any change of the file counts. The point is
    the first message of a reviewer in it, its type that of the rule points_extract. It came with the last commit that
    changed the file until then, or with the first of all. A thread that names no commit of the list counts as written
    on the first.
    """
    prompt = prompt_of(request)
    commits = {found["label"]: found["diff_text"] for found in _COMMIT.finditer(prompt)}
    first_words: dict[str, str] = {}
    for turn in _TURN.finditer(prompt):
        first_words.setdefault(turn["label"], turn["turn_text"])
    points = []
    for thread in _THREAD.finditer(prompt):
        where, _, hunk = thread["place_text"].partition("\n")
        place = _PLACE.match(where)
        words = first_words.get(thread["label"])
        if place is None or words is None or not commits:
            continue
        written_on = thread["on"] or next(iter(commits))
        answer = _resolution(commits, place["path"], hunk.rpartition("\n")[2][1:], written_on)
        if answer is not None:
            introduced, resolved = answer
            points.append(_point(thread["label"], " ".join(words.split()), introduced, resolved))
    return json.dumps({"points": points})


def _resolution(commits: dict[str, str], path: str, line: str, written_on: str) -> tuple[str, str] | None:
    """(the commit that brought the file's code, the later one that changed the line); None where none did."""
    number = int(written_on[1:])
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
        "type": type_of(words),
        "mention": mention,
        "introduced": introduced,
        "resolved": resolved,
        "code": None,
        "explanation": f"{resolved} changes it",
    }
