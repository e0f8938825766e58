"""How likely a label holds: a logistic model of five signs, which `benchmarks/labels.py` fits to labels read by hand.

A fix mends what it changes; whether the change under review brought that is another question. It mostly did where the
fix is small and says when it goes wrong, where the words that it changes are not among those that the change deleted
(the same defect would have been there before), and where the code around stayed as it was until the fix (nobody else
broke it).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from reviewgauge.core.records import ChangedFile, Side
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.syntax.product import not_product
from reviewgauge.repo.szz.trace import Inducing
from reviewgauge.stages.history.lines import normal, touched_at, words_of

_AROUND = 10  # lines before and after a labelled one
_WHEN = re.compile(r"\b(?:when\w*|if|after|while|once|without|before|during|unless|until)\b", re.IGNORECASE)
_FEATURE_REQUEST = re.compile(
    r"\b(?:support|allow|compat|option|default|setting|unicode|encod|windows|win32|py(?:thon)? ?3|import|logging"
    r"|warning|deprecat|style|clean)",
    re.IGNORECASE,
)


class LabelFeatures(NamedTuple):
    """What speaks for a label and against it.

    `changed`: the logarithm of the lines of product code that the fix adds and takes away, plus one. `older`: the share
    of the words which the fix changes that the change had deleted somewhere. `stayed`: the share of the lines around
    that the file still had just before the fix. `when`: 1 where the title of the fix names a condition under which it
    goes wrong. `feature_request`: 1 where it names what mostly nobody had promised, such as an option or support of a
    system.
    """

    changed: float
    older: float
    stayed: float
    when: float
    feature_request: float


class Place(NamedTuple):
    """A labelled line: its number at the head of the change, its file there and just before the fix."""

    at: int
    head: str
    fixed: str
    line: Inducing


INTERCEPT = 0.603
WEIGHTS = LabelFeatures(changed=-0.513, older=-0.687, stayed=1.992, when=0.563, feature_request=-1.052)


def probability(signs: LabelFeatures) -> float:
    """How likely a person who reads change, lines and fix says that a label with such signs holds."""
    return 1 / (1 + math.exp(-INTERCEPT - sum(weight * sign for weight, sign in zip(WEIGHTS, signs, strict=True))))


def label_features(
    files: Sequence[ChangedFile], fix: Sequence[ChangedFile], title: str, places: Sequence[Place]
) -> LabelFeatures:
    """The features of a label: `files` is the diff of the change, `fix` that of the fix, `title` the fix's own."""
    gone = words_of(line for file in files if not not_product(file.path) for line in _lines(file, "-"))
    product = [line for file in fix if not not_product(file.path) for kind in "-+" for line in _lines(file, kind)]
    changed = [word for place in places for word in _words(fix, place.line)]
    return LabelFeatures(
        math.log1p(len(product)),
        sum(word in gone for word in changed) / max(1, len(changed)),
        sum(map(_stayed, places)) / len(places),
        float(_WHEN.search(title) is not None),
        float(_FEATURE_REQUEST.search(title) is not None),
    )


def _lines(file: ChangedFile, kind: str) -> list[str]:
    return [line.text for hunk in parse_patch(file.patch or "") for line in hunk.lines if line.kind == kind]


def _words(fix: Sequence[ChangedFile], line: Inducing) -> list[str]:
    """The words of a line that the fix changes; those beside what it inserts, where it changes none."""
    touched = touched_at(fix, line.fix_path, line.fix_line, Side.OLD)
    return [] if touched is None else [touched.tokens[at] for at in touched.changed or touched.beside]


def _stayed(place: Place) -> float:
    lines, later = place.head.split("\n"), {normal(line) for line in place.fixed.split("\n")}
    around = [text for line in lines[max(0, place.at - 1 - _AROUND) : place.at + _AROUND] if (text := normal(line))]
    return sum(text in later for text in around) / max(1, len(around))
