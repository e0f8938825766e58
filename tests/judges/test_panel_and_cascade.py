"""Several judges together: votes of a panel, and a cheap judge before a dear one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_server import FakeServer
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.protocols import Judge
from reviewgauge.core.records import Case, Change, Comment, Review, Span
from reviewgauge.core.results import Failed, Verdict, Vote
from reviewgauge.core.specs import load, signature
from reviewgauge.judges.cascade import Cascade
from reviewgauge.judges.lexical import Lexical
from reviewgauge.judges.pairs.asking import NOT_ASKED, Compared, WeightedVote, agreed, judge_some, probability_of
from reviewgauge.judges.panel import Panel
from reviewgauge.judges.same_concern import SameConcern
from reviewgauge.metrics.hits import Hits
from reviewgauge.models.chat.client import track_usage

pytestmark = pytest.mark.usefixtures("own_client")

FAKE = "fake:rules"
GOLDEN = f"golden(model='{FAKE}')"


def at(name: str, body: str, path: str | None = None, line: int | None = None) -> Comment:
    return Comment(id=name, body=body, span=None if path is None else Span(path=path, start=line))


REFERENCES = (
    at("r1", "The cache is never invalidated when a user is deleted"),
    at("r2", "Missing null check on the response body of fetchUser"),
    at("r3", "The lock is released twice", "a.py", 5),
)
COMMENTS = (
    at("c1", "Deleted users stay in memory"),
    at("c2", "fetchUser may give a null body"),
    at("c3", "Please rename this variable", "b.py", 5),
    at("c4", "The lock is taken again", "a.py", 5),
)
CASE = Case(id="case", change=Change(repo="a/b"), references=REFERENCES)
REVIEW = Review(case="case", system="tool", comments=COMMENTS)


def table(judge: Judge, case: Case = CASE) -> list[list[Verdict]]:
    rows = judge.judge(case, COMMENTS, REFERENCES, REVIEW)
    assert all(verdict is not None for row in rows for verdict in row)
    return [[verdict for verdict in row if verdict is not None] for row in rows]


def flat(rows: Sequence[Sequence[Verdict]]) -> list[Verdict]:
    return [verdict for row in rows for verdict in row]


def label(comment: str, reference: str, value: bool) -> Label:
    subject = Subject(
        kind=SubjectKind.PAIR, case="case", system="tool", attempt=1, comment=comment, reference=reference
    )
    return Label(subject=subject, rater="ann", rater_kind=RaterKind.HUMAN, dimension="same_issue", value=value)


# --- votes ---------------------------------------------------------------------------------------------------------


def cast(*votes: tuple[bool, float | None]) -> list[WeightedVote]:
    return [WeightedVote(Vote(rater="m", value=v, confidence=c), probability_of(v, c)) for v, c in votes]


@pytest.mark.parametrize(("votes", "majority", "mean"), [
    (((True, None),), (True, 1.0), (True, 1.0)),
    (((False, None),), (False, 0.0), (False, 0.0)),
    (((True, 0.2),), (True, 0.5), (True, 0.5)),  # a yes in doubt is a yes
    (((False, 0.2),), (False, 0.5), (False, 0.5)),
    (((True, None), (False, None)), (False, 0.5), (False, 0.5)),  # a tie is a no
    (((True, None), (True, None), (False, None)), (True, 0.666667), (True, 0.666667)),
    (((True, 0.6), (True, 0.6), (False, 1.0)), (True, 0.5), (False, 0.4)),  # one who is sure, two who are not
    (((True, 0.9), (False, 0.6), (False, 0.6)), (False, 0.5), (True, 0.566667)),
])  # fmt: skip
def test_majority_counts_votes_and_mean_weighs_them(
    votes: tuple[tuple[bool, float | None], ...], majority: tuple[bool, float], mean: tuple[bool, float]
) -> None:
    for agree, expected in (("majority", majority), ("mean", mean)):
        found = agreed(cast(*votes), agree)  # type: ignore[arg-type]
        assert (found.same, found.probability) == expected
        assert found.unsure == (len({v for v, _ in votes}) > 1)
        assert len(found.votes) == len(votes)


@given(
    votes=st.lists(st.tuples(st.booleans(), st.none() | st.floats(0, 1)), min_size=1, max_size=9),
    agree=st.sampled_from(["majority", "mean"]),
)
def test_a_verdict_of_votes_is_consistent_and_blind_to_their_order(
    votes: list[tuple[bool, float | None]], agree: str
) -> None:
    found = agreed(cast(*votes), agree)  # type: ignore[arg-type]
    assert 0 <= found.probability <= 1
    assert found.probability >= 0.5 if found.same else found.probability <= 0.5
    back = agreed(cast(*votes[::-1]), agree)  # type: ignore[arg-type]
    assert (back.same, back.probability) == (found.same, found.probability)
    if len({v for v, _ in votes}) == 1:
        assert found.same is votes[0][0]


# --- panel ---------------------------------------------------------------------------------------------------------


def test_a_panel_keeps_every_vote_under_its_judge() -> None:
    panel = Panel(judges=(f"same_concern(model='{FAKE}', votes=3)", GOLDEN, "lexical"))
    with track_usage() as tracker:
        rows = table(panel)
    first = rows[0][0]
    assert first.same
    assert [vote.rater for vote in first.votes] == [
        f"same_concern(model='{FAKE}', votes=3)",
        f"golden(model='{FAKE}')",
        "lexical",
        *(f"{FAKE} (trial {n}), for judge 1" for n in (1, 2, 3)),
        f"{FAKE}, for judge 2",
    ]
    assert first.reason == "3 of 3 say yes"
    assert tracker.usage.calls == 3 * 11 + 12  # c3 stands in another file than r3: not a question for same_concern
    assert panel.models == (FAKE,)
    assert panel.estimate == "in part offline estimate"
    assert panel.sure == Lexical().sure, "across files an offline judge must be convinced"
    assert Panel(judges=(FAKE, GOLDEN)).sure == 0.5
    assert Panel(judges=(FAKE, GOLDEN)).estimate == ""
    assert Panel(judges=("lexical", "dice")).estimate == "offline estimate"
    assert panel.pins()["judge 3, lexical weights"] == Lexical().pins()["lexical weights"]
    assert panel.pins()["judge 2"] == signature(load(Judge, GOLDEN))


def test_a_judge_with_nothing_to_say_is_left_out_and_one_that_fails_voids_the_pair() -> None:
    case = CASE.model_copy(update={"labels": (label("c1", "r1", False),)})
    panel = Panel(judges=(FAKE, "exact", "recorded"))
    rows = table(panel, case)
    assert [vote.value for vote in rows[0][0].votes[:3]] == [True, False, False]
    assert rows[1][0].reason == "0 of 2 say yes, of 3 judges"
    assert panel.reads_labels
    assert Panel(judges=("recorded", "recorded(rater='bob')")).judge(CASE, COMMENTS, REFERENCES, REVIEW)[0][0] is None
    with FakeServer(fail="garbage:when=stay in memory") as server, pytest.raises(Failed):
        table(Panel(judges=("lexical", "dice", server.spec())))


def test_what_no_judge_of_a_panel_asked_about_counts_as_not_asked() -> None:
    panel = Panel(judges=(FAKE, f"golden(model='{FAKE}', location='first')"))
    verdict = table(panel)[2][2]
    assert verdict.reason == f"{NOT_ASKED}another file"
    assert not panel.was_asked(verdict)
    mixed = Panel(judges=(FAKE, "lexical"))
    assert not mixed.was_asked(table(mixed)[2][2])
    assert mixed.was_asked(table(mixed)[0][0])


# --- cascade -------------------------------------------------------------------------------------------------------


def test_a_cascade_asks_inside_the_band_only_and_keeps_both_words() -> None:
    cascade, lexical, model = Cascade(then=GOLDEN), table(Lexical()), table(load(Judge, GOLDEN))
    unsure = [verdict.unsure for verdict in flat(lexical)]
    assert 0 < sum(unsure) < len(unsure)
    with track_usage() as tracker:
        rows = flat(table(cascade))
    assert tracker.usage.calls == sum(unsure)
    for found, offline, asked, doubted in zip(rows, flat(lexical), flat(model), unsure, strict=True):
        if doubted:
            assert (found.same, found.probability, found.reason) == (asked.same, asked.probability, asked.reason)
            assert [vote.rater for vote in found.votes] == ["lexical", FAKE]
            assert found.votes[0].value == offline.same
        else:
            assert found == offline
        assert cascade.was_asked(found) == doubted
    parts = Hits(judge=f'cascade(then="{GOLDEN}")').parts(CASE, REVIEW)
    assert not isinstance(parts, str)
    assert (parts.parts["asked"], parts.parts["pairs"]) == (sum(unsure), 12)
    assert cascade.estimate == "in part offline estimate"
    assert (cascade.models, cascade.base_rate, cascade.sure) == ((FAKE,), None, 0.5)


def test_what_the_second_judge_decides_without_a_question_it_decides() -> None:
    everything = "lexical(low=0.0, high=1.0)"
    with track_usage() as tracker:
        rows = table(Cascade(first=everything, then=FAKE))
    assert rows[2][2].reason == f"{NOT_ASKED}another file"
    assert tracker.usage.calls == 11
    parts = Hits(judge=f"cascade(first='{everything}', then='{FAKE}')").parts(CASE, REVIEW)
    assert not isinstance(parts, str)
    assert (parts.parts["pairs"], parts.parts["asked"]) == (11, 11)


def test_a_band_as_wide_as_can_be_gives_the_second_judges_hits() -> None:
    wide, model = Hits(judge=f"cascade(first='lexical(low=0.0, high=1.0)', then='{FAKE}')"), Hits(judge=FAKE)
    one, other = wide.parts(CASE, REVIEW), model.parts(CASE, REVIEW)
    assert not isinstance(one, str)
    assert not isinstance(other, str)
    assert one.matching is not None
    assert other.matching is not None
    assert [(g.group, g.hit) for g in one.matching.groups] == [(g.group, g.hit) for g in other.matching.groups]
    assert one.parts["asked"] == other.parts["asked"] == 11


def test_recorded_verdicts_can_be_the_second_judge_and_their_gaps_leave_the_first_judges_word() -> None:
    unsure = [(c, r) for c, row in enumerate(table(Lexical())) for r, v in enumerate(row) if v.unsure]
    (c, r), *rest = unsure
    assert rest
    case = CASE.model_copy(update={"labels": (label(COMMENTS[c].id, REFERENCES[r].id, True),)})
    cascade = Cascade(then="recorded")
    rows = table(cascade, case)
    assert (rows[c][r].probability, cascade.was_asked(rows[c][r])) == (1.0, True)
    assert all(rows[c][r] == table(Lexical())[c][r] for c, r in rest)
    assert cascade.reads_labels
    assert Hits(judge="cascade(then='recorded')").reads_labels


def test_a_second_look_keeps_what_the_second_judge_decided() -> None:
    cascade = Cascade(then=GOLDEN)
    other = REVIEW.model_copy(update={"system": "other", "comments": COMMENTS[:2]})
    tables = {review.system: cascade.judge(CASE, review.comments, REFERENCES, review) for review in (REVIEW, other)}
    after = cascade.refine(CASE, tables, {"tool": REVIEW, "other": other})
    changed = 0
    for system, rows in tables.items():
        for row, fresh in zip(rows, after[system], strict=True):
            for old, new in zip(row, fresh, strict=True):
                assert old is not None
                assert new is not None
                if cascade.was_asked(old):
                    assert new == old
                changed += new != old
    assert changed
    two = Hits(judge=f'cascade(then="{GOLDEN}")', second_stage=True)
    assert all(not isinstance(found, str) for found in two.parts_many([(CASE, REVIEW), (CASE, other)]))


@pytest.mark.parametrize(("spec", "problem"), [
    ("cascade", "a second judge is required"),
    (f"cascade(first='{FAKE}', then='{FAKE}')", "must be an offline one"),
    ("cascade(then='nobody')", "no judge is called"),
    ("cascade(then='nobody:x')", "provider 'nobody' is unknown"),
    ("panel", "at least two judges"),
    ("panel(judges=('lexical', 'nobody:x'))", "provider 'nobody' is unknown"),
    ("panel(judges=('lexical',))", "at least two judges"),
    (f"panel(judges=('{FAKE}', \"same_concern(model='{FAKE}')\"))", "named twice"),
    ("panel(judges=('lexical', 'nobody'))", "no judge is called"),
])  # fmt: skip
def test_what_is_no_panel_and_no_cascade_is_refused(spec: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        hash(load(Judge, spec).models) + hash(load(Judge, spec))


def test_a_judge_of_ones_own_that_asks_models_is_not_asked_about_the_rest() -> None:
    @dataclass(frozen=True)
    class Own(Judge):
        kind = "judges"

        @property
        def models(self) -> tuple[str, ...]:
            return (FAKE,)

        def judge(
            self, case: Case, comments: Sequence[Comment], references: Sequence[Comment], review: Review
        ) -> Sequence[Sequence[Verdict | None]]:
            seen.extend((c.id, r.id) for c in comments for r in references)
            return SameConcern(model=FAKE, location="any").judge(case, comments, references, review)

    seen: list[tuple[str, str]] = []
    wanted = [(0, 0), (3, 2), (3, 0)]
    found = judge_some(Own(), Compared(CASE, COMMENTS, REFERENCES, REVIEW), wanted)
    assert sorted(seen) == [("c1", "r1"), ("c4", "r1"), ("c4", "r3")]
    assert {cell: verdict.same for cell, verdict in found.items() if verdict} == {
        (0, 0): True, (3, 2): True, (3, 0): False}  # fmt: skip
