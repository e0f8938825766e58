"""What a review says besides comments: verdicts, rankings, and the claims that it covers."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from html_pages import Page
from reviewgauge.core.records import Case, Change, ChangedFile, Claim, Comment, Review, Side, Span, Task
from reviewgauge.core.results import Coverage, Link, Outcome, Score
from reviewgauge.views.report.answers import MOST_RANKED, numbers
from reviewgauge.views.report.change_views import ChangeView, view_changes
from reviewgauge.views.report.diff_views import LONGEST
from reviewgauge.views.report.report import ReportData, render

PATCH = "@@ -10,3 +10,4 @@\n a = 1\n-b = 2\n+b = 3\n+c = 4\n return a"


def case(task: Task, verdict: bool | None = None, *spans: Span, patch: str = PATCH) -> Case:
    references = tuple(Comment(id=f"g{n}", body="known", span=span) for n, span in enumerate(spans))
    change = Change(repo="x", files=(ChangedFile(path="a.py", patch=patch),), task=task)
    return Case(id="c", change=change, references=references, verdict=verdict)


def at(line: int, side: Side = Side.NEW) -> Span:
    return Span(path="a.py", start=line, side=side)


def shown(case: Case, review: Review, coverage: Coverage | None = None) -> ChangeView:
    score = Score(case="c", system="s", metric="m", benchmark="b", parts={"x": 1.0}, coverage=coverage)
    (view,) = view_changes([case], [Outcome(case="c", system="s", review=review)], [score], ["s"], "m")
    return view


def page(small: ReportData, case: Case, review: Review, coverage: Coverage | None = None) -> str:
    score = Score(case="c", system="s", metric="m", benchmark="b", parts={"x": 1.0}, coverage=coverage)
    board = small.leaderboards[0].model_copy(update={"metric": "m"})
    outcomes = [Outcome(case="c", system="s", review=review)]
    data = replace(
        small, leaderboards=[board], comparisons=[], cases=[case], outcomes=outcomes, scores=[score], facts={}
    )
    html = "".join(render(data))
    assert Page(html).open == []
    return " ".join("".join(Page(html).text).split())


@pytest.mark.parametrize(
    ("said", "true", "state"), [(True, True, "right"), (True, False, "wrong"), (False, None, "unscored")]
)
def test_a_verdict_stands_beside_the_true_one(said: bool, true: bool | None, state: str) -> None:
    view = shown(case(Task.ASSESS, true), Review(case="c", system="s", verdict=said))
    (answer,) = view.columns[0].said
    assert (answer.state, answer.text) == (state, f"It {'can' if said else 'cannot'} be merged as it is.")
    assert view.outcome == ("" if true is None else f"It {'can' if true else 'cannot'} be merged as it is.")
    assert view.columns[0].note == "", "it was scored"
    assert view.states[state] == 1


def test_a_ranking_stands_line_by_line_and_the_right_ones_are_marked() -> None:
    """An unchanged line is the same by its old and its new number, as pass_at_k counts it."""
    truth = case(Task.LOCATE, None, at(13))
    view = shown(truth, Review(case="c", system="s", ranked_lines=(at(11), at(12, Side.OLD), at(99))))
    said = {one.anchor: (one.name, one.state, one.text) for one in view.columns[0].said}
    placed = {line.text: [said[m.anchor] for m in line.remarks if m.anchor in said] for line in view.files[0].lines}
    assert placed["b = 3"] == [("#1", "wrong", "")] and placed["return a"] == [("#2", "right", "")]
    assert [said[off] for off in view.off] == [("#3", "wrong", "The diff does not show this line.")]


def test_long_rankings_and_long_lines_are_cut() -> None:
    truth = case(Task.LOCATE, None, at(1), patch="@@ -0,0 +1 @@\n+" + "x" * 9999)
    view = shown(truth, Review(case="c", system="s", ranked_lines=tuple(at(n) for n in range(1, 100))))
    (column,) = view.columns
    assert len(column.said) == MOST_RANKED and len(view.files[0].lines[1].text) == LONGEST + 1
    assert column.note == f"{99 - MOST_RANKED} more ranked lines are in the run."


def test_no_scored_review_is_called_unscored(small: ReportData) -> None:
    review = Review(case="c", system="s", comments=(Comment(id="1", body="written", span=at(11)),))
    text = page(small, case(Task.COMMENT, None, at(11)), review)
    assert "Not scored." not in text and "1 scored" in text
    assert re.search(r"added b = 3 ?finding g0 .*known ?scored s ?written", text), "both stand below their line"
    assessed = page(small, case(Task.ASSESS, False), Review(case="c", system="s", verdict=True))
    assert "Outcome It cannot be merged as it is." in assessed and "It can be merged as it is." in assessed


CLAIMS = (Claim(id="1", body="f is removed", source="syntax"), Claim(id="2", body="g is added", line=4))
LINKS = (
    Link(sentence=0, claim=0, similarity=0.81),
    Link(sentence=1, claim=0, similarity=0.3),
    Link(sentence=0, claim=1, similarity=0.4),
)


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_claims_and_sentences_lead_to_the_closest_of_the_other(small: ReportData, threshold: float | None) -> None:
    coverage = Coverage(claims=CLAIMS, sentences=("Why is f gone?", "Nice."), links=LINKS, threshold=threshold)
    review = Review(case="c", system="s", comments=(Comment(id="1", body="Why is f gone? Nice."),))
    view = shown(case(Task.REVIEW), review, coverage)
    hit, miss = (None, None) if threshold is None else (True, False)
    assert [[(n.name, n.similarity, n.covered) for n in claim.nearest] for claim in view.claims] == [
        [("s", 0.81, hit)],
        [("s", 0.4, miss)],
    ]
    sentences = view.columns[0].sentences
    assert [(s.nearest.name, s.nearest.similarity, s.nearest.covered) for s in sentences if s.nearest] == [
        ("claim 1", 0.81, hit),
        ("claim 1", 0.3, miss),
    ]
    text = page(small, case(Task.REVIEW), review, coverage)
    for words in ("f is removed", "syntax", "line 4", "Why is f gone?", "claim 1 .81"):
        assert words in text
    assert ("not covered s .40" in text, "closest: s .40" in text) == (threshold is not None, threshold is None)


def test_a_claim_stands_in_one_pair_and_the_three_numbers_beside_it(small: ReportData) -> None:
    links = (
        Link(sentence=0, claim=0, similarity=0.81, paired=True),
        Link(sentence=1, claim=0, similarity=0.3),
        Link(sentence=0, claim=1, similarity=0.4),
        Link(sentence=2, claim=0, similarity=0.2),
        Link(sentence=2, claim=1, similarity=0.1, paired=True),
    )
    coverage = Coverage(claims=CLAIMS, sentences=("Why is f gone?", "Why f?", "Nice."), links=links)
    review = Review(case="c", system="s", comments=(Comment(id="1", body="Why is f gone? Why f? Nice."),))
    sentences = shown(case(Task.REVIEW), review, coverage).columns[0].sentences
    assert [(s.nearest.name, s.nearest.similarity, s.nearest.pairing) for s in sentences if s.nearest] == [
        ("claim 1", 0.81, "paired"),
        ("claim 1", 0.3, "taken"),
        ("claim 2", 0.1, "paired"),
    ]
    text = page(small, case(Task.REVIEW), review, coverage)
    for words in ("paired with claim 1 .81", "not paired; closest is claim 1 .30, taken by another sentence"):
        assert words in text
    assert "paired with: s .10" in text and "not paired, closest" not in text, "both claims have a pair"
    assert numbers(coverage, {"con": 0.91 / 3, "comp": 0.455, "rel": 0.364}) == (
        "con .30 (.91 / 3 sentences) · comp .46 (.91 / 2 claims) · rel .36"
    )
    assert "m: x 1.00" in text, "the parts of the score stand in the card"


def test_a_claim_without_a_pair_names_the_closest_review(small: ReportData) -> None:
    links = (Link(sentence=0, claim=0, similarity=0.81, paired=True), Link(sentence=0, claim=1, similarity=0.4))
    coverage = Coverage(claims=CLAIMS, sentences=("Why is f gone?",), links=links)
    review = Review(case="c", system="s", comments=(Comment(id="1", body="Why is f gone?"),))
    text = page(small, case(Task.REVIEW), review, coverage)
    assert "paired with: s .81" in text and "not paired, closest: s .40" in text


def test_above_a_threshold_the_numbers_are_counts() -> None:
    coverage = Coverage(claims=CLAIMS, sentences=("Why is f gone?", "Why f?", "Nice."), links=LINKS, threshold=0.5)
    assert numbers(coverage, {"con": 1 / 3, "comp": 0.5}) == "con .33 (1 / 3 sentences) · comp .50 (1 / 2 claims)"


def test_what_shares_nothing_is_close_to_nothing(small: ReportData) -> None:
    links = (LINKS[0], Link(sentence=1, claim=0, similarity=0.0), Link(sentence=0, claim=1, similarity=0.0))
    coverage = Coverage(claims=CLAIMS, sentences=("Why is f gone?", "Nice."), links=links)
    review = Review(case="c", system="s", comments=(Comment(id="1", body="Why is f gone? Nice."),))
    text = page(small, case(Task.REVIEW), review, coverage)
    assert "claim 1 .81" in text and "closest: s .81" in text
    assert text.count("close to no claim") == 1 and "claim 1 .00" not in text and "closest: s .00" not in text


def test_a_review_without_sentences_covers_no_claim() -> None:
    view = shown(case(Task.REVIEW), Review(case="c", system="s"), Coverage(claims=CLAIMS))
    assert [claim.nearest for claim in view.claims] == [[], []] and view.columns[0].sentences == []
