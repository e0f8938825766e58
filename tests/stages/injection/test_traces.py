"""A surface that gives the defect away is found and named; an edit that leaves the surface alone is not."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from reviewgauge.core.building import Candidate
from reviewgauge.core.records import ARM, PAIR, Arm, Case, Change, ChangedFile, Comment, Span
from reviewgauge.stages.injection.traces import CHANCE, FEWEST, place_of, traces_section, trait_pairs

NAMES = ("count", "total", "first", "limit", "offset", "width", "left_over", "rowCount")
SPAN = Span(path="a.py", start=3, end=3)


def case(host: int, arm: Arm, line: str) -> Case:
    patch = f"@@ -1,2 +1,4 @@\n def run({host}):\n+    begin()\n+{line}\n     end()"
    comment = Comment(id=f"defect-{host}", body="The bound is wrong.", span=SPAN)
    told = {"references": (comment,)} if arm is Arm.DEFECT else {"rejected": (comment,)}
    change = Change(repo="acme/shop", files=(ChangedFile(path="a.py", patch=patch),))
    facts = {ARM: arm.value, PAIR: f"pair-{host}"}
    return Case.model_validate({"id": f"{arm.value}/{host}", "change": change, "facts": facts, **told})


def pairs(n: int, edit: Callable[[str, random.Random], str], arm: Arm = Arm.DEFECT) -> Iterator[Candidate]:
    drawn = random.Random(0)
    for host in range(n):
        a, b = drawn.sample(NAMES, 2)
        line = f"    if {a} < {b} + {drawn.randrange(100)}:"
        yield Candidate(case=case(host, arm, edit(line, drawn)))
        yield Candidate(case=case(host, Arm.TWIN, line))


def moved(line: str, drawn: random.Random) -> str:
    """One name for another that the line does not hold."""
    words = line.split()
    return line.replace(words[1], drawn.choice([name for name in NAMES if name not in words]), 1)


@pytest.mark.parametrize(("edit", "trait"), [
    (lambda line, drawn: f"{line} ", "blanks at ends of lines"),
    (lambda line, drawn: line.replace(" < ", "<"), "blanks around signs"),
    (lambda line, drawn: f"{line}  # wrong", ""),
    (moved, None), (lambda line, drawn: line, None),
], ids=["blank at the end", "no blanks around the sign", "a comment", "another name", "nothing"])  # fmt: skip
def test_one_change_alone(edit: Callable[[str, random.Random], str], trait: str | None) -> None:
    section = traces_section(pairs(80, edit))
    words, n, auc, low, high, largest = section.rows[0]
    assert words == "a defect, or none: one change at a time" and n == 80
    assert isinstance(auc, float) and isinstance(low, float) and isinstance(high, float) and low <= auc <= high
    if trait is None:
        assert low <= CHANCE and not section.warnings
    else:
        assert low > CHANCE and largest in (trait or largest, "share of blanks", "number of words")
        assert len(section.warnings) == 1 and str(largest) in section.warnings[0]


def test_an_edit_that_changes_nothing_wins_half_of_the_pairs() -> None:
    section = traces_section(pairs(40, lambda line, drawn: line))
    assert section.rows[1][2] == CHANCE


def test_safe_edits_have_a_row_of_their_own() -> None:
    section = traces_section(pairs(40, lambda line, drawn: f"{line} ", Arm.SAFE))
    assert [row[1] for row in section.rows] == [0, 0, 40]
    assert isinstance(section.rows[2][3], float) and section.rows[2][3] > CHANCE and not section.warnings


@pytest.mark.parametrize("n", [0, 1, FEWEST - 1])
def test_few_changes_tell_nothing(n: int) -> None:
    section = traces_section(pairs(n, moved))
    assert section.rows[0][1:] == (n, None, None, None, "fewer than 20 changes: cannot be told")
    assert not section.warnings


def test_many_defects_of_one_change_are_one_change() -> None:
    one = [item.with_facts({PAIR: "the same"}) for item in pairs(40, moved)]
    assert traces_section(one).rows[0][2] is None


def test_a_place_that_the_diff_does_not_show_counts_nowhere() -> None:
    shown = case(1, Arm.TWIN, "    x = 1")
    assert place_of(shown, Span(path="a.py", start=90, end=91)) is None
    assert place_of(shown, Span(path="b.py", start=3, end=3)) is None
    assert place_of(shown, Span(path="a.py")) is None
    assert len(trait_pairs([case(1, Arm.DEFECT, "    x = 2")], Arm.DEFECT).hosts) == 0, "it has no twin"


def test_the_same_cases_give_the_same_figures_in_any_order() -> None:
    made = list(pairs(60, moved))
    assert traces_section(made) == traces_section(reversed(made))


def test_each_way_of_making_defects_has_a_row() -> None:
    made = []
    for at, item in enumerate(pairs(60, lambda line, drawn: line)):
        kind = "planted" if at % 4 < 2 else "reintroduced"
        marked = tuple(one.model_copy(update={"extra": {"made": kind}}) for one in item.case.references)
        made.append(item.with_case(references=marked))
    named = [row[:2] for row in traces_section(made).rows[:3]]
    words = "a defect, or none: one change at a time"
    assert named == [(words, 60), (f"{words}, planted", 30), (f"{words}, reintroduced", 30)]
