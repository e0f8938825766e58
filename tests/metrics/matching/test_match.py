"""The accounting identities, for every policy and any evidence; and the published orders, quirk by quirk."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.records import Anchoring, Case, Change, Comment, Location, Review, Side, Span
from reviewgauge.core.results import CommentState, Matching, Verdict
from reviewgauge.judges.pairs.location import locate
from reviewgauge.metrics.matching import match, policies

CHANGE = Change(repo="shop")


def rules(**changes: object) -> match.Rules:
    base = {"policy": "optimal", "variant": "", "location": "hint", "tolerance": 1}
    return match.Rules(**{**base, "threshold": 0.5, "sure": 0.9, "penalty": 0.3, **changes})  # type: ignore[arg-type]


def said(name: str, line: int | None = None, path: str = "a.py", **fields: object) -> Comment:
    span = Span(path=path, start=line) if line else None
    return Comment.model_validate({"id": name, "body": name, "span": span, **fields})


def verdicts(rows: list[list[float | None]]) -> list[list[Verdict | None]]:
    return [[None if p is None else Verdict(probability=p) for p in row] for row in rows]


def run(
    comments: list[Comment],
    references: list[Comment],
    rows: list[list[float | None]],
    *,
    neutral: list[Comment] | None = None,
    rejected: list[Comment] | None = None,
    **changes: object,
) -> Matching:
    case = Case(
        id="c",
        change=CHANGE,
        references=tuple(references),
        neutral=tuple(neutral or ()),
        rejected=tuple(rejected or ()),
    )
    review = Review(case="c", system="s", comments=tuple(comments))
    return match.match(case, review, verdicts(rows), rules(**changes))


def states(matching: Matching) -> dict[str, str]:
    return {outcome.comment: str(outcome.state) for outcome in matching.comments}


@st.composite
def situations(draw: st.DrawFn) -> tuple[Case, Review, list[list[Verdict | None]]]:
    def comments(prefix: str, most: int) -> list[Comment]:
        count = draw(st.integers(0, most))
        lines = draw(st.lists(st.one_of(st.none(), st.integers(1, 12)), min_size=count, max_size=count))
        paths = draw(st.lists(st.sampled_from(["a.py", "b.py"]), min_size=count, max_size=count))
        return [said(f"{prefix}{i}", lines[i], paths[i]) for i in range(count)]

    references = comments("r", 5)
    for i in range(1, len(references)):
        if draw(st.booleans()):
            other = references[draw(st.integers(0, i - 1))].id
            references[i] = references[i].model_copy(update={"same_as": other})
    neutral, rejected = comments("n", 2), comments("x", 2)
    given_comments = comments("c", 6)
    width = len(references) + len(neutral) + len(rejected)
    cell = st.one_of(st.none(), st.sampled_from([0.0, 0.2, 0.5, 0.5, 0.8, 0.95, 1.0]))
    rows = [draw(st.lists(cell, min_size=width, max_size=width)) for _ in given_comments]
    case = Case(id="c", change=CHANGE, references=tuple(references), neutral=tuple(neutral), rejected=tuple(rejected))
    return case, Review(case="c", system="s", comments=tuple(given_comments)), verdicts(rows)


POLICIES = [
    {"policy": "optimal"},
    {"policy": "greedy"},
    {"policy": "any"},
    {"policy": "optimal", "location": "gate"},
    {"policy": "optimal", "location": "only"},
    {"policy": "optimal", "location": "ignore"},
    {"policy": "greedy", "variant": "aacr"},
    {"policy": "greedy", "variant": "aacr_ids"},
    {"policy": "greedy", "variant": "aacr_evaluation"},
    {"policy": "greedy", "variant": "martian"},
]


@pytest.mark.parametrize("choice", POLICIES, ids=lambda c: "-".join(c.values()))
@given(situation=situations())
def test_every_comment_and_every_finding_counts_exactly_once(
    choice: dict[str, object], situation: tuple[Case, Review, list[list[Verdict | None]]]
) -> None:
    case, review, table = situation
    matching = match.match(case, review, table, rules(**choice))
    assert Counter(o.comment for o in matching.comments) == Counter(c.id for c in review.comments)
    members = [member for group in matching.groups for member in group.members]
    assert sorted(members) == sorted(reference.id for reference in case.references)
    credited = {comment for group in matching.groups for comment in group.comments}
    matched = {o.comment for o in matching.comments if o.state is CommentState.MATCHED}
    assert credited == matched
    for group in matching.groups:
        assert group.hit == bool(group.comments)
    if choice["policy"] != "any" and choice.get("variant") != "martian":
        assert len(matched) == sum(group.hit for group in matching.groups)
    if matching.broken:
        assert choice.get("variant") == "martian"


@pytest.mark.parametrize("choice", POLICIES[:6], ids=lambda c: "-".join(c.values()))
@given(situation=situations(), data=st.data())
def test_order_of_comments_and_references_changes_nothing(
    choice: dict[str, object], situation: tuple[Case, Review, list[list[Verdict | None]]], data: st.DataObject
) -> None:
    case, review, table = situation
    rows = data.draw(st.permutations(range(len(review.comments))))
    columns = data.draw(st.permutations(range(len(case.references))))
    rest = range(len(case.references), len(match.known_comments(case)))
    shuffled = match.match(
        case.model_copy(update={"references": tuple(case.references[j] for j in columns)}),
        review.model_copy(update={"comments": tuple(review.comments[i] for i in rows)}),
        [[table[i][j] for j in [*columns, *rest]] for i in rows],
        rules(**choice),
    )
    assert shuffled == match.match(case, review, table, rules(**choice))


@given(rows=st.integers(1, 4), columns=st.integers(1, 4), data=st.data())
def test_optimal_beats_every_other_assignment(rows: int, columns: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.floats(0, 1), min_size=rows * columns, max_size=rows * columns))
    strength = np.array(values).reshape(rows, columns)
    best = sum(strength[c, g] for c, g in policies.assign(strength))
    small, large = sorted((rows, columns))
    for chosen in itertools.permutations(range(large), small):
        pairs = [(i, j) if rows <= columns else (j, i) for i, j in enumerate(chosen)]
        assert best >= sum(strength[c, g] for c, g in pairs) - 1e-9


def test_an_optimal_assignment_finds_what_greedy_loses() -> None:
    rows: list[list[float | None]] = [[0.9, 0.8], [0.85, 0.0]]
    comments, references = [said("c1"), said("c2")], [said("r1"), said("r2")]
    assert sum(g.hit for g in run(comments, references, rows).groups) == 2
    assert sum(g.hit for g in run(comments, references, rows, policy="greedy").groups) == 1


def test_saying_it_twice_is_a_duplicate_and_any_gains_nothing_by_it() -> None:
    rows: list[list[float | None]] = [[0.9], [0.8]]
    for policy in ("optimal", "greedy", "any"):
        matching = run([said("c1"), said("c2")], [said("r1")], rows, policy=policy)
        assert states(matching) == {"c1": "matched", "c2": "duplicate"}


def test_one_comment_hits_two_findings_only_when_any_is_allowed() -> None:
    comments, references = [said("c1")], [said("r1"), said("r2")]
    assert sum(g.hit for g in run(comments, references, [[0.9, 0.8]], policy="any").groups) == 2
    assert sum(g.hit for g in run(comments, references, [[0.9, 0.8]]).groups) == 1


def test_phrasings_of_one_finding_count_once_and_the_closest_decides() -> None:
    references = [said("r1"), said("r2", same_as="r1")]
    matching = run([said("c1"), said("c2")], references, [[0.1, 0.9], [0.6, 0.0]])
    assert [(g.members, g.hit) for g in matching.groups] == [(("r1", "r2"), True)]
    assert states(matching) == {"c1": "matched", "c2": "duplicate"}


def test_neutral_and_rejected_comments_take_their_own() -> None:
    matching = run(
        [said("c1"), said("c2"), said("c3")],
        [said("r1")],
        [[0.6, 0.95, 0.0], [0.0, 0.0, 0.9], [0.55, 0.0, 0.0]],
        neutral=[said("n1")],
        rejected=[said("x1")],
    )
    assert states(matching) == {"c1": "neutral", "c2": "false", "c3": "matched"}
    assert [o.comment for o in matching.comments if o.rejected] == ["c2"]


def test_a_comment_nobody_judged_is_neutral_not_false() -> None:
    matching = run([said("c1"), said("c2")], [said("r1")], [[None], [0.0]])
    assert states(matching) == {"c1": "neutral", "c2": "false"}
    assert "no verdict" in matching.comments[0].reason


@pytest.mark.parametrize(
    ("line", "tolerance", "located"), [(10, 1, True), (11, 1, True), (12, 1, False), (12, 2, True), (9, 0, False)]
)
def test_location_rule(line: int, tolerance: int, located: bool) -> None:
    assert locate(said("c", line), said("r", 10), tolerance).located is located


def test_the_other_side_and_an_invalid_place_are_not_the_place() -> None:
    old = Comment(id="c", body="x", span=Span(path="a.py", start=10, side=Side.OLD))
    assert locate(old, said("r", 10), 1).located is False
    nowhere = Comment(id="c", body="x", anchoring=Anchoring.INVALID)
    assert locate(nowhere, said("r", 10), 1).located is False
    assert locate(said("c"), said("r", 10), 1).located is None


def test_hint_asks_for_a_sure_judge_across_files_and_gate_for_the_lines() -> None:
    far, other = said("c1", 90), said("c2", 10, "b.py")
    reference = said("r1", 10)
    assert run([far], [reference], [[0.6]]).groups[0].hit
    assert not run([far], [reference], [[0.6]], location="gate").groups[0].hit
    assert not run([other], [reference], [[0.8]]).groups[0].hit
    assert run([other], [reference], [[0.95]]).groups[0].hit
    assert run([other], [reference], [[0.6]], location="ignore").groups[0].hit
    assert not run([other], [reference], [[0.95]], location="gate").groups[0].hit


@pytest.mark.parametrize("place", [None, Span(path="a.py")])
def test_a_gate_lets_no_comment_without_lines_through_to_a_finding_that_has_some(place: Span | None) -> None:
    nowhere = Comment(id="c", body="x", span=place)
    assert not run([nowhere], [said("r1", 10)], [[0.95]], location="gate").groups[0].hit
    assert run([nowhere], [said("r1", 10)], [[0.95]]).groups[0].hit
    assert run([nowhere], [Comment(id="r1", body="x")], [[0.95]], location="gate").groups[0].hit


def test_place_breaks_ties_between_equal_texts() -> None:
    references = [said("r1", 10), said("r2", 50)]
    matching = run([said("c1", 50), said("c2", 10)], references, [[0.9, 0.9], [0.9, 0.9]])
    assert {g.group: g.comments for g in matching.groups} == {"r1": ("c2",), "r2": ("c1",)}


def test_aacr_without_ids_matches_one_comment_a_change() -> None:
    comments = [said(f"c{i}", 10 * i) for i in (1, 2, 3)]
    references = [said(f"r{i}", 10 * i) for i in (1, 2, 3)]
    rows: list[list[float | None]] = [[1.0 if i == j else 0.0 for j in range(3)] for i in range(3)]
    published = run(comments, references, rows, policy="greedy", variant="aacr")
    assert (sum(g.hit for g in published.groups), published.line_hits) == (1, 1)
    with_ids = run(comments, references, rows, policy="greedy", variant="aacr_ids")
    assert (sum(g.hit for g in with_ids.groups), with_ids.line_hits) == (3, 3)


def test_aacr_lets_one_comment_use_up_every_reference_on_its_lines() -> None:
    comments = [said("c1", 10), said("c2", 10)]
    references = [said("r1", 10), said("r2", 10)]
    matching = run(comments, references, [[0.0, 0.0], [0.0, 0.0]], policy="greedy", variant="aacr_ids")
    assert matching.line_hits == 1
    assert run(comments, references, [[0.0, 0.0], [0.0, 0.0]]).line_hits == 2


def test_aacr_never_matches_a_comment_whose_side_its_parser_left_empty() -> None:
    silent = said("c1", 10, claimed=Location(path="a.py", start=10, end=10))
    spoken = said("c2", 10, claimed=Location(path="a.py", start=10, end=10, side=Side.NEW))
    for comment, hit in ((silent, False), (spoken, True)):
        matching = run([comment], [said("r1", 10)], [[1.0]], policy="greedy", variant="aacr_ids")
        assert matching.groups[0].hit is hit


def test_aacr_rewritten_gives_each_comment_one_reference_by_lines_and_one_by_meaning() -> None:
    both: dict[str, Any] = {"policy": "greedy", "variant": "aacr_evaluation"}
    comments = [said("c1", 10, claimed=Location(path="a.py", start=12, end=8)), said("c2", 11)]
    references = [said("r1", 10), said("r2", 11)]
    matching = run(comments, references, [[0.0, 1.0], [1.0, 1.0]], **both)
    assert ({g.group: g.comments for g in matching.groups}, matching.line_hits) == (
        {"r1": ("c2",), "r2": ("c1",)},
        1,  # r1 takes c1's lines, and r2 stops at the comment that means it: c1
    )
    assert run(comments, references, [[0.0, 0.0], [0.0, 0.0]], **both).line_hits == 2


def test_martian_credits_one_candidate_twice_and_loses_the_overtaken_one() -> None:
    matching = run(
        [said("c1"), said("c2")],
        [said("r1"), said("r2")],
        [[0.6, 0.0], [0.9, 0.7]],
        policy="greedy",
        variant="martian",
    )
    assert sum(g.hit for g in matching.groups) == 2
    assert states(matching) == {"c1": "duplicate", "c2": "matched"}
    assert len(matching.broken) == 2


def test_an_exact_copy_is_credited_for_nothing_else() -> None:
    copy = Comment(id="c2", body="c1", span=Span(path="a.py", start=10))
    elsewhere = Comment(id="c3", body="c1", span=Span(path="a.py", start=50))
    references = [said("r1", 10), said("r2", 10)]
    rows: list[list[float | None]] = [[0.9, 0.6], [0.9, 0.6]]
    copied = run([said("c1", 10), copy], references, rows)
    assert states(copied) == {"c1": "matched", "c2": "duplicate"}
    assert (sum(g.hit for g in copied.groups), copied.line_hits) == (1, 1)
    assert sum(g.hit for g in run([said("c1", 10), elsewhere], references, rows).groups) == 2


def test_the_place_is_weighed_into_what_a_judge_knows_by_words_alone() -> None:
    on, off, wordless = said("c1", 10), said("c1", 40), 0.01
    weighed = [run([c], [said("r1", 10)], [[p]], base_rate=0.3634) for c in (on, off) for p in (0.43, wordless)]
    chances = [matching.groups[0].probability for matching in weighed]
    assert chances == pytest.approx([0.558, 0.04, 0.062, 0.001], abs=0.005)
    assert [matching.comments[0].state for matching in weighed] == ["matched", "unsure", "false", "false"]
    assert [matching.groups[0].unsure for matching in weighed] == [True, True, False, False]
    by_words = run([on], [said("r1", 10)], [[0.43]], base_rate=0.3634, location="ignore")
    assert by_words.groups[0].probability == 0.43
    assert weighed[0].groups[0].reason.count("probability 0.") == 1, "one, after the place was weighed in"
