"""SWR-Bench's evaluation: a worked example with its numbers, both ways of counting, and the fake model's rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, Comment, Review, Span
from reviewgauge.core.results import CommentState
from reviewgauge.core.specs import load, signature
from reviewgauge.judges.classes.classes import TYPES, change_type
from reviewgauge.metrics.matching.asking_points import Ballot, Point, extract, extraction_messages, hits_messages
from reviewgauge.metrics.points import BROKEN, Points, Table
from reviewgauge.models.chat.client import ChatClient, chat_model
from reviewgauge.models.request.messages import Call
from reviewgauge.models.request.model_spec import ChatSettings
from reviewgauge.models.text.lexical import dice
from scripted_models import scripted

CHANGE = Change(repo="shop")
FAKE = "fake:rules"


@pytest.fixture(autouse=True)
def door() -> Iterator[list[Call]]:
    """A door of the test's own, and the calls that went through it."""
    calls: list[Call] = []
    with ChatClient(ChatSettings(cache=False), record=calls.append):
        yield calls


def known(name: str, category: str | None) -> Comment:
    return Comment(id=name, body=f"the point {name}", category=category)


def predicted(name: str, kind: str, severity: int) -> Point:
    return Point(name, name, f"the prediction {name}", kind, severity)


def table(case: Case, points: list[Point], hits: Mapping[str, set[str]], published: bool, trials: int = 1) -> Table:
    """`hits`: the ids of the predictions that hit each known point, in every trial."""
    names = [point.id for point in points]
    sets = tuple(frozenset(names.index(p) for p in hits.get(r.id, set())) for r in case.references)
    return Table(case, points, [Ballot(sets, tuple("{}" for _ in sets))] * trials, published, FAKE)


def worked(published: bool) -> list[Table]:
    """Three changes.

    one: P1 hits K1 and K2, P4 (typed E) hits K4 (typed F), P5 hits nothing
    two: P2 and P3 both hit K3, nothing hits K5
    clean: P6 is said of a change that deserves no comment
    """
    one = Case(id="one", change=CHANGE, references=(known("K1", "F.2 Logic"), known("K2", "F.4"), known("K4", "F.3")))
    two = Case(id="two", change=CHANGE, references=(known("K3", "E.1.1 Textual"), known("K5", "F.1 Interface")))
    clean = Case(id="clean", change=CHANGE, verdict=True)
    p1, p4, p5 = predicted("P1", "F.2", 8), predicted("P4", "E.3.2", 5), predicted("P5", "F.6", 9)
    p2, p3, p6 = predicted("P2", "E.1.1", 3), predicted("P3", "E.1.1", 2), predicted("P6", "F.4", 7)
    return [
        table(one, [p1, p4, p5], {"K1": {"P1"}, "K2": {"P1"}, "K4": {"P4"}}, published),
        table(two, [p2, p3], {"K3": {"P2", "P3"}}, published),
        table(clean, [p6], {}, published),
    ]


def read(metric: Points, *parts: Mapping[str, float]) -> dict[str, float]:
    return {name: float(values[0]) for name, values in measures_of(metric, MatrixAggregate.of(parts)).items()}


def test_the_worked_example_as_published() -> None:
    tables = worked(published=True)
    sums = {name: sum(t.parts().get(name, 0) for t in tables) for name in tables[0].parts()}
    true, false, missed = 4, 2, 1  # K1 K2 K3 K4; P5 P6; K5
    assert (sums["right"], sums["false"], sums["missed"]) == (true, false, missed)
    assert [t.parts()["said"] for t in tables] == [4, 1, 1]  # TP + FP of each change ...
    assert [t.parts()["predicted"] for t in tables] == [3, 2, 1]  # ... are not its predictions
    assert [t.matching().broken for t in tables] == [(BROKEN,), (BROKEN,), ()]
    found = read(Points(FAKE, variant="published"), *(t.parts() for t in tables))
    assert found["precision"] == pytest.approx(4 / 6)
    assert found["recall"] == pytest.approx(4 / 5)
    assert found["f1"] == pytest.approx(8 / 11)
    assert found["count"] == pytest.approx(6 / 3)
    assert found["severity"] == pytest.approx((8 + 5 + 9 + 3 + 2 + 7) / 6)
    # functional: P1 P5 P6 against K1 K2 K4 K5; P4 is typed E, so its hit on K4 does not count
    assert found["functional_precision"] == pytest.approx(2 / 4)
    assert found["functional_recall"] == pytest.approx(2 / 4)
    assert found["functional_f1"] == pytest.approx(2 / 4)
    assert found["functional_count"] == pytest.approx(3 / 3)
    assert found["functional_severity"] == pytest.approx((8 + 9 + 7) / 3)
    assert found["clean_left_alone"] == 0


def test_the_worked_example_by_our_identities() -> None:
    tables = worked(published=False)
    states = {o.comment: o.state.value for t in tables for o in t.matching().comments}
    assert states == {
        "P1": "matched", "P4": "matched", "P5": "false", "P2": "matched", "P3": "duplicate", "P6": "false",
    }  # fmt: skip
    hit = {g.group: g.hit for t in tables for g in t.matching().groups}
    assert hit == {"K1": True, "K2": False, "K4": True, "K3": True, "K5": False}
    found = read(Points(FAKE), *(t.parts() for t in tables))
    assert found["precision"] == pytest.approx(3 / 5)  # matched / (matched + false)
    assert found["recall"] == pytest.approx(3 / 5)
    assert found["f1"] == pytest.approx(3 / 5)
    assert found["duplicate_share"] == pytest.approx(1 / 6)
    assert found["functional_precision"] == pytest.approx(1 / 3)
    assert found["functional_recall"] == pytest.approx(1 / 4)
    assert found["functional_f1"] == pytest.approx(2 / 7)
    assert all(t.matching().broken == () for t in tables)


def test_the_worked_example_by_type() -> None:
    found: dict[str, dict[str, float]] = {}
    for one in worked(published=True):
        for kind, parts in one.facets()["type"].items():
            sums = found.setdefault(kind, {})
            for name, value in parts.items():
                sums[name] = sums.get(name, 0) + value
    metric = Points(FAKE, variant="published")
    logic, textual = read(metric, found["F.2 Logic"]), read(metric, found["E.1.1 Textual"])
    assert (logic["precision"], logic["recall"], logic["f1"], logic["severity"]) == (1, 1, 1, 8)
    assert (textual["precision"], textual["recall"], textual["severity"]) == (1, 1, 2.5)
    check = read(metric, found["F.4 Check"])  # P6 is false, K2 is hit by a prediction of another type
    assert (check["precision"], check["recall"]) == (0, 1)
    assert read(metric, found["F.1 Interface"])["recall"] == 0
    assert np.isnan(read(metric, found["F.1 Interface"])["precision"])


@st.composite
def situations(draw: st.DrawFn, published: bool) -> Table:
    codes = st.sampled_from([*TYPES])
    references = tuple(known(f"K{i}", draw(st.one_of(st.none(), codes))) for i in range(draw(st.integers(0, 4))))
    case = Case(id="c", change=CHANGE, references=references, verdict=None if references else True)
    points = [predicted(f"P{i}", draw(codes), draw(st.integers(1, 10))) for i in range(draw(st.integers(0, 4)))]
    some = st.frozensets(st.integers(0, len(points) - 1)) if points else st.just(frozenset[int]())
    ballots = [Ballot(tuple(draw(some) for _ in references), ("{}",) * len(references)) for _ in range(3)]
    return Table(case, points, ballots if points and references else [], published, FAKE)


@pytest.mark.parametrize("published", [False, True])
@given(data=st.data())
def test_the_counts_add_up(published: bool, data: st.DataObject) -> None:
    one = data.draw(situations(published))
    parts, facets, matching = one.parts(), one.facets()["type"], one.matching()
    assert parts["matched"] + parts["duplicate"] + parts["false"] == parts["predicted"] == len(one.points)
    assert parts["hit"] + parts["missed"] == parts["references"] == len(one.case.references)
    assert [o.comment for o in matching.comments] == [p.id for p in one.points]
    assert [g.group for g in matching.groups] == [r.id for r in one.case.references]
    assert sum(g.hit for g in matching.groups) == parts["hit"] == parts["right"]
    for name in (
        "predicted",
        "matched",
        "duplicate",
        "false",
        "right",
        "said",
        "references",
        "hit",
        "missed",
        "severity",
    ):
        assert sum(p.get(name, 0) for p in facets.values()) == pytest.approx(parts[name]), name
    if not published:
        assert parts["hit"] == parts["matched"]
        assert matching.broken == ()
    else:
        assert bool(matching.broken) == (parts["right"] + parts["false"] != parts["predicted"])
    for name, value in read(Points(FAKE), parts).items():
        assert np.isnan(value) or 0 <= value <= 1 or "count" in name or "severity" in name
    if "functional_said" in parts:
        own = {state: parts[f"functional_{state}"] for state in ("matched", "duplicate", "false")}
        assert sum(own.values()) == parts["functional_predicted"]
        assert parts["functional_hit"] + parts["functional_missed"] == parts["functional_references"]


@pytest.mark.parametrize("published", [False, True])
@given(data=st.data())
def test_bounds_bound(published: bool, data: st.DataObject) -> None:
    one = data.draw(situations(published))
    metric = Points(FAKE, variant="published" if published else "")
    bounds = metric.bounds(one.case)
    worst, here, best = (read(metric, parts) for parts in (bounds.worst, one.parts(), bounds.best))
    for name in ("f1", "recall", "functional_recall", "functional_f1"):
        if not np.isnan(here[name]):
            assert worst[name] <= here[name] + 1e-9, name
            assert np.isnan(best[name]) or here[name] <= best[name] + 1e-9, name


def test_the_majority_of_three_trials_decides_and_each_vote_is_kept() -> None:
    case = Case(id="c", change=CHANGE, references=(known("K1", "F.2"), known("K2", "F.2")))
    points = [predicted("P1", "F.2", 5), predicted("P2", "F.2", 5)]
    yes, no = frozenset({0}), frozenset[int]()
    ballots = [Ballot((yes, no), ("a", "b")), Ballot((yes, yes), ("c", "d")), Ballot((no, no), ("e", "f"))]
    matching = Table(case, points, ballots, False, FAKE).matching()
    assert [o.state for o in matching.comments] == [CommentState.MATCHED, CommentState.FALSE]
    pair, lone = matching.pairs
    assert pair.verdict is not None
    assert lone.verdict is not None
    assert pair.verdict.probability == pytest.approx(2 / 3)
    assert lone.verdict.probability == pytest.approx(1 / 3)
    assert (pair.verdict.same, lone.verdict.same) == (True, False)
    assert [(v.rater, v.value, v.reason) for v in pair.verdict.votes] == [
        (FAKE, True, "trial 1: a"), (FAKE, True, "trial 2: c"), (FAKE, False, "trial 3: e"),
    ]  # fmt: skip


def test_without_types_the_functional_figures_are_undefined_and_the_outcome_says_why() -> None:
    case = Case(id="c", change=CHANGE, references=(known("K1", "security"),))
    clean = Case(id="d", change=CHANGE, verdict=True)
    tables = [
        table(case, [predicted("P1", "F.2", 5)], {"K1": {"P1"}}, True),
        table(clean, [predicted("P2", "F.2", 5)], {}, True),
    ]
    found = read(Points(FAKE, variant="published"), *(t.parts() for t in tables))
    assert (found["precision"], found["recall"], found["typed"]) == (0.5, 1, 0)
    assert all(np.isnan(found[f"functional_{name}"]) for name in ("precision", "recall", "f1"))
    assert found["functional_count"] == 1  # that needs no known type
    assert tables[0].matching().groups[0].reason == "has no type of SWR-Bench's"


def test_two_phrasings_are_one_point() -> None:
    again = known("K2", None).model_copy(update={"same_as": "K1"})
    case = Case(id="c", change=CHANGE, references=(known("K1", "F.2"), again))
    asked = hits_messages([(case.references[0], again)], [predicted("P1", "F.2", 5)])[1].text
    assert "the point K1\nIn other words:\nthe point K2" in asked
    one = Table(case, [predicted("P1", "F.2", 5)], [Ballot((frozenset({0}),), ("{}",))], False, FAKE)
    assert one.parts()["references"] == one.parts()["hit"] == one.parts()["typed"] == 1


# --- with the fake model -------------------------------------------------------------------------------------------

REPORT = """The report:

- `load` never closes its file: a leak
- The name `x` says nothing

Otherwise fine."""


def test_the_fake_model_lists_and_matches_by_its_rules(door: list[Call]) -> None:
    leak = Comment(id="leak", body="load leaks: it never closes its file", category="F.3 Resource")
    case = Case(id="c", change=CHANGE, references=(leak,))
    review = Review(
        case="c", system="s", comments=(Comment(id="r", body=REPORT), Comment(id="v", body="Crash on empty input"))
    )
    found = Points(FAKE, trials=3).parts(case, review)
    assert isinstance(found, Measured)
    assert found.fake
    assert len(door) == 1 + 3
    assert [(vote.rater, vote.value) for vote in found.votes] == [("fake:rules (extraction)", 3)]
    assert found.votes[0].reason == door[0].answer.text
    assert found.matching is not None
    said = {o.comment: (o.state.value, o.reason) for o in found.matching.comments}
    assert dice(leak.body, "`load` never closes its file: a leak") >= 0.3
    assert said == {
        "r#1": ("matched", "F.3 Resource, severity 6: `load` never closes its file: a leak"),
        "r#2": ("false", "E.1.1 Textual, severity 3: The name `x` says nothing"),
        "v": ("false", "F.2 Logic, severity 9: Crash on empty input"),
    }


def test_nothing_is_asked_where_there_is_nothing_to_ask(door: list[Call]) -> None:
    clean = Case(id="c", change=CHANGE, verdict=True)
    case = Case(id="c", change=CHANGE, references=(known("K1", "F.2"),))
    silent = Review(case="c", system="s")
    blank = Review(case="c", system="s", comments=(Comment(id="a", body=" \n "),))
    for one in (clean, case):
        for review in (silent, blank):
            found = Points(FAKE).parts(one, review)
            assert isinstance(found, Measured)
            assert (found.parts["predicted"], found.parts["missed"]) == (0, len(one.references))
            assert not found.fake
    assert door == []
    Points(FAKE).parts(clean, Review(case="c", system="s", comments=(Comment(id="a", body="Wrong loop"),)))
    assert len(door) == 1  # what is said of a clean change is extracted, and there is nothing it could hit


def test_the_model_reads_the_whole_report_and_not_who_wrote_it() -> None:
    long = "word " * 40_000 + "END"
    comment = Comment(
        id="secret-id", body=long, author="mallory", span=Span(path="a.py", start=3, end=5), suggestion="x = 1"
    )
    asked = extraction_messages([comment, Comment(id="b", body="{{ types }} <<<END 123>>>")])[1].text
    assert long in asked
    assert "[a.py, lines 3 to 5]" in asked
    assert "Suggested code:\nx = 1" in asked
    assert "mallory" not in asked
    assert "secret-id" not in asked
    assert "{{ types }} <<<END 123>>>" in asked  # what a comment holds is not a slot
    assert "It consists of 2 comments" in asked


def test_ids_stay_unique() -> None:
    body = "- one wrong thing\n- another wrong thing"
    review = Review(
        case="c", system="s", comments=(Comment(id="a", body=body), Comment(id="a#1", body="A third: crash"))
    )
    points = extract(chat_model(FAKE), review).points
    assert [point.id for point in points] == ["a#1'", "a#2", "a#1"]
    assert [point.comment for point in points] == ["a", "a", "a#1"]


def test_without_a_model_it_says_what_to_write() -> None:
    case = Case(id="c", change=CHANGE, references=(known("K1", "F.2"),))
    with pytest.raises(UserError, match=r'points\(model="openai:gpt-5"\)'):
        Points().parts(case, Review(case="c", system="s"))
    assert Points().models == ()


def test_specs() -> None:
    metric = load(Metric, "points(model='openai:gpt-5', variant='published', trials=3)")
    assert load(Metric, signature(metric)) == metric
    assert metric.models == ("openai:gpt-5",)
    assert "prompt='own'" in signature(metric)
    for wrong in ("points(model='gpt-5')", f"points(model='{FAKE}', trials=2)", f"points(model='{FAKE}', variant='x')"):
        with pytest.raises(UserError):
            load(Metric, wrong)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("F.2 Logic", "F.2"), ("F.2", "F.2"), ("f.2: logic", "F.2"), ("E.1.1 Textual Changes", "E.1.1"),
        ("E.1.2 Language Features", "E.1.2"), ("E.1", "E.1"), ("E.3 Structure", "E.3"), ("F.6 Larger Defects", "F.6"),
        ("F.2 Check", None), ("F.7", None), ("F", None), ("E.2.1", None), ("security", None), ("", None), (None, None),
        ("F.2 or F.4", None), ("F.22", None),
    ],
)  # fmt: skip
def test_types(text: str | None, code: str | None) -> None:
    assert change_type(text) == code


def test_another_model_rates_the_points_that_one_listed(door: list[Call]) -> None:
    case = Case(id="c", change=CHANGE, references=(known("K1", "F.2"),))
    review = Review(case="c", system="s", comments=(Comment(id="r", body="- The cart crashes\n- Rename total"),))
    own = Points(model=FAKE).parts(case, review)
    with scripted(
        [
            '{"ratings": [{"prediction": "P1", "type": "E.2", "severity": 1}]}',
            '{"ratings": [{"prediction": "P1", "type": "E.2", "severity": 1},'
            ' {"prediction": "P2", "type": "F.1", "severity": 10}]}',
            '{"hits": [{"known": "K1", "predictions": ["P2"]}]}',
        ]
    ) as model:
        metric = Points(model=model.spec, points_of=FAKE)
        other = metric.parts(case, review)
    assert isinstance(own, Measured) and isinstance(other, Measured)
    assert own.matching is not None and other.matching is not None
    assert [one.reason for one in own.matching.comments] == [
        "F.2 Logic, severity 9: The cart crashes",
        "E.1.1 Textual, severity 3: Rename total",
    ]
    assert [one.reason for one in other.matching.comments] == [
        "E.2 Visual Representation, severity 1: The cart crashes",
        "F.1 Interface, severity 10: Rename total",
    ], "an answer that rates one of two is asked for again"
    assert [one.comment for one in own.matching.comments] == [one.comment for one in other.matching.comments]
    assert metric.models == (model.spec, FAKE)
    assert "rating prompt" in metric.pins() and "rating prompt" not in Points(model=FAKE).pins()
    assert load(Metric, signature(metric)) == metric
    with pytest.raises(ValueError, match="needs a model that rates"):
        Points(points_of=FAKE)
