"""The ensemble: what several attempts gain is what theory says, what they cost is counted, and what fails is said."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from fake_server import FakeServer
from fickle_changes import fickle_case, named_change
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, Comment, Review, Span, Task
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import load, signature
from reviewgauge.models.chat.client import ChatClient, track_usage
from reviewgauge.models.request.model_spec import ChatSettings
from reviewgauge.reviewers.ensemble import Ensemble
from training_cases import change, training

FICKLE = "prompt(model='fake:fickle-30', scope='change')"
CHANGE = named_change(fickle_case(1, 3))


@dataclass(frozen=True)
class Scripted(Reviewer):
    """Says the words of its number, or breaks."""

    words: str = ""
    breaks: bool = False

    def review(self, change: Change) -> Review:
        if self.breaks:
            raise Failed(FailureKind.REFUSAL, "will not say")
        span = Span(path=change.files[0].path, start=1, end=1)
        comments = (Comment(id="c", body=self.words, span=span),) if self.words else ()
        verdict = bool(self.words) if change.task is Task.ASSESS else None
        return Review(case=change.id or "", system="scripted", comments=comments, verdict=verdict)


def scripted(words: str = "", breaks: bool = False) -> str:
    return signature(Scripted(words, breaks))


def at_least(n: int, chance: float) -> float:
    """The probability that more than half of n say so, each with this chance."""
    return sum(math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n // 2 + 1, n + 1))


@pytest.mark.drill
@pytest.mark.parametrize("n", [1, 5, 9])
def test_the_gain_is_binomial(n: int) -> None:
    """Condorcet: each line is judged wrongly with p = .3, apart from all others; the majority errs by the tail."""
    reviewer = load(Reviewer, f"ensemble(reviewer={FICKLE!r}, n={n})")
    cases = [fickle_case(number) for number in range(8)]
    found = false = 0
    lines = sum(len(case.references) for case in cases)
    with ChatClient(ChatSettings()):
        for case in cases:
            places = {comment.span.path for comment in reviewer.review(named_change(case)).comments if comment.span}
            right = {reference.span.path for reference in case.references if reference.span}
            found, false = found + len(places & right), false + len(places - right)
    error = 3 * math.sqrt(at_least(n, 0.3) * at_least(n, 0.7) / lines)
    assert abs(found / lines - at_least(n, 0.7)) < error
    assert abs(false / lines - at_least(n, 0.3)) < error


def test_the_attempts_are_those_of_a_run_and_cost_nothing_again() -> None:
    alone, together = load(Reviewer, FICKLE), load(Reviewer, f"ensemble(reviewer={FICKLE!r}, n=3)")
    with ChatClient(ChatSettings()) as client:
        for attempt in range(1, 7):
            with track_usage(attempt):
                alone.review(CHANGE)
        assert client.budget.totals.calls == 6
        with track_usage(2) as tracker:
            together.review(CHANGE)
        assert client.budget.totals.calls == 6, "attempt 2 of the ensemble is made of the attempts 4, 5 and 6"
        assert (tracker.usage.calls, tracker.fake) == (3, True)


def test_several_reviewers_make_one_attempt_each() -> None:
    three = (scripted("The lock is never released."), scripted("The lock is never released"), scripted("Rename this."))
    reviewer = Ensemble(three)
    (comment,) = reviewer.review(CHANGE).comments
    assert comment.body.startswith("The lock is never released")
    assert comment.confidence == pytest.approx(2 / 3)
    assert comment.extra == {"votes": 2, "attempts": 3}
    assert len(Ensemble(three, least=1).review(CHANGE).comments) == 2
    trace = reviewer.review(CHANGE).trace or ""
    assert trace.splitlines()[:3] == [
        "3 of 3 attempts answered",
        "votes: 1 of 2 findings were raised by 2 or more of 3",
        "kept, 2 of 3: f0.py:1: The lock is never released.",
    ]
    assert "dropped, 1 of 3: f0.py:1: Rename this." in trace


def test_what_failed_is_left_out_and_named_up_to_half() -> None:
    said, other = scripted("The lock is never released."), scripted("Rename this.")
    review = Ensemble((said, other, scripted(breaks=True)), least=1).review(CHANGE)
    assert len(review.comments) == 2
    assert "failed and is left out: will not say" in (review.trace or "")
    with pytest.raises(Failed, match=r"2 of 3 attempts failed, first .*will not say") as error:
        Ensemble((scripted(breaks=True), said, signature(Scripted("x", breaks=True)))).review(CHANGE)
    assert error.value.kind is FailureKind.REFUSAL


def test_a_wrong_key_stops_the_run() -> None:
    with FakeServer(fail="401") as server, ChatClient(ChatSettings(cache=False)):
        spec = f"prompt(model={server.spec()!r}, scope='change')"
        with pytest.raises(Failed) as error:
            load(Reviewer, f"ensemble(reviewer={spec!r}, n=3)").review(CHANGE)
    assert error.value.stops


def test_verdicts_are_voted_on_and_a_tie_is_a_no() -> None:
    change = CHANGE.model_copy(update={"task": Task.ASSESS})
    yes, no, more = scripted("yes"), scripted(), scripted("sure")
    assert Ensemble((yes, no, more)).review(change).verdict is True
    assert Ensemble((yes, no)).review(change).verdict is False


def test_reviewers_that_learn_learn_from_the_same_cases() -> None:
    untaught = load(Reviewer, "ensemble(reviewer=('comment_finder', 'comment_finder(candidates=5)', 'silent'))")
    assert untaught.learns and untaught.leaves_one_out
    asked = change("cursor", "new", extra="  # now")
    taught = untaught.fit(training())
    assert [comment.body for comment in taught.review(asked).comments] == ["Close the cursor afterwards."]
    assert taught == untaught and not load(Reviewer, "ensemble(reviewer='silent')").learns


@pytest.mark.parametrize(("spec", "said"), [
    ("ensemble(reviewer='silent', by='model')", "by='model' needs a model"),
    ("ensemble(reviewer='silent', n=101)", "from 1 to 100 attempts"),
    ("ensemble(reviewer=('silent', 'silent'))", "named twice"),
    ("ensemble(reviewer='silent', judge='recorded(kind=\"x\")')", "recorded"),
])  # fmt: skip
def test_bad_parameters_are_refused_in_one_line(spec: str, said: str) -> None:
    with pytest.raises(UserError, match=said.replace("(", r"\(")) as error:
        load(Reviewer, spec)
    assert "\n" not in str(error.value)
