from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_small import make_case
from reviewgauge.analysis.doctor.lint import lint
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Side, Span
from reviewgauge.core.reports.leaderboard import LintFinding

PATCH = "@@ -10,2 +10,3 @@\n a\n+b\n c\n@@ -40,3 +41,0 @@\n-x\n-y\n-z\n"


def sound(name: str = "sound") -> Case:
    return Case(
        id=name,
        change=Change(repo="o/r", files=(ChangedFile(path="a.py", patch=PATCH), ChangedFile(path="logo.png"))),
        references=(
            Comment(id="f00d1e", body=f"the loop in {name} ends too early", span=Span(path="a.py", start=11)),
            Comment(id="beefaa", body="gone too early", span=Span(path="a.py", start=41, side=Side.OLD)),
            Comment(id="cafe0a", body="whole file", span=Span(path="a.py")),
            Comment(id="cafe0b", body="no patch", span=Span(path="logo.png", start=3)),
        ),
        facts={"language": "Python"},
    )


def with_reference(comment: Comment) -> Case:
    return sound().model_copy(update={"references": (*sound().references, comment)})


def rules(*cases: Case) -> list[tuple[str, str, str]]:
    return [(f.level, f.rule, f.item) for f in lint(cases)]


def test_sound_data_has_nothing_odd() -> None:
    assert lint([sound()]) == []


@pytest.mark.parametrize(
    ("comment", "level", "rule"),
    [
        (Comment(id="abc", body=" \n"), "error", "empty_body"),
        (Comment(id="abc", body="x" * 5001), "warning", "long_body"),
        (Comment(id="abc", body="half \ud800 pair"), "error", "encoding"),
        (Comment(id="abc", body="lost \ufffd here"), "warning", "encoding"),
        (Comment(id="abc", body="cafÃ©"), "warning", "encoding"),
        (Comment(id="abc", body="donâ€™t"), "warning", "encoding"),
        (Comment(id="abc", body="bell \x07"), "warning", "encoding"),
        (Comment(id="abc", body="b", span=Span(path="a.py", start=9, end=600)), "warning", "long_range"),
        (Comment(id="abc", body="b", span=Span(path="z.py", start=9)), "warning", "path_not_in_change"),
        (Comment(id="abc", body="b", span=Span(path="a.py", start=20, end=30)), "warning", "outside_diff"),
        (Comment(id="abc", body="b", span=Span(path="a.py", start=13)), "warning", "outside_diff"),
        (Comment(id="abc", body="b", span=Span(path="a.py", start=12, side=Side.OLD)), "warning", "outside_diff"),
        (Comment(id="abc", body="Whole  FILE", span=Span(path="a.py")), "warning", "duplicate"),
        (Comment(id="abc", body="b", same_as="abc"), "warning", "same_as_cycle"),
    ],
)
def test_an_odd_reference_is_named(comment: Comment, level: str, rule: str) -> None:
    assert rules(with_reference(comment)) == [(level, rule, "abc")]


@pytest.mark.parametrize("body", ["tabs\tand\r\nlines", "naïve café – “quotes” 日本語 🎉", "Ünïcödé Ã", "a" * 5000])
def test_honest_texts_are_left_alone(body: str) -> None:
    assert lint([with_reference(Comment(id="abc", body=body))]) == []


def test_another_phrasing_in_the_same_words_is_no_duplicate() -> None:
    first = sound().references[2]
    assert lint([with_reference(first.model_copy(update={"id": "abc", "same_as": first.id}))]) == []


def test_ids_and_facts() -> None:
    twice = [sound(), sound()]
    assert rules(*twice) == [("error", "duplicate_id", "")]
    counters = make_case(1, references=2)
    assert ("note", "unstable_id", "r0") in rules(counters)
    bare = sound("bare").model_copy(update={"facts": {}})
    assert rules(sound(), bare) == [("warning", "missing_fact", "language")]
    number = sound("number").model_copy(update={"facts": {"language": 3}})
    assert rules(sound(), number) == [("warning", "mixed_fact", "language")]


def test_words_that_come_again_in_many_cases() -> None:
    said = Comment(id="abc", body="Please add a test for this.")
    cases = [sound(f"c{n}").model_copy(update={"references": (said,)}) for n in range(3)]
    assert lint(cases[:2]) == []
    assert lint(cases) == [
        LintFinding(
            level="warning",
            rule="duplicate_everywhere",
            case="c0",
            item="abc",
            message='"please add a test for this." is a reference of 3 cases',
        )
    ]


def test_right_and_wrong_at_once_is_an_error_at_one_place_and_a_warning_at_two() -> None:
    right = sound().references[0]
    wrong = right.model_copy(update={"id": "abc"})
    case = sound().model_copy(update={"rejected": (wrong,)})
    assert rules(case) == [("error", "contradictory", right.id)]
    elsewhere = wrong.model_copy(update={"span": Span(path="a.py", start=12)})
    case = sound().model_copy(update={"rejected": (elsewhere,)})
    assert rules(case) == [("warning", "contradictory", right.id)]


def test_circles_of_phrasings_are_shown_whole() -> None:
    circle = tuple(
        Comment(id=a, body=f"words of {a}", same_as=b) for a, b in (("x", "y"), ("y", "z"), ("z", "x"), ("tail", "x"))
    )
    found = lint([sound().model_copy(update={"references": circle})])
    assert [(f.rule, f.message) for f in found] == [("same_as_cycle", "x -> y -> z -> x")]


def test_verdicts() -> None:
    merged = sound().model_copy(update={"verdict": True})
    assert rules(merged) == [("note", "verdict", "")]
    unknown = sound().model_copy(update={"references": ()})
    assert rules(unknown) == [("note", "nothing_known", "")]
    assert rules(unknown.model_copy(update={"verdict": True})) == []


def test_errors_come_first() -> None:
    cases = [make_case(1), with_reference(Comment(id="abc", body=""))]
    levels = [finding.level for finding in lint(cases)]
    assert levels == sorted(levels, key=["error", "warning", "note"].index)
    assert levels[0] == "error"


@given(st.lists(st.text(st.characters(exclude_characters="\x00"), max_size=40), max_size=4))
def test_any_text_is_linted_without_breaking(bodies: list[str]) -> None:
    case = sound().model_copy(
        update={"references": tuple(Comment(id=f"id-{n}-x", body=body) for n, body in enumerate(bodies))}
    )
    for finding in lint([case]):
        finding.to_line()


def test_a_patch_that_cannot_be_read_is_named_and_a_rename_without_one_is_not() -> None:
    files = (ChangedFile(path="a.py", patch="--- a\n+++ b\n"), ChangedFile(path="b.py", old_path="c.py", patch=""))
    case = Case(id="one", change=Change(repo="r", files=files), verdict=True)
    assert rules(case) == [("warning", "patch_without_hunk", "")]
