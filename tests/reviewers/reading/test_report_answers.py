"""Whatever a model answers is read, or Unreadable; nothing else comes out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.records import Change, ChangedFile, Review
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.request.messages import load_prompt
from reviewgauge.reviewers.pr_review import PrReview
from reviewgauge.reviewers.reading.change_text import focus_piece
from reviewgauge.reviewers.reading.model_answers import PieceReview
from reviewgauge.reviewers.reading.placing import numbered, placed
from reviewgauge.reviewers.reading.presets import PRESETS, PresetName

PATCH = "@@ -1,2 +1,3 @@\n a\n+b\n+c\n d"
NAMES = get_args(PresetName)
WORDS = st.sampled_from(["a.py", "../x", "+b", "[][2]", "[9][]", "\x00", "\ud800", "b is not used"])
TEXT = st.one_of(st.text(), WORDS)
ANY = st.one_of(st.none(), st.booleans(), st.integers(), TEXT, st.lists(TEXT, max_size=3))
RANKED = {"area": st.sampled_from(["tests", "Security", "other"]), "severity": st.sampled_from(["low", "HIGH"])}
GOOD = st.fixed_dictionaries({"comment": WORDS, **RANKED}, optional={"file": WORDS, "code": WORDS})
ODD = st.fixed_dictionaries({}, optional=dict.fromkeys(("comment", "area", "severity", "file", "code"), ANY))
OBJECT = st.fixed_dictionaries(
    {
        "findings": st.one_of(st.lists(GOOD, max_size=3), st.lists(ODD, max_size=3), ANY),
        "lines": st.one_of(st.lists(WORDS, max_size=12), ANY),
        "is_merged": st.one_of(st.booleans(), ANY),
        **dict.fromkeys(("comment", "reason", "tests", "security"), st.one_of(WORDS, ANY)),
    }
)
ANSWER = st.one_of(st.text(), st.builds(json.dumps, OBJECT))


def change(preset: PresetName) -> Change:
    files = (ChangedFile(path="a.py", patch=PATCH),)
    return Change(id="c", repo="o/r", files=files, task=PRESETS[preset].tasks[0])


def stored(read: Callable[[str], PieceReview], answer: str, about: Change) -> None:
    """Read an answer as a reviewer does, down to the line of a run."""
    try:
        found: PieceReview = read(answer)
    except Unreadable:
        return
    (piece,) = focus_piece(about).pieces
    comments = numbered(placed(comment, piece) for comment in found.comments)
    review = Review(
        case="c", system="s", comments=comments, ranked_lines=found.ranked_lines, trace=found.remark or None
    )
    assert Review.model_validate_json(review.to_line()) == review


@pytest.mark.parametrize("preset", NAMES)
@given(answer=ANSWER)
def test_presets(preset: PresetName, answer: str) -> None:
    about, name = change(preset), preset + ("_fenced" if PRESETS[preset].printed else "")
    prompt = load_prompt("reviewgauge.reviewers", name)
    stored(lambda text: PRESETS[preset].reader(text, about, prompt), answer, about)


@given(answer=ANSWER)
def test_ranked_reports(answer: str) -> None:
    about = change("swr")
    stored(PrReview("fake:rules").read, answer, about)
