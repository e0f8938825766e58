"""Reviewers propose further comments: neutral until verified, all reviewers or none, and what they ask is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from reviewed_pulls import FAKE, candidate, made, reference, the_one
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Reviewer, Stage
from reviewgauge.core.records import Change, ChangedFile, Comment, Review, Span
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import load, signature
from reviewgauge.models.request.messages import Call
from reviewgauge.stages.generate import Generate
from scripted_endpoint import OpenAI, Say, Scripted

pytestmark = pytest.mark.usefixtures("calls")

ASKS = f"prompt(model={FAKE!r})"
PATCH = "@@ -1,2 +1,3 @@\n def f():\n+    eval(text)\n     return 1"


@dataclass(frozen=True)
class Echo(Reviewer):
    """Says what it is told, where it is told."""

    needs_diff: ClassVar[bool] = False
    says: tuple[str, ...] = ("the loop never ends",)
    breaks: str = ""

    def review(self, change: Change) -> Review:
        if self.breaks == "code":
            raise NeedsCode("echo")
        if self.breaks == "bug":
            raise ZeroDivisionError("a bug")
        comments = tuple(
            Comment(
                id=f"c{n}", body=body, span=Span(path="a.py", start=2), reply_to="c0", same_as="c0", extra={"mine": 1}
            )
            for n, body in enumerate(self.says)
        )
        return Review(case=change.id or "", system=self.system, comments=comments)


ECHO = f"{__name__}.Echo"


def stage_of(*reviewers: str) -> Generate:
    return Generate(reviewers)


def test_proposals_are_neutral_and_say_whose_they_are() -> None:
    item = candidate(reference("a", "known"), neutral=(reference("n", "neutral"),))
    item = item.with_change(files=(ChangedFile(path="a.py", patch=PATCH),))
    (kept,), _, decisions = made(stage_of(ASKS, ECHO), item)
    assert kept.case.references == item.case.references
    before, model, echo = kept.case.neutral
    assert before.id == "n"
    assert (model.author, echo.author) == (ASKS, ECHO)
    assert model.body.startswith("eval runs whatever")
    assert model.span == Span(path="a.py", start=2)
    assert echo.extra == {"mine": 1, "source": "generated", "proposed": True, "id_in_review": "c0"}
    assert (echo.same_as, echo.reply_to) == (None, None)
    assert [one.reason for one in decisions] == [f"proposed by {ASKS}", f"proposed by {ECHO}"]
    assert "+    eval(text)" in decisions[0].shown


def test_ids_are_unique_and_stable() -> None:
    stage = stage_of(f"{ECHO}(says=('one', 'one', ' ', 'two'))")
    first, again = the_one(stage, candidate()), the_one(stage, candidate())
    assert first == again
    names = [one.id for one in first.case.neutral]
    assert len(set(names)) == len(names) == 3
    twice = the_one(stage, first)
    assert len({one.id for one in twice.case.neutral}) == 6


def test_a_reviewer_sees_the_change_and_its_id_and_no_more(calls: list[Call]) -> None:
    item = candidate(reference("a", "SECRET-ANSWER")).with_change(files=(ChangedFile(path="a.py", patch=PATCH),))
    made(stage_of(ASKS), item)
    assert calls
    assert not any("SECRET-ANSWER" in message.text for call in calls for message in call.request.messages)


def test_one_that_fails_fails_the_change_and_is_named() -> None:
    with pytest.raises(Failed, match=r"Echo\(breaks='code'\): echo needs the code") as broken:
        made(stage_of(ECHO, f"{ECHO}(breaks='code')"), candidate())
    assert not broken.value.stops
    with pytest.raises(Failed, match="analyser: "):
        made(stage_of("analyser"), candidate())
    with pytest.raises(ZeroDivisionError):
        made(stage_of(f"{ECHO}(breaks='bug')"), candidate())
    protocol = OpenAI()
    server = Scripted(lambda _: Say(protocol.refused()))
    try:
        with pytest.raises(Failed, match="prompt") as refused:
            made(stage_of(ECHO, f"prompt(model={protocol.spec(server)!r})"), candidate())
    finally:
        server.stop()
    assert refused.value.kind is FailureKind.REFUSAL


def test_what_ends_every_review_ends_the_build() -> None:
    protocol = OpenAI()
    server = Scripted(lambda _: Say(protocol.error("no such key"), status=401))
    try:
        with pytest.raises(Failed) as broken:
            made(stage_of(f"prompt(model={protocol.spec(server)!r})"), candidate())
    finally:
        server.stop()
    assert broken.value.stops
    with pytest.raises(UserError, match="must not be negative") as wrong:
        made(stage_of(f"prompt(model={FAKE!r}, truncate=-1)"), candidate())
    assert not isinstance(wrong.value, Failed)


def test_it_says_what_it_asks_and_rests_on() -> None:
    stage = stage_of(ASKS, "silent", "prompt(model='openai:gpt-5')")
    assert stage.models == (FAKE, "openai:gpt-5")
    assert set(stage.pins()) == {f"{ASKS}: prompt", "prompt(model='openai:gpt-5'): prompt"}
    assert load(Stage, signature(stage)) == stage
    assert Generate.costly


@pytest.mark.parametrize(("spec", "problem"), [
    ("generate(reviewers=())", "name the reviewers"),
    ("generate(reviewers=('silent', 'silent'))", "named twice"),
    ("generate(reviewers=('slient',))", "no reviewer is called 'slient'"),
    ("generate", "needs reviewers"),
])  # fmt: skip
def test_what_is_refused(spec: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        load(Stage, spec)
