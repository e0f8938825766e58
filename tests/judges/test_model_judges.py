"""The judges that ask a chat model: what they ask, what they ask about, what they make of answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from fake_rules import rules
from fake_server import FakeServer
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Judge
from reviewgauge.core.records import Anchoring, Case, Change, ChangedFile, Comment, Review, Side, Span
from reviewgauge.core.results import Failed, FailureKind, Verdict
from reviewgauge.core.specs import load, signature
from reviewgauge.judges.golden import Golden
from reviewgauge.judges.pairs.asking import NOT_ASKED, judge_of
from reviewgauge.judges.pairs.location import NO_DIFF, NO_HUNK, NO_PLACE
from reviewgauge.judges.same_concern import SameConcern
from reviewgauge.metrics.hits import Hits
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.chat.client import track_usage
from reviewgauge.models.request.messages import FENCE_NOTE, fence

pytestmark = pytest.mark.usefixtures("own_client")

FAKE = "fake:rules"
PATCH = "@@ -1,2 +1,3 @@\n one\n+two\n three\n@@ -40,2 +41,3 @@ def far():\n-forty\n+forty one\n+forty two\n end"
CHANGE = Change(repo="a/b", files=(ChangedFile(path="a.py", patch=PATCH),))


def at(name: str, body: str, path: str | None = None, line: int | None = None, side: Side = Side.NEW) -> Comment:
    span = None if path is None else Span(path=path, start=line, side=side)
    return Comment(id=name, body=body, span=span)


CACHE = at("r1", "The cache is never invalidated when a user is deleted", "a.py", 2)
NULL = at("r2", "Missing null check on the response body")
SAID = (
    at("c1", "When a user is deleted, the cache is not invalidated", "a.py", 3),
    at("c2", "The response body may be null: check it"),
    at("c3", "Please rename this variable", "b.py", 2),
)


def case_of(*references: Comment, change: Change = CHANGE) -> Case:
    return Case(id="case", change=change, references=references)


def review_of(*comments: Comment) -> Review:
    return Review(case="case", system="tool", comments=comments)


def table(judge: Judge, comments: tuple[Comment, ...], *references: Comment) -> list[list[Verdict]]:
    rows = judge.judge(case_of(*references), comments, references, review_of(*comments))
    assert all(verdict is not None for row in rows for verdict in row)
    return [[verdict for verdict in row if verdict is not None] for row in rows]


# --- what is asked -------------------------------------------------------------------------------------------------


def test_the_published_prompt_is_the_papers_figure_9_to_the_byte(shared_data: Path) -> None:
    paper = shared_data.parent / "papers" / "aacr-bench.txt"
    if not paper.is_file():
        pytest.skip("the papers are not part of the project")
    before = paper.read_text(encoding="utf-8").partition("Figure 9. Prompt Used to detect Repeated Comments")[0]
    printed = before.rstrip().removesuffix("```").rpartition("```")[2].strip("\n")
    judge = SameConcern(model=FAKE, prompt="published")
    (message,) = judge.messages(case_of(CACHE), SAID[0], CACHE, swapped=False)
    hunk = "@@ -1,2 +1,3 @@\n one\n+two\n three"
    filled = printed.format(diff_hunk=hunk, comment1=SAID[0].body, comment2=CACHE.body)
    assert message.text == filled


def test_the_fenced_prompt_is_the_same_words_with_the_texts_marked_as_data() -> None:
    note, message = SameConcern(model=FAKE).messages(case_of(CACHE), SAID[0], CACHE, swapped=False)
    (plain,) = SameConcern(model=FAKE, prompt="published").messages(case_of(CACHE), SAID[0], CACHE, swapped=False)
    assert note.text == FENCE_NOTE
    unfenced = message.text
    for text in ("@@ -1,2 +1,3 @@\n one\n+two\n three", SAID[0].body, CACHE.body):
        assert fence(text) in unfenced
        unfenced = unfenced.replace(fence(text), text)
    assert unfenced == plain.text
    assert SameConcern(model=FAKE).pins() != SameConcern(model=FAKE, prompt="published").pins()


def test_the_rewritten_evaluator_of_aacr_bench_shows_no_code_and_names_the_reference_first() -> None:
    judge = SameConcern(model=FAKE, prompt="evaluation")
    said = SAID[0].model_copy(update={"body": "Said.<details>Much\nthought</details>\n\n\n\nMore."})
    (message,) = judge.messages(case_of(CACHE), said, CACHE, swapped=False)
    assert f"Review Comment 1:\n{CACHE.body}\n\nReview Comment 2:\nSaid.\n\nMore.\n" in message.text
    assert "+two" not in message.text and message.text.endswith("Your answer:")
    (turned,) = judge.messages(case_of(CACHE), said, CACHE, swapped=True)
    assert f"Review Comment 2:\n{CACHE.body}\n" in turned.text
    assert judge.pins() != SameConcern(model=FAKE, prompt="published").pins() and judge.answer_schema is None
    assert [[one.same for one in row] for row in table(judge, (SAID[0],), CACHE)] == [[True]]


def test_no_name_of_who_wrote_or_made_something_enters_a_question() -> None:
    signed = SAID[0].model_copy(update={"author": "SIGNATURE-1", "id": "SIGNATURE-2", "extra": {"by": "SIGNATURE-3"}})
    known = CACHE.model_copy(update={"author": "SIGNATURE-4", "id": "SIGNATURE-5", "category": "SIGNATURE-6"})
    fenced, published = SameConcern(model=FAKE), SameConcern(model=FAKE, prompt="published")
    for judge in (fenced, published, SameConcern(model=FAKE, prompt="evaluation"), Golden(model=FAKE)):
        asked = judge.messages(case_of(known), signed, known, swapped=False)
        assert asked == judge.messages(case_of(CACHE), SAID[0], CACHE, swapped=False)
        assert "SIGNATURE" not in "".join(message.text for message in asked)


@pytest.mark.parametrize(("reference", "comment", "change", "shown"), [
    (CACHE, SAID[0], CHANGE, "@@ -1,2 +1,3 @@\n one\n+two\n three"),
    (at("r", "x", "a.py", 42), SAID[0], CHANGE, "@@ -40,2 +41,3 @@ def far():\n-forty\n+forty one\n+forty two\n end"),
    (at("r", "x", "a.py", 40, Side.OLD), SAID[0], CHANGE, "@@ -40,2 +41,3 @@ def far():"),
    (NULL, SAID[0], CHANGE, "@@ -1,2 +1,3 @@"),  # the comment's hunk, where the reference has no lines
    (NULL, SAID[1], CHANGE, NO_PLACE),
    (at("r", "x", "a.py"), SAID[1], CHANGE, NO_PLACE),
    (at("r", "x", "a.py", 20), SAID[1], CHANGE, NO_HUNK),
    (at("r", "x", "other.py", 2), SAID[1], CHANGE, NO_HUNK),
    (CACHE, SAID[0], Change(repo="a/b"), NO_DIFF),
])  # fmt: skip
def test_the_hunk_is_the_references_else_the_comments_and_its_absence_is_said(
    reference: Comment, comment: Comment, change: Change, shown: str
) -> None:
    judge = SameConcern(model=FAKE, prompt="published")
    (message,) = judge.messages(case_of(reference, change=change), comment, reference, swapped=False)
    assert f"-Diff Hunk-\n{shown}" in message.text


def test_the_order_of_the_two_comments_is_a_parameter() -> None:
    judge = SameConcern(model=FAKE, prompt="published", order="reference_first")
    assert judge.orders == (True,)
    (message,) = judge.messages(case_of(CACHE), SAID[0], CACHE, swapped=True)
    assert f"Review Comment 1:\n{CACHE.body}\n\nReview Comment 2:\n{SAID[0].body}\n" in message.text
    ((verdict,),) = table(SameConcern(model=FAKE, order="both"), SAID[:1], CACHE)
    assert [vote.rater for vote in verdict.votes] == [f"{FAKE} (comment first)", f"{FAKE} (reference first)"]


# --- what is asked about -------------------------------------------------------------------------------------------


def test_pairs_at_other_places_are_not_asked_about_and_those_without_lines_are() -> None:
    elsewhere = at("c", "The cache is never invalidated when a user is deleted!", "a.py", 9)
    lost = SAID[0].model_copy(update={"id": "lost", "span": None, "anchoring": Anchoring.INVALID})
    comments = (SAID[0], SAID[1], SAID[2], elsewhere, lost)
    with track_usage() as tracker:
        rows = table(SameConcern(model=FAKE), comments, CACHE, NULL)
    assert tracker.usage.calls == 1 + 1 + 5  # c1 and c2 about the cache, all five about what has no lines
    assert rows[2][0] == Verdict(probability=0.0, same=False, reason=f"{NOT_ASKED}another file")
    assert rows[3][0].reason == f"{NOT_ASKED}7 lines away"
    assert rows[4][0].reason == f"{NOT_ASKED}no valid place"
    assert [row[0].same for row in rows] == [True, False, False, False, False]
    assert [row[0].same for row in table(SameConcern(model=FAKE, location="any"), comments, CACHE)] == [
        True, False, False, True, True]  # fmt: skip
    assert table(SameConcern(model=FAKE, tolerance=7), (elsewhere,), CACHE)[0][0].same


def test_equal_questions_are_put_once_and_the_same_words_at_the_same_place_need_none() -> None:
    again = SAID[0].model_copy(update={"id": "again"})
    copy = CACHE.model_copy(update={"id": "copy"})
    with track_usage() as tracker:
        rows = table(SameConcern(model=FAKE), (SAID[0], again, copy), CACHE)
    assert tracker.usage.calls == 1
    assert rows[2][0].reason == f"{NOT_ASKED}the same words at the same place"
    assert [row[0].same for row in rows] == [True, True, True]
    with track_usage() as tracker:
        table(SameConcern(model=FAKE, prompt="published"), (copy,), CACHE)
    assert tracker.usage.calls == 1, "the paper has no such rule"
    moved = CACHE.model_copy(update={"id": "moved", "span": Span(path="a.py", start=3)})
    with track_usage() as tracker:
        table(SameConcern(model=FAKE), (moved,), CACHE)
    assert tracker.usage.calls == 1, "the same words at another place are asked about"


# --- what is made of answers ---------------------------------------------------------------------------------------


def test_votes_are_kept_and_the_same_model_is_asked_so_many_times() -> None:
    with track_usage() as tracker:
        ((verdict,),) = table(SameConcern(model=FAKE, votes=3), SAID[:1], CACHE)
    assert tracker.usage.calls == 3
    assert [vote.rater for vote in verdict.votes] == [f"{FAKE} (trial {n})" for n in (1, 2, 3)]
    assert {(vote.value, vote.reason) for vote in verdict.votes} == {(True, "yes")}
    assert verdict.reason == "3 of 3 say yes"


def test_golden_keeps_confidence_and_reasoning() -> None:
    shared = rules.overlap(CACHE.body, SAID[0].body)
    ((verdict,),) = table(Golden(model=FAKE), SAID[:1], CACHE)
    assert verdict.probability == rules.confidence(shared) == round(0.5 + shared / 2, 2)
    assert verdict.votes[0].confidence == verdict.probability
    assert verdict.reason == verdict.votes[0].reason == f"Dice {shared:.2f}"
    ((other,),) = table(Golden(model=FAKE), SAID[2:], CACHE)
    assert (other.same, other.probability) == (False, 0.0)


def test_a_vote_that_fails_voids_the_measurement_and_is_never_a_no() -> None:
    with FakeServer(fail="garbage:when=response body") as server:
        metric = Hits(judge=server.spec())
        whole, broken = case_of(CACHE), case_of(CACHE, NULL)
        assert not isinstance(metric.parts(whole, review_of(SAID[0], SAID[2])), str)
        with pytest.raises(Failed, match=r"3 of 4 votes failed.*no readable answer in 3 asks") as found:
            metric.parts(broken, review_of(SAID[0], SAID[1]))
    assert found.value.kind is FailureKind.UNREADABLE
    assert found.value.raw
    assert not found.value.stops


def test_a_model_is_short_for_same_concern() -> None:
    assert judge_of(" openai:gpt-5 ") == SameConcern(model="openai:gpt-5")
    assert judge_of("golden(model='openai:gpt-5')") == Golden(model="openai:gpt-5")
    metric = Hits(judge="openai:gpt-5")
    assert metric.models == ("openai:gpt-5",)
    assert metric.pins()["judge"] == signature(SameConcern(model="openai:gpt-5"))
    assert metric.pins()["prompt"] == SameConcern(model="openai:gpt-5").pins()["prompt"]
    assert metric.estimate_note == ""
    assert Hits(judge="openai:gpt-5", location="only").models == ()
    assert Hits(judge="openai:gpt-5", location="only").pins() == {}


@pytest.mark.parametrize(("spec", "problem"), [
    ("same_concern", "a model is required"),
    ("golden", "a model is required"),
    ("same_concern(model='nobody:x')", "provider"),
    ("same_concern(model='fake:rules', votes=0)", "votes=0"),
    ("golden(model='fake:rules', votes=1000)", "votes=1000"),
    ("same_concern(model='fake:rules', tolerance=-1)", "tolerance"),
    ("same_concern(model='fake:rules', prompt='mine')", "prompt"),
    ("golden(model='fake:rules', prompt='published')", "prompt"),
])  # fmt: skip
def test_parameters_that_mean_nothing_are_refused(spec: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        load(Judge, spec)


# --- answers; tests/models/answers/corpus.jsonl holds hundreds for each judge ---------------------------------------


def test_answers_are_read_and_nothing_is_guessed() -> None:
    same = SameConcern(model=FAKE)
    assert [same.read(text).same for text in ("Yes.", "Answer: no", '{"answer": "yes"}')] == [True, False, True]
    golden = Golden(model=FAKE)
    assert golden.read('{"match": false, "confidence": 1, "reasoning": null}') == (False, 1.0, "")
    for judge, text in ((same, "The two are not similar."), (same, "yes and no"), (golden, "yes")):
        with pytest.raises(Unreadable):
            judge.read(text)


@pytest.mark.parametrize(("match", "confidence"), [('"true"', "0.9"), ("1", "0.9"), ("null", "0.9"), ("true", "95"),
    ("true", '"high"'), ("true", "true"), ("true", "-0.1"), ("true", "NaN"), ("true", "null")])  # fmt: skip
def test_golden_takes_no_other_types(match: str, confidence: str) -> None:
    with pytest.raises(Unreadable):
        Golden(model=FAKE).read(f'{{"reasoning": "x", "match": {match}, "confidence": {confidence}}}')


def test_what_an_answer_says_can_be_recorded() -> None:
    assert (
        SameConcern(model=FAKE).read("yes\n\nBoth name the same \x00 byte.").reason
        == "yes\n\nBoth name the same \ufffd byte."
    )
    with pytest.raises(Unreadable, match="NUL"):
        Golden(model=FAKE).read('{"reasoning": "a\\u0000b", "match": true, "confidence": 0.9}')
