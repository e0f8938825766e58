"""Edit similarity equals NLTK's distance and the textbook's table, in characters and in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from nltk.metrics.distance import edit_distance
from rapidfuzz.distance import Levenshtein
from scipy.stats import spearmanr

from graded_pairs import grades, pairs
from reviewgauge.metrics.edit import Edit
from reviewgauge.metrics.texts.text_metric import TextPair
from text_metrics import check_rules, parts_of, read, references, texts, value

Unit = Literal["chars", "words"]
UNITS: tuple[Unit, ...] = ("chars", "words")


def textbook(a: Sequence[str], b: Sequence[str]) -> int:
    """Levenshtein's distance, cell by cell."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        last, row = row, [i]
        for j, y in enumerate(b, start=1):
            row.append(min(row[-1] + 1, last[j] + 1, last[j - 1] + (x != y)))
    return row[-1]


@pytest.mark.parametrize("unit", UNITS)
def test_rules(unit: Unit) -> None:
    check_rules(Edit(unit=unit), most=1)


@pytest.mark.parametrize("unit", UNITS)
@given(said=texts.filter(str.strip), wanted=references)
def test_equals_the_textbook_nltk_and_rapidfuzz(unit: Unit, said: str, wanted: tuple[str, ...]) -> None:
    def split(text: str) -> Sequence[str]:
        return text if unit == "chars" else text.split()

    mine = split(said)
    expected = []
    for text in wanted:
        edits = textbook(mine, split(text))
        assert edits == edit_distance(mine, split(text)) == Levenshtein.distance(mine, split(text))
        expected.append(edits / max(len(mine), len(split(text))))
    parts = parts_of(Edit(unit=unit), said, *wanted)
    assert parts["distance"] == pytest.approx(min(expected), abs=1e-12)
    assert parts["similarity"] == pytest.approx(1 - min(expected), abs=1e-12)


def test_both_measures_stand_and_one_is_better_when_lower() -> None:
    measures = read(Edit(), [parts_of(Edit(), "kitten", "sitting"), parts_of(Edit(), " ", "sitting")])
    assert measures == pytest.approx({"similarity": (4 / 7 + 0) / 2, "distance": (3 / 7 + 1) / 2})
    assert Edit.lower_is_better == {"distance"}
    assert value(Edit(unit="words"), "fix the lock", "fix this lock now") == pytest.approx(0.5)


@pytest.mark.parametrize("unit", UNITS)
def test_a_comment_of_1_mb(unit: Unit) -> None:
    huge = "a " * 500_000
    parts = parts_of(Edit(unit=unit), huge, "a b")
    # every code point or word but those of the reference goes, and of those only the b is not there
    units = {"chars": (1_000_000, 2), "words": (500_000, 1)}[unit]
    assert parts["similarity"] == pytest.approx(units[1] / units[0], abs=1e-12)
    assert value(Edit(unit=unit), huge, huge) == 1


def test_graded_reviews_figure(shared_data: Path) -> None:
    """Spearman with the grade on all 5,164 rows of GradedReviews, recomputed; the paper has none."""
    found = Edit().segments([TextPair(row.hypothesis, (row.reference,)) for row in pairs(shared_data)])
    scores = [parts["similarity"] for parts in found]
    assert spearmanr(scores, np.array(grades(shared_data))).statistic == pytest.approx(0.1662, abs=0.0005)
