"""The code of the scripted project: one module for each kind of thing that the shop sells, and how it is changed."""

from __future__ import annotations

from fake_forge.script import Commit, Push, Said, Swap, Thread

_MODULE = '''"""{Thing}s of the shop."""

from dataclasses import dataclass


@dataclass
class {Thing}:
    """One {thing}."""

    name: str
    price: int = 0
    count: int = 1


def find_{thing}({thing}s, name):
    """The {thing} of that name."""
    for {thing} in {thing}s:
        if {thing}.name == name:
            return {thing}
    return None


def total_{thing}s({thing}s):
    """What all {thing}s cost."""
    total = 0
    for {thing} in {thing}s:
        total += {thing}.price * {thing}.count
    return total


def describe_{thing}({thing}):
    """One line about a {thing}."""
    return "%s (%d)" % ({thing}.name, {thing}.price)
'''
_ADDED = '''

def discount_{thing}({thing}, percent):
    """The price of a {thing} less a discount."""
    rate = percent / 100
    return {thing}.price - {thing}.price * rate


def load_{thing}s(path):
    """Read {thing}s from a file, one on a line."""
    handle = open(path)
    rows = [line.split(",") for line in handle.readlines()]
    return [{Thing}(row[0], int(row[1])) for row in rows]
'''
_LAST = 'return "%s (%d)" % ({thing}.name, {thing}.price)\n'
_OPEN = '    handle = open(path)\n    rows = [line.split(",") for line in handle.readlines()]\n'
_WITH = '    with open(path) as handle:\n        rows = [line.split(",") for line in handle]\n'
_THINGS = (
    "apple bread candle drum egg fan globe hat ink jar kettle lamp mug nail oar pan quilt rope saw tent urn vase wheel "
    "yarn zip axe bell coat dish easel flute glove harp iron jug knife lock mirror needle organ pillow ruler spoon"
)
THINGS = tuple(_THINGS.split())


def path_of(thing: str) -> str:
    """Its module."""
    return f"shop/{thing}s.py"


def module(thing: str) -> str:
    """The module as the project has it at first."""
    return _fill(_MODULE, thing)


def addition(thing: str) -> Commit:
    """The commit that most pull requests begin with: two functions with flaws."""
    last = _fill(_LAST, thing)
    return Commit(f"Add discounts and loading for {thing}s", {path_of(thing): Swap(last, last + _fill(_ADDED, thing))})


def correction(thing: str) -> Commit:
    """What a review asked for: the file is closed."""
    return Commit(f"Close the file of {thing}s", {path_of(thing): Swap(_fill(_OPEN, thing), _fill(_WITH, thing))})


def rewriting(thing: str) -> Commit:
    """Every line that the threads stand on is changed."""
    changed = (
        Swap(_fill(_OPEN, thing), _fill(_WITH, thing)),
        Swap("rate = percent / 100", "rate = Decimal(percent) / 100"),
        Swap(
            _fill("return [{Thing}(row[0], int(row[1])) for row in rows]", thing),
            _fill("return list(map({Thing}.parse, rows))", thing),
        ),
    )
    return Commit(f"Rework {thing}s after the review", {path_of(thing): changed})


def later_fix(thing: str, number: int) -> Commit:
    """A fix of what nobody saw in the review: the line that the loading of a short row breaks on."""
    old = _fill("return [{Thing}(row[0], int(row[1])) for row in rows]", thing)
    new = _fill("return [{Thing}(row[0], int(row[1])) for row in rows if len(row) > 1]", thing)
    return Commit(f"Fix crash on short rows of {thing}s\n\nFixes #{number}", {path_of(thing): Swap(old, new)})


def undoing(thing: str) -> Commit:
    """The module as it was before its pull request."""
    return Commit(f"Take discounts for {thing}s out for now", {path_of(thing): module(thing)})


def two_pushes(thing: str) -> tuple[Push, ...]:
    """The flaws, and a day later what the review asked for."""
    return (Push((addition(thing),)), Push((correction(thing),), hours=30))


def three_threads(thing: str, reviewer: str = "bob", author: str = "ann") -> tuple[Thread, ...]:
    """A thread that is adopted, one that is answered, one that nobody takes up."""
    path = path_of(thing)
    closing = (
        Said(reviewer, f"The file with the {thing}s is never closed. Please open it in a with statement.", 5, thumbs=1),
        Said(author, "Good catch, changed.", 31),
    )
    rounding = (
        Said(reviewer, f"A float loses cents on large {thing} orders; this should compute with Decimal.", 6),
        Said(author, "Prices are small here, I would keep it.", 29),
    )
    short = (Said(reviewer, f"A row of {thing}s without a comma raises an IndexError in this comprehension.", 7),)
    return (
        Thread(path, "handle = open(path)", closing, resolved_by=author),
        Thread(path, "rate = percent / 100", rounding),
        Thread(path, "int(row[1])", short),
    )


def _fill(text: str, thing: str) -> str:
    return text.replace("{thing}", thing).replace("{Thing}", thing.title())
