"""Reviewers and metrics that ask models: what they cost, what stops a run, what is done again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine_small import Asking, Echo, Halted, Length, Voting, make_cases, patched_cases
from reviewgauge.core.results import FailureKind
from reviewgauge.engine.review import dry_run_review, review
from reviewgauge.engine.run.executors import Executor, Interruption, Serial, Threads
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.progress import Selection
from reviewgauge.engine.score import dry_run_score, score
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.messages import Call
from reviewgauge.models.request.model_spec import ChatSettings

pytestmark = pytest.mark.usefixtures("own_cache")

BOTH = pytest.mark.parametrize("executor", [Serial(), Threads(4)], ids=lambda e: type(e).__name__)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunFolder]:
    with RunFolder.create(tmp_path / "run", dataset="small", dataset_path="", cases=patched_cases(9)) as made:
        yield made


@BOTH
def test_a_review_is_charged_with_its_calls_and_attempts_are_different_calls(
    run: RunFolder, executor: Executor
) -> None:
    calls: list[Call] = []
    with ChatClient(ChatSettings(), calls.append):
        totals = review(run, Asking(), executor=executor, attempts=2)
    assert (totals.done, totals.cost.calls, totals.fake) == (18, 18, True)
    assert sorted(call.attempt for call in calls) == [1] * 9 + [2] * 9
    by_key = {(call.request.messages[0].text, call.attempt): call.answer.usage for call in calls}
    assert len(by_key) == 18
    for outcome in run.outcomes():
        assert outcome.review is not None
        assert outcome.review.usage in by_key.values(), "seconds too: those of the call, so that a replay is the same"
        assert outcome.review.fake


def test_what_a_failed_review_cost_is_counted(run: RunFolder) -> None:
    with ChatClient(ChatSettings()):
        totals = review(run, Asking(broken="3"), executor=Threads(4))
    assert (totals.done, totals.failed, totals.cost.calls) == (8, {"refusal": 1}, 9)
    (failed,) = [o for o in run.outcomes() if o.failure is not None]
    assert failed.failure is not None
    assert (failed.failure.kind, failed.failure.raw) == (FailureKind.REFUSAL, "no")
    assert failed.failure.message == "it will not (ask another model)"
    assert failed.usage.calls == 1


@BOTH
@pytest.mark.parametrize(("how", "why"), [("budget", "the budget is spent"), ("extra", "openai is not installed")])
def test_what_every_item_would_break_on_stops_the_run_and_leaves_no_failure(
    run: RunFolder, executor: Executor, how: str, why: str
) -> None:
    stop = Interruption()
    totals = review(run, Halted(how=how), executor=executor, stop=stop)
    assert totals.failed == {}
    assert totals.stopped.startswith(why)
    assert 1 <= totals.left == 9 - totals.done
    assert stop.error is not None
    assert str(stop.error) == totals.stopped
    kept = {o.case for o in run.outcomes()}
    assert "case-004" not in kept
    assert len(kept) == totals.done
    if executor == Serial():
        assert totals.done == 4


@pytest.mark.slow
def test_a_user_who_stops_loses_nothing_and_goes_on(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECHO_DELAY", "0.1")
    stop = Interruption()
    totals = review(run, Echo(), executor=Serial(), stop=stop, progress=lambda done, total, what: stop.ask())
    assert totals.done == len(run.outcomes())
    assert (totals.left, totals.stopped) == (9 - totals.done, "interrupted")
    assert 1 <= totals.done < 9
    assert review(run, Echo(), executor=Serial()).done == totals.left


def test_only_failed_does_nothing_else_and_only_case_does_that_case(run: RunFolder) -> None:
    with ChatClient(ChatSettings()):
        review(run, Asking(broken="3"), executor=Serial(), only=Selection(cases=("case-00[0-4]",)))
        assert len(run.outcomes()) == 5
        totals = review(run, Asking(broken="3"), executor=Serial(), attempts=2, only=Selection(failed=True))
        assert (totals.done, totals.failed, totals.skipped) == (0, {"refusal": 1}, 4)
        totals = review(
            run,
            Asking(broken="3"),
            executor=Serial(),
            only=Selection(failed=True, cases=("case-001",)),
            retry_failed=True,
        )
        assert (totals.done, totals.failed) == (0, {})
        totals = review(run, Asking(broken="3"), executor=Serial(), only=Selection(cases=("case-003", "case-008")))
        assert (totals.done, totals.failed, totals.failed_before) == (1, {}, 1)


# --- scores --------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("together", [False, True])
def test_a_score_is_charged_with_its_calls(run: RunFolder, executor: Executor, together: bool) -> None:
    review(run, Echo(), executor=Serial(), attempts=2)
    with ChatClient(ChatSettings()):
        totals = score(run, Voting(together=together), executor=executor)
    assert (totals.done, totals.cost.calls, totals.fake) == (18, 54, True)
    for found in run.scores():
        assert (found.usage.calls, found.fake) == (3, True)
        assert found.usage.tokens_in > 0


@pytest.mark.slow
def test_256_threads_measure_each_review_once(tmp_path: Path) -> None:
    cases = make_cases(600)
    with (
        RunFolder.create(tmp_path / "many", dataset="many", dataset_path="", cases=cases) as many,
        ChatClient(ChatSettings()),
    ):
        review(many, Echo(), executor=Threads(256))
        totals = score(many, Voting(votes=1), executor=Threads(256))
        assert (totals.done, totals.cost.calls, len(many.scores())) == (600, 600, 600)


def test_failures_of_a_metric_are_done_again_alone(run: RunFolder) -> None:
    review(run, Echo(), executor=Serial())
    with ChatClient(ChatSettings()):
        score(run, Voting(fail="3"), executor=Threads(4), only=Selection(cases=("case-00[1-3]",)))
        assert {s.case for s in run.scores()} == {"case-001", "case-002", "case-003"}
        totals = score(run, Voting(fail="3"), executor=Threads(4), only=Selection(failed=True))
        assert (totals.done, totals.failed, totals.cost.calls, totals.skipped) == (0, {"refusal": 1}, 3, 2)
        totals = score(run, Voting(fail="3"), executor=Threads(4))
        assert (totals.done, totals.skipped, totals.failed_before) == (6, 3, 1)


# --- dry runs ------------------------------------------------------------------------------------------------------


def test_a_dry_run_makes_the_calls_of_what_is_missing_and_writes_nothing(run: RunFolder) -> None:
    with ChatClient(ChatSettings()):
        review(run, Asking(), executor=Serial(), only=Selection(cases=("case-00[0-3]",)))
    before = {path.name: path.read_bytes() for path in run.path.iterdir()}
    with ChatClient(ChatSettings(dry_run=True)) as client:
        count = dry_run_review(run.cases(), run.outcomes(), Asking(), executor=Threads(4), attempts=2).left
        assert (count, client.budget.totals.calls) == (14, 14)
    with ChatClient(ChatSettings(dry_run=True)) as client:
        assert dry_run_score(run, Voting(), executor=Threads(4)).left == 4
        assert client.budget.totals.calls == 12
        assert dry_run_score(run, Length(), executor=Serial()).left == 4
        assert client.budget.totals.calls == 12
    assert {path.name: path.read_bytes() for path in run.path.iterdir()} == before
