"""Judges over a local endpoint that answers as told: asked again with the reason, then a failure, never a guess."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewgauge.core.protocols import Judge
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.results import Failed, FailureKind, Verdict
from reviewgauge.core.specs import load
from reviewgauge.models.chat.client import ChatClient, track_usage
from reviewgauge.models.request.model_spec import ChatSettings
from scripted_endpoint import OpenAI, Say, Scripted

REFERENCE = Comment(id="r", body="The lock is released twice")
COMMENT = Comment(id="c", body="unlock() is called again on this path")


PROTOCOL = OpenAI()


@pytest.fixture(autouse=True)
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path))
    with ChatClient(ChatSettings(cache=False, in_flight=1)):
        yield


def judged(spec: str, answers: list[str]) -> tuple[Verdict, list[dict[str, Any]], int]:
    """The verdict on the pair, what the endpoint was asked, and the number of calls."""
    server = Scripted(lambda _: Say(status=500))
    server.script = [Say(PROTOCOL.good(text)) for text in answers]
    try:
        judge = load(Judge, spec.replace("MODEL", repr(PROTOCOL.spec(server))))
        case = Case(id="case", change=Change(repo="a/b"), references=(REFERENCE,))
        with track_usage() as tracker:
            ((verdict,),) = judge.judge(case, [COMMENT], [REFERENCE], Review(case="case", system="s"))
    finally:
        server.stop()
    assert verdict is not None
    return verdict, server.bodies, tracker.usage.calls


def test_the_published_misparse_is_asked_again_and_not_read_as_yes() -> None:
    answers = ["They are not the same, though one might say yes.", "No, they are not the same."]
    verdict, asked, calls = judged("same_concern(model=MODEL)", answers)
    assert (verdict.same, calls) == (False, 2)
    second = asked[1]["messages"]
    assert [message["role"] for message in second[-3:]] == ["user", "assistant", "user"]
    assert second[-2]["content"] == answers[0]
    assert "cannot be used" in second[-1]["content"]


def test_after_three_unusable_answers_it_is_a_failure_that_keeps_the_last() -> None:
    with pytest.raises(Failed, match="no readable answer in 3 asks") as found:
        judged("golden(model=MODEL)", ["yes", '{"match": "true", "confidence": 1}', '{"match": true}', "unused"])
    assert found.value.kind is FailureKind.UNREADABLE
    assert found.value.raw == '{"match": true}'
    assert not found.value.stops


def test_votes_of_one_model_that_contradicts_itself() -> None:
    verdict, asked, calls = judged("same_concern(model=MODEL, votes=3)", ["yes", "no", "Yes."])
    assert calls == len(asked) == 3
    assert (verdict.same, verdict.probability, verdict.unsure) == (True, 0.666667, True)
    assert verdict.reason == "2 of 3 say yes"
    assert sorted(str(vote.reason) for vote in verdict.votes) == ["Yes.", "no", "yes"]


def test_golden_sends_its_schema_and_no_word_of_who_wrote_what() -> None:
    answer = '```json\n{"reasoning": "both: a double release", "match": true, "confidence": 0.8,}\n```'
    verdict, asked, _ = judged("golden(model=MODEL)", [answer])
    assert (verdict.same, verdict.probability, verdict.reason) == (True, 0.8, "both: a double release")
    (body,) = asked
    assert set(body["response_format"]["json_schema"]["schema"]["properties"]) == {"reasoning", "match", "confidence"}
    assert REFERENCE.body in body["messages"][-1]["content"]
    assert COMMENT.body in body["messages"][-1]["content"]
