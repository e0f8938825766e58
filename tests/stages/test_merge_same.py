"""Comments that say the same become one finding: what is compared, by whom, and what becomes of the repeated ones."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewed_pulls import FAKE, FIRST, candidate, made, reference, the_one
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Comment, Side, Span, groups_of
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import load, signature
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.messages import Call, fence
from reviewgauge.models.request.model_spec import ChatSettings
from reviewgauge.stages.merge_same import MergeSame
from scripted_endpoint import OpenAI, Say, Scripted
from scripted_models import Messages, scripted

pytestmark = pytest.mark.usefixtures("calls")

CACHE = "The cache is never invalidated when a user is deleted"
AGAIN = "When a user is deleted the cache is not invalidated"
NULL = "The response body may be null here, check it first"


def joined(references: Sequence[Comment]) -> list[list[str]]:
    return [[references[at].id for at in members] for members in groups_of(references)]


# --- what is compared ----------------------------------------------------------------------------------------------


def test_pairs_are_those_within_a_file_and_a_hunk(calls: list[Call]) -> None:
    item = candidate(
        reference("a", CACHE, 1),
        reference("b", AGAIN, 3),
        reference("far", CACHE, 42),
        reference("other", CACHE, 2, "b.py"),
        reference("nowhere", CACHE, None),
        reference("outside", CACHE, 30),
    )
    (kept,), _, decisions = made(MergeSame(FAKE), item)
    assert [one.decided for one in decisions] == ["same"]
    assert decisions[0].shown == f"a.py, line 1\n\n{FIRST}\n\n1: {CACHE}\n\n2: {AGAIN}"
    assert joined(kept.case.references) == [["a", "b"], ["far"], ["other"], ["nowhere"], ["outside"]]
    assert len(calls) == 5, "five votes on one pair"
    assert sorted(call.trial for call in calls) == [1, 2, 3, 4, 5]


def test_the_sides_of_a_hunk_are_one_hunk() -> None:
    old = Comment(id="old", body=AGAIN, span=Span(path="a.py", start=40, side=Side.OLD))
    item = candidate(reference("new", CACHE, 42), old)
    assert joined(the_one(MergeSame(FAKE), item).case.references) == [["new", "old"]]


def test_the_question_is_figure_9_with_its_hunk(calls: list[Call]) -> None:
    made(MergeSame(FAKE), candidate(reference("a", CACHE), reference("b", NULL)))
    asked = calls[0].request.messages[-1].text
    assert fence(FIRST) in asked
    assert f"Review Comment 1:\n{fence(CACHE)}\n\nReview Comment 2:\n{fence(NULL)}" in asked
    published = MergeSame(FAKE, prompt="published")
    made(published, candidate(reference("a", CACHE), reference("b", NULL)))
    assert (
        f"-Diff Hunk-\n{FIRST}\n\n-Review Comments-\nReview Comment 1:\n{CACHE}" in calls[-1].request.messages[0].text
    )
    assert published.pins() != MergeSame(FAKE).pins()


# --- who decides ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("yes", "same"), [(0, False), (2, False), (3, True), (5, True)])
def test_the_majority_of_five_votes_decides(yes: int, same: bool) -> None:
    with scripted(["yes"] * yes + ["no"] * (5 - yes) or ["no"]) as model:
        kept = the_one(MergeSame(model.spec), candidate(reference("a", CACHE), reference("b", NULL)))
        assert len(model.asked) == 5
    assert (kept.case.references[1].same_as == "a") is same


def test_a_missing_vote_is_a_failure_and_no_vote_against() -> None:
    with scripted(["yes", "yes", "yes", "yes", "it depends"]) as model, pytest.raises(Failed) as broken:
        made(MergeSame(model.spec), candidate(reference("a", CACHE), reference("b", NULL)))
    assert broken.value.kind is FailureKind.UNREADABLE
    protocol = OpenAI()
    server = Scripted(lambda _: Say(protocol.refused()))
    try:
        with pytest.raises(Failed) as refused:
            made(MergeSame(protocol.spec(server)), candidate(reference("a", CACHE), reference("b", NULL)))
    finally:
        server.stop()
    assert refused.value.kind is FailureKind.REFUSAL


def test_without_a_model_the_offline_judge_decides_about_each_pair_alone(calls: list[Call]) -> None:
    stage = MergeSame()
    assert stage.models == ()
    assert stage.pins()["lexical weights"]
    item = candidate(*(reference(name, body) for name, body in (("a", CACHE), ("b", NULL), ("c", AGAIN), ("d", CACHE))))
    (kept,), _, decisions = made(stage, item)
    assert joined(kept.case.references) == [["a", "c", "d"], ["b"]], "the copy d is not a rival of c"
    assert len(decisions) == 6
    assert not calls
    assert MergeSame("exact").models == ()
    assert joined(the_one(MergeSame("exact"), item).case.references) == [["a", "d"], ["b"], ["c"]]


def test_any_judge_can_decide_and_says_what_it_asks() -> None:
    stage = MergeSame("cascade(then='fake:rules')")
    assert stage.models == (FAKE,)
    kept = the_one(stage, candidate(reference("a", CACHE), reference("b", AGAIN)))
    assert joined(kept.case.references) == [["a", "b"]]
    assert load(Stage, signature(stage)) == stage


def test_what_cannot_judge_is_refused() -> None:
    with pytest.raises(UserError, match="nothing recorded"):
        load(Stage, "merge_same(judge='recorded')")
    with pytest.raises(UserError, match="no judge is called"):
        load(Stage, "merge_same(judge='lexicla')")
    with pytest.raises(UserError, match="votes=0"):
        load(Stage, "merge_same(judge='fake:rules', votes=0)")


# --- what becomes of them ------------------------------------------------------------------------------------------


def test_groups_are_transitive() -> None:
    pairs = {frozenset("ab"), frozenset("bc")}

    def say(messages: Messages) -> str:
        text = messages[-1]["content"]
        return "yes" if frozenset(name for name in "abc" if f"text {name}" in text) in pairs else "no"

    with scripted(say) as model:
        item = candidate(*(reference(name, f"text {name}") for name in "abc"))
        kept = the_one(MergeSame(model.spec, votes=1), item)
    assert [(one.id, one.same_as) for one in kept.case.references] == [("a", None), ("b", "a"), ("c", "a")]


def test_a_proposal_that_repeats_a_reference_is_another_phrasing_and_others_stay_neutral() -> None:
    item = candidate(
        reference("a", CACHE), neutral=(reference("p", AGAIN), reference("q", NULL), reference("r", NULL + " please"))
    )
    kept = the_one(MergeSame(FAKE), item)
    assert [(one.id, one.same_as) for one in kept.case.references] == [("a", None), ("p", "a")]
    assert [(one.id, one.same_as) for one in kept.case.neutral] == [("q", None), ("r", "q")]


def test_what_was_joined_before_stays_joined(calls: list[Call]) -> None:
    item = candidate(reference("a", CACHE), reference("b", NULL, same_as="a"), reference("c", AGAIN, 42))
    kept = the_one(MergeSame(FAKE), item)
    assert joined(kept.case.references) == [["a", "b"], ["c"]]


WORDS = st.lists(st.sampled_from(["cache", "user", "null", "loop", "index"]), min_size=1, max_size=4).map(" ".join)


@given(st.lists(st.tuples(WORDS, st.sampled_from([2, 42, None])), max_size=6), st.integers(0, 6))
def test_every_comment_is_kept_once(said: list[tuple[str, int | None]], references: int) -> None:
    comments = [reference(f"c{at}", body, line) for at, (body, line) in enumerate(said)]
    item = candidate(*comments[:references], neutral=tuple(comments[references:]))
    with ChatClient(ChatSettings(cache=False)):
        kept = the_one(MergeSame(FAKE, votes=1), item).case
    assert sorted(one.id for one in (*kept.references, *kept.neutral)) == sorted(comment.id for comment in comments)
    assert {one.id for one in item.case.references} <= {one.id for one in kept.references}
    again = the_one(MergeSame(FAKE, votes=1), item.model_copy(update={"case": kept})).case
    assert joined(again.references) == joined(kept.references), "merging twice changes nothing"
