"""How likely a label holds: a logistic model of four signs, which `benchmarks/labels.py` fits to labels of known truth.

A fix mends what it changes; whether the change under review brought that is another question. It mostly did where it
wrote the code around the line, too, where the fix is small, where the words that the fix changes are not among those
that the change deleted (the same defect would have been there before), and where the code around stayed as it was until
the fix (nobody else broke it).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from reviewgauge.core.records import ChangedFile, Side
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.syntax.product import not_product, trivial
from reviewgauge.repo.szz.trace import Inducing
from reviewgauge.stages.history.lines import normal, touched_at, words_of

_AROUND = 10  # lines before and after a labelled one


class Signs(NamedTuple):
    """What speaks for a label and against it.

    `wrote`: the logarithm of how many lines in a row the change wrote there. `replaced`: that of the lines of product
    code that the fix takes away, plus one. `older`: the share of the words which the fix changes that the change had
    deleted somewhere. `stayed`: the share of the lines around that the file still had just before the fix.
    """

    wrote: float
    replaced: float
    older: float
    stayed: float


class Place(NamedTuple):
    """A labelled line: its path and number at the head of the change, its file there and just before the fix."""

    path: str
    at: int
    head: str
    fixed: str
    line: Inducing


INTERCEPT = -1.42
WEIGHTS = Signs(wrote=0.255, replaced=-0.771, older=-0.915, stayed=3.122)


def probability(signs: Signs) -> float:
    """How likely a person who reads change, lines and fix says that a label with such signs holds."""
    return 1 / (1 + math.exp(-INTERCEPT - sum(weight * sign for weight, sign in zip(WEIGHTS, signs, strict=True))))


def read_signs(files: Sequence[ChangedFile], fix: Sequence[ChangedFile], places: Sequence[Place]) -> Signs:
    """The signs of a label: `files` is the diff of the change, `fix` that of the fix."""
    runs = [_run(files, place.path, place.at) for place in places]
    gone = words_of(line for file in files if not not_product(file.path) for line in _lines(file, "-"))
    taken = sum(not trivial(line) for file in fix if not not_product(file.path) for line in _lines(file, "-"))
    changed = [word for place in places for word in _words(fix, place.line)]
    return Signs(
        math.log(max(runs)),
        math.log1p(taken),
        sum(word in gone for word in changed) / max(1, len(changed)),
        sum(map(_stayed, places)) / len(places),
    )


def _lines(file: ChangedFile, kind: str) -> list[str]:
    return [line.text for hunk in parse_patch(file.patch or "") for line in hunk.lines if line.kind == kind]


def _run(files: Sequence[ChangedFile], path: str, at: int) -> int:
    """How many added lines in a row the line `at` is one of; 1 where it is none."""
    patches = (file.patch or "" for file in files if file.path == path)
    added = {line.new for patch in patches for hunk in parse_patch(patch) for line in hunk.lines if line.kind == "+"}
    first = last = at
    while first - 1 in added:
        first -= 1
    while last + 1 in added:
        last += 1
    return last - first + 1


def _words(fix: Sequence[ChangedFile], line: Inducing) -> list[str]:
    """The words of a line that the fix changes; those beside what it inserts, where it changes none."""
    touched = touched_at(fix, line.fix_path, line.fix_line, Side.OLD)
    return [] if touched is None else [touched.tokens[at] for at in touched.changed or touched.beside]


def _stayed(place: Place) -> float:
    lines, later = place.head.split("\n"), {normal(line) for line in place.fixed.split("\n")}
    around = [text for line in lines[max(0, place.at - 1 - _AROUND) : place.at + _AROUND] if (text := normal(line))]
    return sum(text in later for text in around) / max(1, len(around))
