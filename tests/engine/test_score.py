from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine_small import Clumsy, Echo, Halting, Length, Together, make_case, make_cases
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Comment, Review
from reviewgauge.core.results import Bounds, Failure, FailureKind, Outcome
from reviewgauge.core.specs import all_pins, load, signature
from reviewgauge.engine.review import import_reviews, review
from reviewgauge.engine.run.executors import Executor, Serial, Threads
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.progress import Selection
from reviewgauge.engine.score import REVIEW_FAILED, score
from reviewgauge.metrics.rank_mean import RankMean

EXECUTORS = [Serial(), Threads(3)]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunFolder]:
    with RunFolder.create(tmp_path / "run", dataset="small", dataset_path="", cases=make_cases(9)) as made:
        review(made, Echo(), executor=Serial())
        yield made


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda e: type(e).__name__)
def test_each_review_gets_a_score_a_reason_or_a_failure(run: RunFolder, executor: Executor) -> None:
    totals = score(run, Length(), executor=executor)
    assert (totals.done, totals.not_applicable, totals.failed, totals.skipped) == (6, 1, {"crash": 2}, 0)
    scores = {s.case: s for s in run.scores()}
    assert len(scores) == 9
    assert scores["case-000"].parts == {"right": 1.0, "said": 1.0}
    assert scores["case-000"].metric == signature(Length()) == "engine_small.Length(version='1')"
    assert scores["case-000"].benchmark == run.manifest.benchmark
    assert scores["case-000"].pins == all_pins(Length()) and Length().pins().items() < all_pins(Length()).items()
    five, six, seven = (scores[f"case-00{n}"] for n in (5, 6, 7))
    assert (five.parts, five.failure, five.reason) == (None, None, "ends in five")
    assert six.failure is not None and seven.failure is not None
    assert (six.parts, six.failure.kind) == (None, FailureKind.CRASH)
    assert re.fullmatch(r"ZeroDivisionError: six \(engine_small.py, line \d+\)", six.failure.message)
    assert seven.failure.message == "the part right is not a number"
    assert six.bounds == Bounds(worst={"right": 0.0, "said": 1.0}, best={"right": 1.0, "said": 1.0})


def test_a_second_time_does_nothing_and_failures_are_tried_again_when_asked(run: RunFolder) -> None:
    score(run, Length())
    before = (run.path / "scores.jsonl").read_bytes()
    totals = score(run, Length())
    assert (totals.done, totals.skipped, totals.failed_before) == (0, 9, 2)
    assert (run.path / "scores.jsonl").read_bytes() == before
    totals = score(run, Length(), retry_failed=True)
    assert (totals.done, totals.failed, totals.skipped) == (0, {"crash": 2}, 7)
    assert len(run.scores()) == 9


def test_another_signature_or_other_pins_are_measured_anew(run: RunFolder) -> None:
    score(run, Length())
    assert score(run, Length(version="2")).done == 6
    assert len(run.scores()) == 18
    path = run.path / "scores.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"pins":{"version":"2"', b'"pins":{"version":"older"'))
    assert score(run, Length(version="2")).done == 6
    assert score(run, Length(version="1")).done == 0
    assert len(run.scores()) == 18


EDITED = """from dataclasses import dataclass
from reviewgauge.core.protocols import Measured, Metric

@dataclass(frozen=True)
class Edited(Metric):
    def parts(self, case, review):
        if case.id in CRASHES: raise ValueError(case.id)
        return Measured(parts={"value": VALUE})
"""


def edited(value: int, crashes: str = "") -> Metric:
    """The metric of a file as it is now, in a process that imports it first."""
    Path("edited.py").write_text(EDITED.replace("VALUE", str(value)).replace("CRASHES", repr(crashes)))
    sys.modules.pop("edited", None)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        return load(Metric, "edited.Edited")
    finally:
        sys.dont_write_bytecode = before


def test_a_plug_in_whose_file_was_edited_is_measured_anew(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    score(run, edited(1, crashes="case-003"))
    assert score(run, edited(1, crashes="case-003")).skipped == 9
    totals = score(run, edited(2), only=Selection(failed=True))
    assert (totals.done, totals.skipped) == (1, 0)  # nothing else: what differs is said wherever they are read
    assert sorted(s.parts["value"] for s in run.scores() if s.parts) == [1] * 8 + [2]
    assert score(run, edited(2)).done == 8
    assert {s.parts["value"] for s in run.scores() if s.parts} == {2}


def test_failed_reviews_are_bounded_and_measured_once_they_are_mended(tmp_path: Path, run: RunFolder) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        reviewer = Clumsy(mended="mended")
        review(run, reviewer, executor=Serial())
        totals = score(run, Length())
        assert (totals.failed_reviews, totals.done) == (7, 7)
        mine = [s for s in run.scores() if s.system.startswith("engine_small.Clumsy") and s.failure]
        assert len(mine) == 8  # seven reviews, and the metric on case 7
        of_reviews = [s for s in mine if s.reason == REVIEW_FAILED]
        assert len(of_reviews) == 7
        assert all(s.bounds is not None and s.failure is not None for s in of_reviews)
        assert score(run, Length()).skipped == 18
        (tmp_path / "mended").touch()
        review(run, reviewer, executor=Serial(), retry_failed=True)
    totals = score(run, Length())
    assert (totals.done, totals.not_applicable, totals.failed, totals.skipped) == (5, 1, {"crash": 1}, 11)
    assert not [s for s in run.scores() if s.reason == REVIEW_FAILED]


@pytest.mark.parametrize("executor", EXECUTORS[:2], ids=lambda e: type(e).__name__)
def test_a_joint_metric_sees_every_system_and_is_redone_when_one_comes(run: RunFolder, executor: Executor) -> None:
    assert score(run, Together(), executor=executor).done == 9
    import_reviews(run, [Review(case="case-003", system="late")])
    totals = score(run, Together(), executor=executor)
    assert (totals.done, totals.skipped) == (2, 8)
    systems = {(s.case, s.system): s.parts["systems"] for s in run.scores() if s.parts}
    assert systems["case-003", "echo"] == systems["case-003", "late"] == 2
    assert systems["case-004", "echo"] == 1


@pytest.mark.parametrize("kept", [0, 4, 8])
def test_a_metric_over_all_reviews_is_redone_over_all_of_them(run: RunFolder, kept: int) -> None:
    """After an interruption, and when a review comes later: a rank among some reviews is not a rank among all."""
    metric = RankMean(("edit",))
    texts = ["Fine", "Rename this", "Rename it to total", "No", "Null check", "Why?", "Because", "ok", "Rename"]
    said = [
        Review(case=f"case-{at:03d}", system="own", comments=(Comment(id="c", body=text),))
        for at, text in enumerate(texts)
    ]
    import_reviews(run, said)
    score(run, metric)
    whole = {(s.case, s.system): s.parts for s in run.scores()}
    path = run.path / "scores.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]))
    totals = score(run, metric)
    assert (totals.done, totals.skipped) == (18, 0)
    assert {(s.case, s.system): s.parts for s in run.scores()} == whole
    assert score(run, metric).skipped == 18
    import_reviews(run, [Review(case="case-003", system="late", comments=said[1].comments)])
    assert score(run, metric).done == 19
    redone = {(s.case, s.system): s.parts for s in run.scores()}
    assert redone["case-000", "own"] != whole["case-000", "own"]
    path.write_bytes(b"")
    score(run, metric)
    assert {(s.case, s.system): s.parts for s in run.scores()} == redone


def test_a_batch_that_breaks_keeps_what_it_had(run: RunFolder) -> None:
    totals = score(run, Halting())
    assert (totals.done, totals.failed) == (3, {"crash": 6})
    failures = {s.failure.message for s in run.scores() if s.failure}
    assert {said.partition(" (")[0] for said in failures} == {"MemoryError: too big"}


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda e: type(e).__name__)
def test_what_concerns_the_whole_run_is_raised(run: RunFolder, executor: Executor) -> None:
    with pytest.raises(UserError, match=r"weights.json: is missing \(fetch it\)"):
        score(run, Halting(refuse=True), executor=executor)
    assert run.scores() == []


def test_fakes_stay_marked(run: RunFolder) -> None:
    import_reviews(run, [Review(case="case-000", system="f", fake=True)])
    assert score(run, Length()).fake
    assert {s.system for s in run.scores() if s.fake} == {"f"}


def test_a_failed_review_that_nothing_could_be_measured_of_is_no_failure(tmp_path: Path) -> None:
    cases = [make_case(0), make_case(1, references=0)]
    with RunFolder.create(tmp_path / "run", dataset="d", dataset_path="", cases=cases) as folder:
        broke = Failure(kind=FailureKind.TIMEOUT, message="too slow")
        for case in cases:
            folder.append_outcome(Outcome(case=case.id, system="s", failure=broke))
        totals = score(folder, load(Metric, "jaccard"))
        assert (totals.failed_reviews, totals.not_applicable) == (1, 1)
        by_case = {one.case: one for one in folder.scores()}
    assert by_case[cases[0].id].bounds is not None
    assert (by_case[cases[1].id].failure, by_case[cases[1].id].reason) == (None, "the case has no reference comment")
