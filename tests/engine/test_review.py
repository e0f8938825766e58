from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine_small import Clumsy, Echo, Length, Unprepared, make_case, make_cases
from reviewgauge.analysis.compare.caveats import caveats
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, Comment, Review, Usage
from reviewgauge.core.results import FailureKind
from reviewgauge.core.specs import load
from reviewgauge.engine.review import import_reviews, review
from reviewgauge.engine.run.executors import Executor, Serial, Threads
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.progress import Selection
from reviewgauge.engine.run.scored_run import read_scored_runs
from reviewgauge.engine.score import score


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunFolder]:
    with RunFolder.create(tmp_path / "run", dataset="small", dataset_path="", cases=make_cases(9)) as made:
        yield made


@pytest.mark.parametrize("executor", [Serial(), Threads(4)], ids=lambda e: type(e).__name__)
def test_every_case_and_attempt_is_reviewed_once(run: RunFolder, executor: Executor) -> None:
    totals = review(run, Echo(), executor=executor, attempts=2)
    assert (totals.systems, totals.done, totals.skipped, totals.failed) == (("echo",), 18, 0, {})
    assert totals.comments == 18
    assert totals.cost.model_copy(update={"seconds": 0.0}) == Usage(
        calls=18, tokens_in=180, tokens_out=36, dollars=9.0, seconds=0.0
    )
    outcomes = run.outcomes()
    assert {(o.case, o.system, o.attempt) for o in outcomes} == {(c.id, "echo", a) for c in run.cases() for a in (1, 2)}
    for outcome in outcomes:
        assert outcome.review is not None
        assert (outcome.review.case, outcome.review.system) == (outcome.case, "echo")
        assert outcome.review.attempt == outcome.attempt
        assert outcome.review.comments[0].body == f"look at {outcome.case}"
        assert outcome.review.usage.seconds > 0
    assert run.manifest.systems["echo"].signature == "engine_small.Echo(words='look at')"


def test_whatever_a_reviewer_raises_is_a_failure_of_its_case(run: RunFolder) -> None:
    totals = review(run, Clumsy(), executor=Threads(2))
    assert totals.done == 2
    assert totals.failed == {"crash": 3, "network": 1, "timeout": 2, "unreadable": 1}
    by_case = {o.case: o for o in run.outcomes()}
    kinds = [failure.kind if (failure := by_case[c.id].failure) else None for c in run.cases()]
    timeout, network = FailureKind.TIMEOUT, FailureKind.NETWORK
    crash, unreadable = FailureKind.CRASH, FailureKind.UNREADABLE
    assert kinds == [None, timeout, network, unreadable, crash, crash, crash, None, timeout]
    failure = by_case["case-004"].failure
    assert failure is not None
    assert failure.message == "no key (set one)"


def test_failures_are_tried_again_when_asked(tmp_path: Path, run: RunFolder) -> None:
    mended = tmp_path / "mended"
    reviewer = Clumsy(mended="mended")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        review(run, reviewer, executor=Serial())
        totals = review(run, reviewer, executor=Serial())
        assert (totals.done, totals.skipped, totals.failed_before) == (0, 9, 7)
        totals = review(run, reviewer, executor=Serial(), retry_failed=True)
        assert (totals.done, sum(totals.failed.values()), totals.skipped) == (0, 7, 2)
        mended.touch()
        totals = review(run, reviewer, executor=Serial(), retry_failed=True)
    assert (totals.done, totals.failed, totals.skipped, totals.failed_before) == (7, {}, 2, 0)
    assert all(o.review is not None for o in run.outcomes())
    assert len(run.outcomes()) == 9


BOT = """from dataclasses import dataclass
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Review

@dataclass(frozen=True)
class Bot(Reviewer):
    def review(self, change):
        if change.id in CRASHES: raise ValueError(change.id)
        return Review(case="unset", system="unset")
"""


def bot(crashes: str) -> Reviewer:
    """The reviewer of a file as it is now, in a process that imports it first."""
    Path("mended_bot.py").write_text(BOT.replace("CRASHES", repr(crashes)))
    shutil.rmtree("__pycache__", ignore_errors=True)
    sys.modules.pop("mended_bot", None)
    return load(Reviewer, "mended_bot.Bot(name='bot')")


def test_a_mended_plug_in_is_asked_again_for_what_failed_and_the_rest_is_said_to_be_older(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    review(run, bot("case-003"), executor=Serial())
    with pytest.raises(UserError, match=r"bot rested on another source of mended_bot\.Bot.*only failed"):
        review(run, bot(""), executor=Serial())
    totals = review(run, bot(""), executor=Serial(), only=Selection(failed=True))
    assert (totals.done, totals.skipped, totals.older) == (1, 8, 8)
    score(run, Length())
    (found,) = read_scored_runs([run.path])
    assert any(line.startswith("bot: its reviews rest on different versions (source of") for line in caveats(found))
    assert review(run, bot(""), executor=Serial()).skipped == 9


def test_what_prepare_says_is_raised_and_leaves_no_mark(run: RunFolder) -> None:
    with pytest.raises(UserError, match=r"my\.sarif does not exist"):
        review(run, Unprepared(), executor=Serial())
    assert run.outcomes() == []
    assert run.manifest.systems == {}


def test_a_reviewer_that_needs_diffs_is_refused_by_name_where_there_are_none(tmp_path: Path) -> None:
    cases = [make_case(1, diff=False), make_case(2, diff=False)]
    with (
        RunFolder.create(tmp_path / "r", dataset="bare", dataset_path="", cases=cases) as run,
        pytest.raises(NeedsCode, match=r"Unprepared needs the code under review.*get bare --with-code"),
    ):
        review(run, Unprepared(), executor=Serial())


@dataclass(frozen=True)
class Named(Reviewer):
    """Has any name and returns anything."""

    name: str = "n"
    answer: object = None

    @property
    def system(self) -> str:
        return self.name

    def review(self, change: Change) -> Review:
        return self.answer  # type: ignore[return-value]


@pytest.mark.parametrize("name", ["", "/abs", "a/../b", "new\nline", "x" * 501])
def test_names_that_cannot_stand_in_a_table_are_refused(run: RunFolder, name: str) -> None:
    with pytest.raises(UserError, match="the system name"):
        review(run, Named(name=name), executor=Serial())


def test_answers_that_are_no_review_or_cannot_be_stored_are_failures(run: RunFolder) -> None:
    totals = review(run, Named(name="a", answer=7), executor=Serial())
    assert totals.failed == {"crash": 9}
    odd = Review(case="c", system="s", comments=(Comment(id="c", body="\ud800"),))
    totals = review(run, Named(name="b", answer=odd), executor=Serial())
    assert totals.failed == {"unreadable": 9}
    messages = {o.failure.message for o in run.outcomes() if o.failure and o.system == "b"}
    assert len(messages) == 1
    assert "cannot be stored" in messages.pop()


def test_an_unknown_price_makes_the_sum_unknown(run: RunFolder) -> None:
    answer = Review(case="c", system="s", usage=Usage(calls=1))
    assert review(run, Named(name="a", answer=answer), executor=Serial()).cost.dollars is None


def test_progress_counts_to_the_end(run: RunFolder) -> None:
    seen: list[tuple[int, int, str]] = []
    review(run, Echo(), executor=Serial(), progress=lambda done, total, text: seen.append((done, total, text)))
    assert seen[-1] == (9, 9, "echo case-008")
    assert [done for done, _, _ in seen] == sorted({done for done, _, _ in seen})


def test_recorded_reviews_are_imported_once(run: RunFolder) -> None:
    found = [
        Review(case=case, system=system, comments=(Comment(id="c", body="b"),))
        for case in ("case-000", "case-001", "elsewhere")
        for system in ("t1", "t2")
    ]
    totals = import_reviews(run, found, source='recorded(extractor="x")', pins={"data": "1"})
    assert (totals.systems, totals.done, totals.skipped, totals.comments) == (("t1", "t2"), 4, 0, 4)
    assert [drop.item for drop in totals.drops] == ["elsewhere t1", "elsewhere t2"]
    assert [o.review for o in run.outcomes()] == found[:4]
    assert run.manifest.systems["t1"].signature == 'recorded(extractor="x")'
    again = import_reviews(run, found, source='recorded(extractor="x")', pins={"data": "1"})
    assert (again.done, again.skipped) == (0, 4)
    with pytest.raises(UserError, match="t1 was run"):
        import_reviews(run, found, source='recorded(extractor="y")')
    with pytest.raises(UserError, match="two reviews of case case-000 by t1, attempt 1"):
        import_reviews(run, [found[0], found[0]])
