"""References that are injected defects: blind readers are credited in their own words, and empty words are not."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from reviewgauge.core.records import Anchoring, Case, Change, ChangedFile, Comment, Origin, Resolution, Review, Span
from reviewgauge.core.results import Verdict
from reviewgauge.judges.lexical import Lexical, faults, same_fault
from reviewgauge.judges.pairs.fixes import added_words, proposes, with_fix
from reviewgauge.metrics.hits import Hits

DEFECTS = tomllib.loads(Path(__file__).with_name("injected_readers.toml").read_text())["defect"]
Row = Mapping[str, Any]
FILLER = [f"    other_{k} = compute_{k}(context)" for k in range(12)]


def reference(row: Row) -> Comment:
    at = len(FILLER[:6]) + len(row["before"]) + 1
    return Comment(
        id="f",
        body=row["told"],
        span=Span(path="a.py", start=at),
        origin=Origin.INJECTED,
        resolution=Resolution(diff=f"@@ -{at},1 +{at},1 @@\n-{row['wrong']}\n+{row['sound']}\n"),
        extra={"operator": row["operator"]},
    )


def change(row: Row, side: str) -> Change:
    lines = [*FILLER[:6], *row["before"], row[side], *row["after"], *FILLER[6:]]
    patch = "\n".join([f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)]) + "\n"
    return Change(repo="o/n", title="Work on things", files=(ChangedFile(path="a.py", patch=patch),))


def comment(row: Row, body: str, off: int = 0) -> Comment:
    span = reference(row).span
    assert span is not None and span.start is not None
    return Comment(id="c", body=body, span=Span(path="a.py", start=span.start + off), anchoring=Anchoring.AS_GIVEN)


def credit(row: Row, side: str, body: str, off: int = 0) -> float:
    """What a comment on the planted line counts, on the defect (`wrong`) or measured alike on the twin (`sound`)."""
    case = Case(id="x", change=change(row, side), references=(reference(row),))
    found = Hits().parts(case, Review(case="x", system="s", comments=(comment(row, body, off),)))
    assert not isinstance(found, str)
    return found.parts["hit"]


@pytest.mark.parametrize(("voices", "least"), [("readers", 0.8), ("unseen", 0.75)])
def test_a_blind_reader_is_credited_in_other_words(voices: str, least: float) -> None:
    """`unseen` were written before the words of `faults.toml`, and not looked at for them."""
    credits = [credit(row, "wrong", body) for row in DEFECTS for body in row[voices]]
    assert len(credits) >= 22
    assert fmean(credits) > least
    assert sum(one > 0.5 for one in credits) >= 0.9 * len(credits)


def quote(row: Row, side: str) -> str:
    return f"Please look at `{row[side].strip()}` again."


def name(row: Row, side: str) -> str:
    words = " ".join(re.findall(r"\w+", row[side]))
    return f"I am not sure that {words} does what was meant here, could somebody confirm the intention?"


EMPTY: dict[str, Callable[[Row, str], str]] = {
    "double check": lambda row, side: "Please double check this line.",
    "bug": lambda row, side: "This is a bug and will fail in production.",
    "quote": quote,
    "quote alone": lambda row, side: f"`{row[side].strip()}`",
    "names": name,
}


@pytest.mark.parametrize("words", EMPTY)
def test_empty_words_and_quotes_earn_next_to_nothing_and_the_same_on_both_arms(words: str) -> None:
    arms = [[credit(row, side, EMPTY[words](row, side)) for row in DEFECTS] for side in ("wrong", "sound")]
    assert max(map(fmean, arms)) < 0.05
    assert fmean(arms[0]) == pytest.approx(fmean(arms[1]), abs=0.01)


def test_the_same_words_count_the_same_on_a_defect_and_its_twin() -> None:
    for row in DEFECTS:
        for body in (row["told"], *row["readers"], *row["unseen"]):
            if not proposes(comment(row, body), reference(row), change(row, "wrong")):
                assert credit(row, "wrong", body) == pytest.approx(credit(row, "sound", body), abs=1e-6), body


def test_what_is_said_of_another_fault_or_elsewhere_counts_little() -> None:
    others = [
        credit(row, "wrong", body)
        for row in DEFECTS
        for other in DEFECTS
        if other["operator"] != row["operator"]
        for body in other["readers"]
    ]
    assert fmean(others) < 0.12
    assert fmean(credit(row, "wrong", row["readers"][0], off=5) for row in DEFECTS) < 0.4


@pytest.mark.parametrize("row", DEFECTS, ids=lambda row: row["operator"])
def test_a_comment_that_proposes_the_sound_line_means_the_defect(row: Row) -> None:
    body = f"I would write:\n```suggestion\n{row['sound']}\n```"
    case = Case(id="x", change=change(row, "wrong"), references=(reference(row),))
    verdict = Lexical().judge(case, [comment(row, body)], case.references, Review(case="x", system="s"))[0][0]
    assert isinstance(verdict, Verdict)
    # a line that is too short to be told from any other, or made of what stands there, says nothing by itself
    assert verdict.same is True or row["sound"].split() == ["raise"]
    assert not proposes(comment(row, f"`{row['wrong']}`"), reference(row), change(row, "wrong"))
    assert not proposes(comment(row, body), reference(row), change(row, "sound")), "it stands there"


def test_a_judge_that_asks_a_model_shows_what_would_mend_it() -> None:
    row = DEFECTS[0]
    told = with_fix(reference(row))
    assert told.startswith(row["told"]) and f"+{row['sound']}" in told and "later fix" not in told
    bare = reference(row).model_copy(update={"resolution": None})
    assert with_fix(bare) == row["told"]
    assert added_words(comment(row, "Off by one"), bare, change(row, "wrong")) == "Off by one"


def test_kinds_of_fault_are_found_in_any_form_and_by_the_operators_name() -> None:
    assert faults("The handle is leaking") == {"closed"}
    assert not faults("Please double-check this part: consider adding tests, handling errors and readability.")
    defect = Comment(id="f", body="`a` and `b` stand the wrong way round.", extra={"operator": "swapped_arguments"})
    assert same_fault("These are transposed.", defect) == "order" and not same_fault("Leaks.", defect)
